// Not one class.
// error: one_hot<classes>(index): there must be a class; give a positive number
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<std::int64_t, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::one_hot<0>(a); });
