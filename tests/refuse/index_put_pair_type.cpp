// A column at a floating-point position.
// error: index_put(x, i, j, v): an index has no integer element type; cast it to std::int64_t
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 3>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put(a, b, si::cast<float>(b), 1.f); });
