// The graph of a plan as SVG. Kernels are boxes, one below the other in the order in which they run, each with its
// nodes in rows. What a later kernel reads runs down a lane at the right; a refusal is a dashed line at the left.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/layers.hpp"
#include "sinter/explain/markup.hpp"
#include "sinter/explain/report.hpp"

namespace sinter::detail::views {

template <class Report>
class graph_svg {
 public:
  explicit graph_svg(const Report& r) : r_(r), last_reader_(r.items.size(), -1), departures_(r.items.size(), {}) {
    for (const report::item& item : r.items)
      for (int from : item.reads)
        if (item.kernel > last_reader_[from]) last_reader_[from] = item.kernel;
    for (int k = 0; k < r.num_kernels(); ++k) add_kernel(k);
    add_lanes();
    add_refusals();
  }

  string text() const {
    const string head = tag("path", {{"class", "head"}, {"d", "M0,0L8,4L0,8z"}});
    const string defs = tag("defs", {}, tag("marker", {{"id", "head"}, {"viewBox", "0 0 8 8"}, {"refX", "7"},
                                                            {"refY", "4"}, {"markerWidth", "6"}, {"markerHeight", "6"},
                                                            {"orient", "auto"}}, head));
    return drawing("graph", "The graph of the plan, grouped by kernel", {left_ - 8, right_ + 8, 0, y_ + 8},
                   defs + tag("g", {{"class", "refusals"}}, refusals_) + "\n" + boxes_ + edges_ + names_ + nodes_);
  }

 private:
  struct point {
    double x = 0, y = 0;
  };
  /// What a kernel reads of an earlier one, where the line reaches it.
  struct arrival {
    int item, kernel;
    point at;
  };
  /// A line in a kernel, by the vertices of the layered drawing.
  struct line {
    int from, to;
    list<int> path;
  };
  /// What leaves a kernel: as a result of the function, or (output < 0) for a later kernel.
  struct departure {
    int item, output, vertex;
  };
  static constexpr double node_height = 34, row_gap = 22, header = 26, padding = 12, band_gap = 20;
  static constexpr std::size_t longest_name = 48;

  const Report& r_;
  list<int> last_reader_;  ///< of each item: a kernel
  list<point> departures_;
  list<arrival> arrivals_;
  list<rectangle> kernels_;
  string boxes_, edges_, names_, nodes_, refusals_;
  double y_ = 8, left_ = 0, right_ = 0;

  static string at(point p) { return px(p.x) + "," + px(p.y); }
  static string output_label(int output) { return "output " + to_string(output); }
  bool is_input(int i) const { return i < r_.num_inputs; }

  static double width_of(const string& label, const report::item& item) {
    const std::size_t characters = label.size() > item.shape.size() ? label.size() : item.shape.size();
    return static_cast<double>(characters) * character_width + 18;
  }
  double width_of(int i) const { return width_of(r_.items[i].label, r_.items[i]); }

  void include(double left, double right) {
    if (left < left_) left_ = left;
    if (right > right_) right_ = right;
  }

  void add_node(int i, point top, const string& label, const string& kind) {
    const report::item& item = r_.items[i];
    const double half = width_of(label, item) / 2;
    include(top.x - half, top.x + half);
    const rectangle outline{top.x - half, top.x + half, top.y, top.y + node_height};
    const string content = tooltip(label + ": " + item.shape + ", " + bytes_text(item.bytes)) +
                                draw(outline, kind == "computed" ? 5 : node_height / 2) +
                                draw_text(top.x, top.y + 14, "label", label) +
                                draw_text(top.x, top.y + 27, "shape", item.shape);
    nodes_ += tag("g", {{"class", "node " + kind}, {"data-item", to_string(i)}}, content) + "\n";
  }

  /// A line from stop to stop, straight through each (from its top to its bottom) and curved between them.
  void add_edge(int from, int to, const list<point>& tops, const list<point>& bottoms, bool arrow) {
    string path = "M" + at(bottoms[0]);
    for (std::size_t i = 1; i < tops.size(); ++i) {
      const double middle = (bottoms[i - 1].y + tops[i].y) / 2;
      path += "C" + at({tops[i - 1].x, middle}) + " " + at({tops[i].x, middle}) + " " + at(tops[i]);
      if (i + 1 < tops.size()) path += "V" + px(bottoms[i].y);
    }
    edges_ += tag("path", {{"class", arrow ? "edge arrow" : "edge"}, {"data-from", to_string(from)},
                           {"data-to", to_string(to)}, {"d", path}});
  }

