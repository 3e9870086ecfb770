// Lesson: the plan explains itself, to the compiler and to you. Why two calls are not one kernel is a constant with a
// sentence; si::explain prints the plan and how it came about, si::to_dot draws it (`example.explain | dot -Tsvg`), and
// si::to_html writes a page with all of it (`example.explain plan.html`).
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

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
// A fusion to count on: if it is refused one day, the build ends with the reason and with what would allow it.
static_assert(si::require_fused(f, "relu_0", "softmax_0"));
// A call of several parts: the last one has its name, each has one of its own.
static_assert(f.why_not_fused("softmax_0.amax", "softmax_0") == si::refusal::none);
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

int main(int argc, char** argv) {
  const std::string log = si::explain(f, si::verbosity::log), drawing = si::to_dot(f), page = si::to_html(f, "head");
  if (argc > 1) std::ofstream(argv[1]) << page;
  // Comments in Graphviz's language, so that the output as a whole can be drawn.
  std::cout << "/*\n" << si::explain(f) << "\nHow it came about:\n" << log << "*/\n" << drawing;

  // The log is a constant as well: who shares how much, and what was made of it.
  constexpr auto entries = f.fusion_log();
  static_assert(entries[0].shared_bytes > 0 && entries[0].event == si::log_event::considered);

  const std::string_view reason = si::sentence(f.why_not_fused("mm_0", "relu_0"));
  const std::string_view name = f.kernel(1).name;
  const auto has = [](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  return has(log, reason) && has(drawing, name) && has(page, name) ? 0 : 1;
}
