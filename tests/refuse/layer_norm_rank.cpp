// Normalising a scalar.
// error: layer_norm(x): x has no dimension to normalise over; unsqueeze it
#include <sinter/sinter.hpp>

namespace si = sinter;

constexpr auto f = si::fuse<si::value<float>>([](auto x) { return si::layer_norm(x, 1e-5f); });
