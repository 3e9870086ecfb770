// Places for three rows of four.
// error: scatter<axis>(x, index, v): extents differ on an axis other than the indexed one; slice or broadcast_to first
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 3, 5>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::scatter<1>(a, b, 1.f); });
