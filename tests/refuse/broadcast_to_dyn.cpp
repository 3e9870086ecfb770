// Broadcasting to a new dimension of unknown extent.
// error: broadcast_to<sizes...>(x): dyn stands for an extent of x, which has no such dimension; spell the extent out, or use broadcast_to(x, like)
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::broadcast_to<si::dyn, 4, 64>(a); });
