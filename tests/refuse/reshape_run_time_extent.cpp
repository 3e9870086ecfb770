// Static sizes for a run-time extent.
// error: reshape<sizes...>(x): x has a run-time extent; use infer for the one that depends on it, or reshape_as
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, si::dyn, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::reshape<8, 8, 64>(a); });
