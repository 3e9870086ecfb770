// Normalising a scalar.
// error: rms_norm(x): x has no dimension to normalise over; unsqueeze it
#include <sinter/sinter.hpp>

namespace si = sinter;

constexpr auto f = si::fuse<si::value<float>>([](auto x) { return si::rms_norm(x, 1e-6f); });
