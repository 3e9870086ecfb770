// explain: the plan in words. What each kernel computes, reads and writes, and why what is apart is apart.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/report.hpp"
#include "sinter/explain/views.hpp"

namespace sinter {

namespace detail::views {

string names_of(const auto& r, const list<int>& items) {
  string text;
  for (int i : items) {
    const report::item& item = r.items[i];
    append(text, {text.empty() ? "" : ", ", item.name(), " ", item.shape});
  }
  return text.empty() ? "nothing" : text;
}

string kernels_text(const auto& r) {
  string text = text_of({counted(r.num_kernels(), "kernel"), "\n"});
  for (int k = 0; k < r.num_kernels(); ++k) {
    const report::kernel& kernel = r.kernels[k];
    append(text, {"  ", k, "  ", kernel.name, ": ", words(kernel), "\n"});
    append(text, {"       computes ", kernel.calls, "\n"});
    append(text, {"       reads ", names_of(r, kernel.reads), "\n"});
    append(text, {"       writes ", names_of(r, kernel.writes), "\n"});
  }
  if (r.buffers.empty()) return text;
  list<int> items;
  for (const report::buffer& b : r.buffers) items.push_back(b.item);
  append(text, {"workspace: ", counted(items.size(), "buffer"), " (", names_of(r, items), ")\n"});
  return text;
}

string verdicts_text(const auto& r) {
  string text;
  for (const report::verdict& v : r.verdicts) {
    if (!v.stands || v.reason == refusal::no_shared_data) continue;
    append(text, {"round ", v.round, ": ", r.items[v.first].label, " with ", r.items[v.second].label, " (",
                  v.shared_bytes, " bytes shared): ", sentence(v.reason), "\n"});
  }
  if (r.forgot_verdicts) text += "(more pairs were looked at than the plan keeps; verbosity::log has them all)\n";
  return text;
}

string pair(const auto& r, const log_entry& e) {
  return text_of({r.of_node(e.first).label, " with ", r.of_node(e.second).label});
}
string log_text(const auto& r) {
  string text;
  for (const logged_round& round : rounds_of(r)) {
    append(text, {"round ", round.number, ": ", counted(round.num_pairs, "pair"), ", ",
                  counted(round.num_candidates, "candidate"), "\n"});
    for (const log_entry& e : round.decided) {
      const bool fused = e.event == log_event::fused;
      append(text, {fused ? "  fused        " : "  invalidated  ", pair(r, e), ": ", e.shared_bytes,
                    " bytes shared, score ", score_text(e.score), fused ? "" : "; ",
                    fused ? string_view() : sentence(e.reason), "\n"});
    }
    for (const log_entry& e : round.refused)
      append(text, {"  refused      ", pair(r, e), ": ", sentence(e.reason), "\n"});
  }
  return text;
}

}  // namespace detail::views

template <class Fused>
string explain(const Fused&) {
  const detail::views::report r = detail::views::report_of<Fused>();
  return detail::views::kernels_text(r) + detail::views::verdicts_text(r);
}
template <class Fused>
string explain(const Fused& f, verbosity how_much) {
  if (how_much == verbosity::plan) return explain(f);
  const detail::views::report r = detail::views::report_with_log<Fused>();
  return detail::views::kernels_text(r) + (how_much == verbosity::log ? detail::views::log_text(r) : string());
}

}  // namespace sinter
