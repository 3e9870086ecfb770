// Labels: each scheduler node has one of its own, by which it is found again.
#include <tuple>

#include <sinter/sinter.hpp>

namespace si = sinter;
using si::refusal;

using X = si::tensor<float, 64, 32>;
using W = si::tensor<float, 32, 32>;
using Rows = si::tensor<si::bf16, si::dyn, 32>;

template <class Fused>
constexpr bool labels_are_names(Fused f) {
  const auto& list = f.plan().fusion.state.list;
  for (int n = 0; n < list.nodes.size(); ++n) {
    const si::node_label label = si::detail::label_of(f.graph(), list, n);
    const si::node_label part = si::detail::part_label_of(f.graph(), list, n);
    if (si::detail::node_labelled(f.graph(), list, label.text().view()) != n) return false;
    if (si::detail::node_labelled(f.graph(), list, part.text().view()) != n) return false;
  }
  return list.nodes.size() > 0;
}

constexpr auto head = [](auto x, auto w) {
  auto y = si::softmax(si::relu(si::matmul(x, w)));
  return std::tuple(y, si::softmax(y, si::axis<0>), si::var(x, si::axis<0>) + 1.0f, si::layer_norm(x, 1e-5f));
};
constexpr auto f = si::fuse<si::max_autotune, X, W>(head);
static_assert(labels_are_names(f) && labels_are_names(si::fuse<si::eager, X, W>(head)));
static_assert(labels_are_names(si::fuse<Rows, W>([](auto x, auto w) { return si::log_softmax(si::matmul(x, w)); })));

// A call is its last node; the parts say what they compute.
static_assert(f.why_not_fused("softmax_0.sum", "softmax_0.amax") == refusal::none);
static_assert(f.why_not_fused("softmax_0.amax", "softmax_0") == refusal::none);
static_assert(f.why_not_fused("mm_0", "softmax_0.amax") == refusal::epilogue_not_pointwise);
static_assert(f.why_not_fused("softmax_0.sum", "softmax_1.sum") != refusal::none);
static_assert(f.why_not_fused("softmax_0.prod", "mm_0") == refusal::unknown_label);
static_assert(f.why_not_fused("softmax_0.", "mm_0") == refusal::unknown_label);
