// Subtracting truth values.
// error: sub(a, b): bool has no arithmetic here; cast the operands or use a logical op
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return (a > 0.f) - (a > 1.f); });
