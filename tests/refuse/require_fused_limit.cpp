// Siblings that must be one kernel, and a limit that keeps them apart; as a statement.
// quoted: one kernel would hold more nodes than options.max_fusion_size
// quoted: "sin_0"
// quoted: "cos_0"
#include <sinter/sinter.hpp>

#include <tuple>

namespace si = sinter;

constexpr si::options alone = [] {
  si::options o = si::standard;
  o.max_fusion_size = 1;
  return o;
}();

int main() {
  constexpr auto f = si::fuse<alone, si::tensor<float, 64>>([](auto x) { return std::tuple(si::sin(x), si::cos(x)); });
  si::require_fused(f, "sin_0", "cos_0");
}
