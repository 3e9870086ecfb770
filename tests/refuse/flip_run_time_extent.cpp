// Reversing a run-time extent.
// error: flip<axes...>(x): a reversed extent is known only at run time; give the tensor a static extent there
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, si::dyn, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::flip<0>(a); });
