// A label that names no call of the plan.
// quoted: no call of the plan has this label; explain(f) lists them
#include <sinter/sinter.hpp>

namespace si = sinter;

constexpr auto f = si::fuse<si::tensor<float, 64>>([](auto x) { return si::sin(x); });
static_assert(si::require_fused(f, "sin_0", "sine_0"));
