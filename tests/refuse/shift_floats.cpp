// Shifting floating-point numbers.
// error: bitwise_left_shift(a, b): floating-point operands have no bits to work on; cast them to integers
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::bitwise_left_shift(a, 2); });
