// A negative size that is not infer.
// error: reshape<sizes...>(x): a size is negative, or there are more than eight; use infer for one that follows
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::reshape<-4, 64>(a); });