  /// A kernel and what is around it. Row 0 is what it reads, arguments and arrivals; then come its nodes, each below
  /// what it waits for; the last row is what leaves it.
  struct band {
    layered_drawing<double> d;
    list<int> members, sources;  ///< items
    list<int> vertex;            ///< of each item in this kernel or before it
    list<departure> leaving;
    list<line> lines;
    int last_row = 0;
    rectangle box;
    list<double> tops, bottoms;  ///< of the rows

    point top(int v) const { return {d[v].x - box.middle(), tops[d[v].row]}; }
    point bottom(int v) const { return {d[v].x - box.middle(), bottoms[d[v].row]}; }
  };

  void add_kernel(int k) {
    band b;
    b.vertex = list<int>(r_.items.size(), -1);
    add_members(k, b);
    add_departures(k, b);
    b.d.place();
    add_rows(k, b);
    add_box(k, b.box);
    for (int i : b.members) add_node(i, b.top(b.vertex[i]), r_.items[i].label, "computed");
    for (int i : b.sources) {
      if (is_input(i))
        add_node(i, b.top(b.vertex[i]), r_.items[i].label, "argument");
      else
        arrivals_.push_back({i, k, b.top(b.vertex[i])});
    }
    for (const departure& e : b.leaving) {
      if (e.output >= 0)
        add_node(e.item, b.top(e.vertex), output_label(e.output), "result");
      else
        departures_[e.item] = b.bottom(e.vertex);
    }
    for (const line& l : b.lines) {
      list<point> tops, bottoms;
      const point start = b.top(l.path[0]), end = b.bottom(l.path.back());
      if (!is_input(l.from) && r_.items[l.from].kernel != k) tops.push_back(start), bottoms.push_back(start);
      for (int v : l.path) tops.push_back(b.top(v)), bottoms.push_back(b.bottom(v));
      if (l.to < 0) tops.push_back(end), bottoms.push_back(end);
      add_edge(l.from, l.to, tops, bottoms, l.to >= 0);
    }
  }

  /// The nodes of a kernel, what they read, and the lines to them.
  void add_members(int k, band& b) {
    list<int> row(r_.items.size(), 0);
    for (int i = r_.num_inputs; i < r_.num_items(); ++i) {
      if (r_.items[i].kernel != k) continue;
      b.members.push_back(i);
      row[i] = 1;
      for (int from : r_.items[i].reads) {
        const int kernel = r_.items[from].kernel;
        if (kernel == k && row[from] >= row[i]) row[i] = row[from] + 1;
        if (kernel == k || b.vertex[from] >= 0) continue;
        b.sources.push_back(from);
        b.vertex[from] = b.d.add(0, is_input(from) ? width_of(from) : 0);
        if (is_input(from)) continue;
        const bool from_above = kernel == k - 1;  // else it comes down a lane at the right
        b.d.wish(b.vertex[from], from_above ? departures_[from].x : right_, from_above ? 1 : 0.1);
      }
      if (row[i] > b.last_row) b.last_row = row[i];
    }
    for (int i : b.members) b.vertex[i] = b.d.add(row[i], width_of(i));
    for (int i : b.members)
      for (int from : r_.items[i].reads) b.lines.push_back({from, i, b.d.connect(b.vertex[from], b.vertex[i])});
  }

  void add_departures(int k, band& b) {
    const auto add = [&](int item, int output, double width) {
      const int v = b.d.add(b.last_row + 1, width);
      b.leaving.push_back({item, output, v});
      b.lines.push_back({item, output < 0 ? -1 : item, b.d.connect(b.vertex[item], v)});
    };
    for (int i : b.members) {
      for (int output : r_.items[i].outputs) add(i, output, width_of(output_label(output), r_.items[i]));
      if (last_reader_[i] > k) add(i, -1, 0);
    }
  }

