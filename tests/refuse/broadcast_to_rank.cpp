// Broadcasting to fewer dimensions.
// error: broadcast_to(x, like): x has more dimensions than the target; reduce or reshape it
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::broadcast_to<64>(a); });
