// A matmul that must be one kernel with its epilogue, under the preset that leaves matmuls to a library.
// quoted: the producer is a foreign kernel, which takes no fused work; use the preset max_autotune
// quoted: "mm_0"
// quoted: "gelu_0"
#include <sinter/sinter.hpp>

namespace si = sinter;

using X = si::tensor<float, 64, 32>;
using W = si::tensor<float, 32, 48>;
constexpr auto f = si::fuse<X, W>([](auto x, auto w) { return si::gelu(si::matmul(x, w)); });
static_assert(si::require_fused(f, "mm_0", "gelu_0"));
