// to_html: the plan as a page of its own. The graph grouped by kernel, the kernels, the workspace, what was not fused
// and why, and the log of the rounds. It loads nothing, and it needs no script to be read.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/graph_svg.hpp"
#include "sinter/explain/memory_svg.hpp"
#include "sinter/explain/page_style.hpp"
#include "sinter/explain/views.hpp"

namespace sinter::detail::views {

// ---- parts of pages

inline string code(string_view text) { return tag("code", {}, escaped(text)); }
inline string note(const string& text) { return tag("p", {{"class", "note"}}, text) + "\n"; }

inline string section(const char* title, const string& content) {
  return tag("section", {{"id", title}}, "\n" + tag("h2", {}, title) + "\n" + content) + "\n";
}
/// What may be wider than the page scrolls in itself.
inline string wide(const char* label, const string& content) {
  return tag("div", {{"class", "wide"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label}},
             "\n" + content) + "\n";
}

struct column {
  const char* title;
  const char* kind = "text";
};
inline string table(const char* label, std::initializer_list<column> columns, const string& rows) {
  string head;
  for (const column& c : columns) head += tag("th", {{"scope", "col"}, {"class", c.kind}}, c.title);
  head = tag("thead", {}, tag("tr", {}, head));
  return wide(label, tag("table", {}, head + tag("tbody", {}, "\n" + rows)));
}
inline string table_row(attributes list, std::initializer_list<string> cells) {
  string text;
  for (const string& content : cells) text += tag("td", {}, content);
  return tag("tr", list, text) + "\n";
}
inline string details(const string& summary, const string& content) {
  return tag("details", {}, tag("summary", {}, summary) + "\n" + content) + "\n";
}
inline string number(const string& figure) { return tag("span", {{"class", "number"}}, figure); }
inline string kernel_link(int k) { return tag("a", {{"href", "#k" + to_string(k)}}, to_string(k)); }

/// A pair of nodes, and the attribute by which the filter finds it.
inline string pair_text(const report::item& a, const report::item& b) {
  return code(a.label) + " with " + code(b.label);
}
inline attribute pair_names(const report::item& a, const report::item& b) {
  return {"data-pair", a.label + " " + b.label};
}

// ---- the sections

string page_header(const auto& r, string_view title) {
  kernel_traffic total;
  for (const report::kernel& k : r.kernels) total.read += k.bytes.read, total.written += k.bytes.written;
  const auto figure = [](const string& term, const string& value) {
    return tag("div", {}, tag("dt", {}, term) + tag("dd", {}, value));
  };
  const string buffers = r.buffers.empty() ? "" : ", " + counted(r.buffers.size(), "buffer");
  const string figures = figure(r.kernels.size() == 1 ? "kernel" : "kernels", to_string(r.kernels.size())) +
                              figure("read", bytes_text(total.read)) + figure("written", bytes_text(total.written)) +
                              figure("workspace" + buffers, bytes_text(r.workspace_bytes)) +
                              figure("options", r.preset);
  string links, hints;
  for (const char* name : {"Graph", "Kernels", "Memory", "Refusals", "Log"})
    links += tag("li", {}, tag("a", {{"href", "#" + string(name)}}, name));
  if (!r.hints.empty())
    hints = note("Bytes are those for " + code(r.hints) + "; the kernels are the same for all extents.");
  return tag("header", {},
             "\n" + tag("h1", {}, escaped(title)) + "\n" + tag("dl", {{"class", "figures"}}, figures) + "\n" + hints +
                 tag("nav", {{"aria-label", "Sections"}}, tag("ul", {}, links)) + "\n") + "\n";
}

string graph_section(const auto& r) {
  constexpr int many = 40;  // lines that would hide the graph
  string kinds, seen, toggle;
  for (const report::kernel& k : r.kernels) {
    const string kind(prefix(k.kind));
    if (string_view(seen).find(kind) != string_view::npos) continue;
    seen += kind;
    kinds += tag("li", {{"class", kind}}, escaped(kind_words(k.kind)));
  }
  int refusals = 0;
  for (const report::verdict& v : r.verdicts) refusals += v.stands && v.reason != refusal::no_shared_data;
  if (refusals > 0) {
    kinds += tag("li", {{"class", "refusal"}}, "not fused: the reason is in the tooltip, and below");
    toggle = refusals > many ? tag("input", {{"type", "checkbox"}, {"id", "refused"}})
                             : tag("input", {{"type", "checkbox"}, {"id", "refused"}, {"checked", "checked"}});
    toggle += tag("label", {{"class", "switch"}, {"for", "refused"}}, "show what was not fused") + "\n";
  }
  return section("Graph",
                 note("Each box is a kernel; they run from top to bottom. In it are the values it computes: those that "
                      "only it reads never reach memory.") +
                     tag("ul", {{"class", "kinds"}}, kinds) + "\n" +
                     tag("figure", {}, toggle + wide("Graph", graph_svg(r).text())));
}

string kernels_section(const auto& r) {
  const auto items = [&](const list<int>& places) {
    string text;
    for (int i : places)
      text += (text.empty() ? "" : ", ") + code(r.items[i].name()) + " " +
              tag("span", {{"class", "note shape"}}, escaped(r.items[i].shape));
    return text.empty() ? "nothing" : text;
  };
  const auto fact = [](const char* term, const string& text) { return tag("dt", {}, term) + tag("dd", {}, text); };
  string cards;
  for (int k = 0; k < r.num_kernels(); ++k) {
    const report::kernel& kernel = r.kernels[k];
    const string number = to_string(k);
    const string moves = bytes_text(kernel.bytes.read) + " in, " + bytes_text(kernel.bytes.written) + " out";
    const string facts = fact("computes", code(kernel.calls)) + fact("reads", items(kernel.reads)) +
                              fact("writes", items(kernel.writes)) + fact("moves", moves);
    cards += tag("article", {{"id", "k" + number}, {"class", prefix(kernel.kind)}},
                 tag("h3", {}, tag("span", {{"class", "note"}}, number) + " " + escaped(kernel.name)) +
                     note(escaped(words(kernel))) + tag("dl", {}, facts)) + "\n";
  }
  return section("Kernels", tag("div", {{"class", "cards"}}, "\n" + cards));
}

string memory_section(const auto& r) {
  if (r.workspace_bytes == 0)
    return section("Memory", note("No intermediate result goes through memory: there is no workspace."));
  string rows;
  for (const report::buffer& b : r.buffers)
    rows += table_row({}, {code(r.items[b.item].label), code(r.items[b.item].shape),
                           number(to_string(b.where.offset)), number(to_string(b.where.bytes)),
                           kernel_link(b.where.first) + " to " + kernel_link(b.where.last)});
  return section("Memory",
                 note("A buffer lives from the kernel that writes it to the last one that reads it; buffers that never "
                      "live together share memory. What a kernel needs for partial results of its own comes on top.") +
                     tag("figure", {}, wide("Workspace", memory_svg(r))) +
                     table("Buffers", {{"buffer"}, {"shape"}, {"offset", "number"}, {"bytes", "number"},
                                       {"lives in kernels"}}, rows));
}

string refusals_section(const auto& r) {
  const string filter = tag("div", {{"data-filter", "pairs"}}, "") + "\n";
  string rows;
  int count = 0;
  for (const report::verdict& v : r.verdicts) {
    if (!v.stands) continue;
    const report::item &a = r.items[v.first], &b = r.items[v.second];
    rows += table_row({{"id", "r" + to_string(count++)}, pair_names(a, b)},
                      {pair_text(a, b), kernel_link(a.kernel) + ", " + kernel_link(b.kernel),
                       escaped(sentence(v.reason)), number(bytes_text(v.shared_bytes))});
  }
  if (rows.empty()) return section("Refusals", note("No two kernels were candidates for one.") + filter);
  return section("Refusals",
                 note("Why two kernels are not one: the last verdict on each pair that was looked at, named by their "
                      "first nodes.") + filter +
                     table("Refusals", {{"pair"}, {"kernels"}, {"reason", "long"}, {"shared", "number"}}, rows));
}

/// The pairs a round refused, by reason.
string refused_lists(const auto& r, const logged_round& round) {
  string text;
  for (int reason = 0; reason < static_cast<int>(refusal::num_refusals); ++reason) {
    string pairs;
    std::size_t count = 0;
    for (const log_entry& e : round.refused) {
      if (static_cast<int>(e.reason) != reason) continue;
      const report::item &a = r.of_node(e.first), &b = r.of_node(e.second);
      pairs += tag("li", {pair_names(a, b)}, pair_text(a, b));
      ++count;
    }
    if (count > 0)
      text += details(counted(count, "pair") + ": " + escaped(sentence(static_cast<refusal>(reason))),
                      tag("ul", {{"class", "pairs"}}, pairs));
  }
  return text;
}

string log_section(const auto& r) {
  string text = note("In each round the candidates are taken by score: rank, bytes saved, nearness. A fusion can "
                          "undo a candidate after it; the next round asks again.");
  if (r.log.empty()) text += note("There was no pair to look at.");
  for (const logged_round& round : rounds_of(r)) {
    string rows;
    std::size_t fused = 0;
    for (const log_entry& e : round.decided) {
      const report::item &a = r.of_node(e.first), &b = r.of_node(e.second);
      const bool applied = e.event == log_event::fused;
      fused += applied;
      rows += table_row({pair_names(a, b)},
                        {pair_text(a, b), number(score_text(e.score)), number(bytes_text(e.shared_bytes)),
                         applied ? tag("b", {{"class", "fused"}}, "fused")
                                 : tag("b", {{"class", "undone"}}, "undone") + ": " + escaped(sentence(e.reason))});
    }
    if (!rows.empty())
      rows = table("Candidates", {{"candidate"}, {"score", "number"}, {"shared", "number"}, {"outcome", "long"}}, rows);
    const string figures = counted(round.num_pairs, "pair") + ", " + counted(round.num_candidates, "candidate") +
                                ", " + to_string(fused) + " fused";
    const string name = tag("b", {}, "Round " + to_string(round.number));
    text += details(name + ": " + figures, rows + refused_lists(r, round));
  }
  return section("Log", text);
}

string page_text(const auto& r, string_view title) {
  const string head = tag("meta", {{"charset", "utf-8"}}) +
                           tag("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
                           tag("title", {}, escaped(title)) + "\n" + tag("style", {}, style) + "\n";
  const string sections =
      graph_section(r) + kernels_section(r) + memory_section(r) + refusals_section(r) + log_section(r);
  const string footer = note("Written by sinter. All of this was decided by the compiler.");
  const string body = tag("a", {{"class", "skip"}, {"href", "#Graph"}}, "Skip to the graph") + "\n" +
                           page_header(r, title) + tag("main", {}, "\n" + sections) + "\n" +
                           tag("footer", {}, footer) + "\n" + tag("script", {}, script) + "\n";
  const string page = tag("head", {}, "\n" + head) + "\n" + tag("body", {}, "\n" + body);
  return "<!DOCTYPE html>\n" + tag("html", {{"lang", "en"}}, "\n" + page) + "\n";
}

}  // namespace sinter::detail::views

namespace sinter {

template <class Fused>
string to_html(const Fused&, string_view title) {
  return detail::views::page_text(detail::views::report_with_log<Fused>(), title);
}

}  // namespace sinter
