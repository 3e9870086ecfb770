// Reversing an axis that does not exist.
// error: flip<axes...>(x): an axis is out of range or named twice; axes run from -rank to rank - 1
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::flip<2>(a); });