  /// Gives the rows of a kernel their heights, and finds its box.
  void add_rows(int k, band& b) {
    bool arguments = false, results = false;
    for (int i : b.sources) arguments = arguments || is_input(i);
    for (const departure& e : b.leaving) results = results || e.output >= 0;
    const auto add_row = [&](double height) {
      b.tops.push_back(y_);
      b.bottoms.push_back(y_ += height);
    };
    add_row(arguments ? node_height : 0);
    y_ += row_gap;
    b.box = {1e9, -1e9, y_, 0};
    y_ += header;
    for (int i = 1; i <= b.last_row; ++i) {
      add_row(node_height);
      y_ += i < b.last_row ? row_gap : padding;
      for (int v : b.d.rows()[i]) {
        const double left = b.d[v].x - b.d[v].width / 2 - padding, right = b.d[v].x + b.d[v].width / 2 + padding;
        if (left < b.box.left) b.box.left = left;
        if (right > b.box.right) b.box.right = right;
      }
    }
    b.box.bottom = y_;
    if (!b.leaving.empty()) y_ += row_gap;
    add_row(results ? node_height : 0);
    if (k + 1 < r_.num_kernels()) y_ += band_gap;
  }

  /// The box of a kernel with its name, in the middle of the drawing.
  void add_box(int k, rectangle box) {
    const report::kernel& kernel = r_.kernels[k];
    string name = to_string(k) + "  " + kernel.name;
    if (name.size() > longest_name) name = text_of({string_view(name).substr(0, longest_name - 3), "..."});
    double half = (box.right - box.left) / 2;
    const double of_name = static_cast<double>(name.size()) * character_width / 2 + padding;
    if (half < of_name) half = of_name;
    box.left = -half, box.right = half;
    include(box.left, box.right);
    kernels_.push_back(box);
    const string kind = "kernel " + string(prefix(kernel.kind)), target = "#k" + to_string(k);
    boxes_ += tag("a", {{"href", target}, {"class", kind}},
                  tooltip(kernel.name + ": " + words(kernel)) + draw(box, 8)) + "\n";
    names_ += tag("g", {{"class", kind}}, draw_text(box.left + padding, box.top + 17, "name", name)) + "\n";
  }

  /// From kernel to kernel: at once to the next one, else down a lane that nothing else uses on that stretch.
  void add_lanes() {
    struct lane {
      int item, first, last, column;
    };
    list<lane> lanes;
    const double base = right_ + 14;
    for (const arrival& a : arrivals_) {
      const point from = departures_[a.item];
      const int first = r_.items[a.item].kernel, last = last_reader_[a.item];
      if (a.kernel == first + 1) {
        add_edge(a.item, -1, {from, a.at}, {from, a.at}, false);
        continue;
      }
      int column = -1;
      for (const lane& other : lanes)
        if (other.item == a.item) column = other.column;
      if (column < 0) {
        for (bool taken = true; taken;) {
          taken = false;
          ++column;
          for (const lane& other : lanes)
            taken = taken || (other.column == column && other.first <= last && first <= other.last);
        }
        lanes.push_back({a.item, first, last, column});
      }
      const point out{base + 12 * column, from.y + band_gap}, back{out.x, a.at.y - band_gap};
      include(out.x, out.x);
      add_edge(a.item, -1, {from, out, a.at}, {from, back, a.at}, false);
    }
  }

  /// Two kernels that were refused, each pair once.
  void add_refusals() {
    const double base = left_;
    list<int> used(r_.kernels.size(), 0);
    int row = -1;
    for (const report::verdict& v : r_.verdicts) {
      if (!v.stands) continue;
      ++row;
      if (v.reason == refusal::no_shared_data) continue;
      const report::item &first = r_.items[v.first], &second = r_.items[v.second];
      const auto anchor = [&](int k) {
        const rectangle& box = kernels_[k];
        return point{box.left, box.top + 10 + (used[k]++ * 7) % static_cast<int>(box.bottom - box.top - 18)};
      };
      const point from = anchor(first.kernel), to = anchor(second.kernel);
      const int span = first.kernel < second.kernel ? second.kernel - first.kernel : first.kernel - second.kernel;
      const double x = base - 10 - 10 * (span < 12 ? span : 12);
      include(x, x);
      const string path = "M" + at(from) + "C" + at({x, from.y}) + " " + at({x, to.y}) + " " + at(to);
      refusals_ += tag("a", {{"href", "#r" + to_string(row)}, {"tabindex", "-1"}},
                       tag("path", {{"class", "refused"}, {"d", path}},
                           tooltip(first.label + " with " + second.label + ": " + string(sentence(v.reason)))));
    }
  }
};

}  // namespace sinter::detail::views
