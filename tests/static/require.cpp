// Fusions that are there may be required: as an assertion, as a statement, by either order of the labels.
#include <sinter/sinter.hpp>

namespace si = sinter;

using X = si::tensor<float, 64, 32>;
using W = si::tensor<float, 32, 48>;
using Rows = si::tensor<float, si::dyn, 48>;

constexpr auto layer = [](auto x, auto w) { return si::relu(si::matmul(x, w)); };
constexpr auto f = si::fuse<si::max_autotune, X, W>(layer);
static_assert(si::require_fused(f, "mm_0", "relu_0"));
static_assert(si::require_fused(f, "relu_0", "mm_0"));
static_assert(si::require_fused(f, "mm_0", "mm_0"));
static_assert(bool(si::require_fused(f, "mm_0", "relu_0")) && f.kernel_count() == 1);

// In a template, where f depends on it, and over extents that only the call knows.
template <class Row>
constexpr bool norm_is_one_kernel() {
  constexpr auto g = si::fuse<Row>([](auto x) { return si::gelu(si::layer_norm(x, 1e-5f)); });
  static_assert(si::require_fused(g, "layer_norm_0", "gelu_0"));
  return static_cast<bool>(si::require_fused(g, "layer_norm_0", "gelu_0"));
}
static_assert(norm_is_one_kernel<Rows>() && norm_is_one_kernel<X>());
