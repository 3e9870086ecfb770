// Classes of eight dimensions.
// error: one_hot<classes>(index): the result would have more than eight dimensions; flatten the index
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<std::int64_t, 1, 1, 1, 1, 1, 1, 1, 4>;
constexpr auto f = si::fuse<A>([](auto a) { return si::one_hot<3>(a); });
