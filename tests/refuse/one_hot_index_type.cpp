// A floating-point class.
// error: one_hot<classes>(index): the index has no integer element type; cast it to std::int64_t
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::one_hot<3>(a); });
