// Lesson: the plan explains itself, to the compiler and to you. Why two calls are not one kernel is a constant with a
// sentence; si::explain prints the plan, si::to_dot draws it (`example.explain | dot -Tsvg`).
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <cstdio>
#include <string>

namespace si = sinter;

constexpr auto head = [](auto x, auto w) { return si::softmax(si::relu(si::matmul(x, w))); };
using X = si::tensor<float, si::dyn, 64>;
using W = si::tensor<float, 64, 32>;
constexpr auto f = si::fuse<X, W>(head);
constexpr auto g = si::fuse<si::max_autotune, X, W>(head);
static_assert(f.kernel_count() == 2 && g.kernel_count() == 2);

// A call is labelled with its name and its count: the first matmul is "mm_0".
static_assert(f.why_not_fused("relu_0", "softmax_0") == si::refusal::none);  // they are one kernel
static_assert(f.why_not_fused("mm_0", "relu_0") == si::refusal::producer_is_foreign);
// The preset makes the matmul a template, but a reduction still cannot follow in its kernel.
static_assert(g.why_not_fused("mm_0", "softmax_0") == si::refusal::epilogue_not_pointwise);
// Any field of a preset can be changed; the change is part of the function's type.
constexpr si::options no_epilogue = [] {
  si::options o = si::max_autotune;
  o.epilogue_fusion = false;
  return o;
}();
constexpr auto h = si::fuse<no_epilogue, X, W>([](auto x, auto w) { return si::relu(si::matmul(x, w)); });
static_assert(h.kernel_count() == 2 && h.why_not_fused("mm_0", "relu_0") == si::refusal::epilogue_off);
static_assert(f.why_not_fused("mm_0", "gelu_0") == si::refusal::unknown_label);

int main() {
  const std::string plan = si::explain(f), drawing = si::to_dot(f);
  const std::string_view reason = si::sentence(f.why_not_fused("mm_0", "relu_0"));
  // Comments in Graphviz's language, so that the output as a whole can be drawn.
  std::printf("/* mm_0 and relu_0: %s\n\n%s\n", std::string(reason).c_str(), plan.c_str());

  // Every pair of every round, with the bytes a fusion would save.
  constexpr auto log = f.fusion_log();
  for (const si::fusion_entry& e : log) {
    std::string verdict(si::sentence(e.reason));
    if (e.reason == si::refusal::none) verdict = e.event == si::log_event::fused ? "fused" : "possible";
    std::printf("round %d: %s, %s: %lld bytes, %s\n", e.round, std::string(e.first.text().view()).c_str(),
                std::string(e.second.text().view()).c_str(), static_cast<long long>(e.shared_bytes), verdict.c_str());
  }
  std::printf("*/\n%s", drawing.c_str());

  const bool quotes_reason = plan.find(reason) != std::string::npos;
  const bool names_kernels =
      drawing.find(f.kernel(0).name) != std::string::npos && drawing.find(f.kernel(1).name) != std::string::npos;
  return quotes_reason && names_kernels && !log.empty() ? 0 : 1;
}
