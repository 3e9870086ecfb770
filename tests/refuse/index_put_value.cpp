// Four rows in the place of three.
// error: index_put<axis>(x, index, v): v does not broadcast to what it replaces; check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 3>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put(a, b, a); });
