// Joining rows of different lengths.
// error: concat<axis>(a, b): extents differ on an axis other than the joined one; check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 4, 65>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::concat<0>(a, b); });
