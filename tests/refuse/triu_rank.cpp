// The upper triangle of a vector.
// error: triu(x): x has fewer than two dimensions; unsqueeze it
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::triu(a); });
