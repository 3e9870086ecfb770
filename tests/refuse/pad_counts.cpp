// Padding by less than nothing.
// error: pad<axis, before, after>(x, value): a count is negative; slice removes elements
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::pad<1, -1, 1>(a, 0.f); });
