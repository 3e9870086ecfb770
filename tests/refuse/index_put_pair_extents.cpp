// Three rows and two columns.
// error: index_put(x, i, j, v): the indices do not broadcast; check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 3>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put(a, b, si::slice<0, 1>(b), 1.f); });
