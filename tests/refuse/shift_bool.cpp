// Shifting truth values.
// error: bitwise_right_shift(a, b): bool cannot be shifted; cast the operands to integers
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::bitwise_right_shift(a > 0.f, a > 1.f); });
