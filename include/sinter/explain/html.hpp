// to_html: the plan as a page of its own. The graph grouped by kernel, the kernels, the workspace, what was not fused and
// why, and the log of the rounds. It loads nothing, and it needs no script to be read.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/graph_svg.hpp"
#include "sinter/explain/memory_svg.hpp"
#include "sinter/explain/page_style.hpp"

namespace sinter::detail::views {

inline std::string code(std::string_view text) { return tag("code", {}, escaped(text)); }
inline std::string note(const std::string& text) { return tag("p", {{"class", "note"}}, text) + "\n"; }

inline std::string section(const char* id, const char* title, const std::string& content) {
  return tag("section", {{"id", id}}, "\n" + tag("h2", {}, title) + "\n" + content) + "\n";
}

/// What may be wider than the page scrolls in itself.
inline std::string wide(const char* label, const std::string& content) {
  return tag("div", {{"class", "wide"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label}}, "\n" + content) + "\n";
}

struct column {
  const char* title;
  bool number = false;
};
inline std::string table(const char* label, std::initializer_list<column> columns, const std::string& rows) {
  std::string head;
  for (const column& c : columns) head += tag("th", {{"scope", "col"}, {"class", c.number ? "number" : "text"}}, c.title);
  return wide(label, tag("table", {}, tag("thead", {}, tag("tr", {}, head)) + tag("tbody", {}, "\n" + rows)));
}
inline std::string cell(const std::string& content) { return tag("td", {}, content); }
inline std::string number_cell(const std::string& content) { return tag("td", {{"class", "number"}}, content); }

inline std::string kernel_link(int k) { return tag("a", {{"href", "#k" + std::to_string(k)}}, std::to_string(k)); }

std::string item_list(const auto& r, const std::vector<int>& items) {
  std::string text;
  for (int i : items)
    text += (text.empty() ? "" : ", ") + code(r.items[i].name()) + " " + tag("span", {{"class", "note shape"}}, escaped(r.items[i].shape));
  return text.empty() ? "nothing" : text;
}

std::string page_header(const auto& r, std::string_view title) {
  kernel_traffic total;
  for (const report::kernel& k : r.kernels) total.read += k.bytes.read, total.written += k.bytes.written;
  const auto figure = [](const std::string& term, const std::string& value) {
    return tag("div", {}, tag("dt", {}, term) + tag("dd", {}, value));
  };
  const std::string figures =
      figure(r.kernels.size() == 1 ? "kernel" : "kernels", std::to_string(r.kernels.size())) +
      figure("read", bytes_text(total.read)) + figure("written", bytes_text(total.written)) +
      figure("workspace" + (r.buffers.empty() ? std::string() : ", " + counted(r.buffers.size(), "buffer")),
             bytes_text(r.workspace_bytes)) +
      figure("options", r.preset);
  std::string links;
  for (const char* name : {"Graph", "Kernels", "Memory", "Refusals", "Log"})
    links += tag("li", {}, tag("a", {{"href", "#" + std::string(name)}}, name));
  return tag("header", {},
             "\n" + tag("h1", {}, escaped(title)) + "\n" + tag("dl", {{"class", "figures"}}, figures) + "\n" +
                 (r.hints.empty() ? "" : note("Bytes are those for " + code(r.hints) + "; the kernels are the same for all extents.")) +
                 tag("nav", {{"aria-label", "Sections"}}, tag("ul", {}, links)) + "\n") + "\n";
}

std::string graph_section(const auto& r) {
  std::string kinds, seen;
  for (const report::kernel& k : r.kernels) {
    const std::string kind(prefix(k.kind));
    if (seen.find(kind) != std::string::npos) continue;
    seen += kind;
    kinds += tag("li", {{"class", kind}}, escaped(words(k.kind)));
  }
  std::string toggle;
  for (const report::verdict& v : r.verdicts)
    if (v.stands && v.reason != refusal::no_shared_data && toggle.empty())
      toggle = tag("input", {{"type", "checkbox"}, {"id", "refused"}, {"checked", "checked"}}) +
               tag("label", {{"class", "switch"}, {"for", "refused"}}, "show what was not fused") + "\n";
  if (!toggle.empty()) kinds += tag("li", {{"class", "refusal"}}, "not fused: the reason is in the tooltip, and below");
  return section("Graph", "Graph",
                 note("Each box is a kernel; they run from top to bottom. In it are the values it computes: those that only it "
                      "reads never reach memory.") +
                     tag("ul", {{"class", "kinds"}}, kinds) + "\n" + tag("figure", {}, toggle + wide("Graph", graph_svg(r).text())));
}

std::string kernels_section(const auto& r) {
  std::string cards;
  for (int k = 0; k < r.num_kernels(); ++k) {
    const report::kernel& kernel = r.kernels[k];
    const auto fact = [](const char* term, const std::string& text) { return tag("dt", {}, term) + tag("dd", {}, text); };
    cards += tag("article", {{"id", "k" + std::to_string(k)}, {"class", prefix(kernel.kind)}},
                 tag("h3", {}, tag("span", {{"class", "note"}}, std::to_string(k)) + " " + escaped(kernel.name)) +
                     tag("p", {{"class", "note"}}, escaped(words(kernel.kind))) +
                     tag("dl", {}, fact("computes", code(kernel.calls)) + fact("reads", item_list(r, kernel.reads)) +
                                       fact("writes", item_list(r, kernel.writes)) +
                                       fact("moves", bytes_text(kernel.bytes.read) + " in, " + bytes_text(kernel.bytes.written) + " out"))) +
             "\n";
  }
  return section("Kernels", "Kernels", tag("div", {{"class", "cards"}}, "\n" + cards));
}

std::string memory_section(const auto& r) {
  if (r.workspace_bytes == 0) return section("Memory", "Memory", note("No value passes from one kernel to another: there is no workspace."));
  std::string rows;
  for (const report::buffer& b : r.buffers)
    rows += tag("tr", {}, cell(code(r.items[b.item].label)) + cell(code(r.items[b.item].shape)) + number_cell(std::to_string(b.where.offset)) +
                              number_cell(std::to_string(b.where.bytes)) +
                              cell(kernel_link(b.where.first) + " to " + kernel_link(b.where.last))) + "\n";
  return section("Memory", "Memory",
                 note("A buffer lives from the kernel that writes it to the last one that reads it; buffers that never live together "
                      "share memory. What a kernel needs for partial results of its own comes on top.") +
                     tag("figure", {}, wide("Workspace", memory_svg(r))) +
                     table("Buffers", {{"buffer"}, {"shape"}, {"offset", true}, {"bytes", true}, {"lives in kernels"}}, rows));
}

/// A pair of nodes, and what the filter looks for.
std::string pair_text(const auto& a, const auto& b) { return code(a.label) + " with " + code(b.label); }
attribute pair_of(const auto& a, const auto& b) { return {"data-pair", a.label + " " + b.label}; }

std::string refusals_section(const auto& r) {
  const std::string filter = tag("div", {{"data-filter", "pairs"}}, "") + "\n";
  std::string rows;
  int number = 0;
  for (const report::verdict& v : r.verdicts) {
    if (!v.stands) continue;
    const report::item &a = r.items[v.first], &b = r.items[v.second];
    rows += tag("tr", {{"id", "r" + std::to_string(number++)}, pair_of(a, b)},
                cell(pair_text(a, b)) + cell(kernel_link(a.kernel) + ", " + kernel_link(b.kernel)) + cell(escaped(sentence(v.reason))) +
                    number_cell(bytes_text(v.shared_bytes))) + "\n";
  }
  if (rows.empty()) return section("Refusals", "Refusals", note("No two kernels could have been one.") + filter);
  return section("Refusals", "Refusals",
                 note("Why two kernels are not one: the last verdict on each pair that was looked at, named by their first nodes.") +
                     filter + table("Refusals", {{"pair"}, {"kernels"}, {"reason"}, {"shared", true}}, rows));
}

/// The pairs a round refused, by reason.
std::string refused_lists(const auto& r, const logged_round& round) {
  std::string text;
  for (int reason = 0; reason < static_cast<int>(refusal::num_refusals); ++reason) {
    std::string pairs;
    std::size_t count = 0;
    for (const log_entry& e : round.refused) {
      if (static_cast<int>(e.reason) != reason) continue;
      const report::item &a = r.of_node(e.first), &b = r.of_node(e.second);
      pairs += tag("li", {pair_of(a, b)}, pair_text(a, b));
      ++count;
    }
    const std::string summary = counted(count, "pair") + ": " + escaped(sentence(static_cast<refusal>(reason)));
    if (count > 0) text += tag("details", {}, tag("summary", {}, summary) + tag("ul", {{"class", "pairs"}}, pairs)) + "\n";
  }
  return text;
}

std::string log_section(const auto& r) {
  std::string text = note("In each round the candidates are taken by score: rank, bytes saved, nearness. A fusion can undo a "
                          "candidate after it; the next round asks again.");
  if (r.log.empty()) text += note("There was no pair to look at.");
  for (const logged_round& round : rounds_of(r)) {
    std::string rows;
    std::size_t fused = 0;
    for (const log_entry& e : round.decided) {
      const report::item &a = r.of_node(e.first), &b = r.of_node(e.second);
      const bool applied = e.event == log_event::fused;
      fused += applied;
      const std::string outcome = applied ? tag("b", {{"class", "fused"}}, "fused")
                                          : tag("b", {{"class", "undone"}}, "undone") + ": " + escaped(sentence(e.reason));
      rows += tag("tr", {pair_of(a, b)}, cell(pair_text(a, b)) + number_cell(score_text(e.score)) +
                                             number_cell(bytes_text(e.shared_bytes)) + cell(outcome)) + "\n";
    }
    const std::string summary = tag("b", {}, "Round " + std::to_string(round.number)) + ": " + counted(round.num_pairs, "pair") +
                                ", " + counted(round.num_candidates, "candidate") + ", " + std::to_string(fused) + " fused";
    if (!rows.empty()) rows = table("Candidates", {{"candidate"}, {"score", true}, {"shared", true}, {"outcome"}}, rows);
    text += tag("details", {}, tag("summary", {}, summary) + "\n" + rows + refused_lists(r, round)) + "\n";
  }
  return section("Log", "Log", text);
}

std::string page_text(const auto& r, std::string_view title) {
  const std::string head = tag("meta", {{"charset", "utf-8"}}) +
                           tag("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
                           tag("title", {}, escaped(title)) + "\n" + tag("style", {}, style) + "\n";
  const std::string body = tag("a", {{"class", "skip"}, {"href", "#Graph"}}, "Skip to the graph") + "\n" + page_header(r, title) +
                           tag("main", {}, "\n" + graph_section(r) + kernels_section(r) + memory_section(r) + refusals_section(r) +
                                               log_section(r)) + "\n" +
                           tag("footer", {}, note("Written by sinter. The compiler decided all of this; it is a constant of the program.")) +
                           "\n" + tag("script", {}, script) + "\n";
  return "<!DOCTYPE html>\n" + tag("html", {{"lang", "en"}}, "\n" + tag("head", {}, "\n" + head) + "\n" + tag("body", {}, "\n" + body)) + "\n";
}

}  // namespace sinter::detail::views

namespace sinter {

/// The plan of a fused function as one page of HTML that needs nothing else: write it to a file and open it.
template <class Fused>
std::string to_html(const Fused&, std::string_view title = "Fusion plan") {
  return detail::views::page_text(detail::views::report_with_log<Fused>(), title);
}

}  // namespace sinter
