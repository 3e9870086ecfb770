// The workspace of a plan as SVG: kernels in the order in which they run from left to right, offsets from top to
// bottom, a buffer where and as long as it lives. Heights follow sizes, but no stretch is too low to read.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/explain/markup.hpp"
#include "sinter/explain/report.hpp"

namespace sinter::detail::views {

/// Offsets as heights. Between two offsets at which something begins or ends, the scale is even.
template <class Report>
class offset_scale {
 public:
  offset_scale(const Report& r, double top) {
    for (const report::buffer& b : r.buffers) add(b.where.offset), add(b.where.offset + b.where.bytes);
    const double least = offsets_.size() < 32 ? 20 : 10, scale = 260.0 / static_cast<double>(r.workspace_bytes + 1);
    for (std::size_t i = 0; i < offsets_.size(); ++i) {
      const double height = i == 0 ? 0 : static_cast<double>(offsets_[i] - offsets_[i - 1]) * scale;
      heights_.push_back(i == 0 ? top : heights_.back() + (height < least ? least : height));
    }
  }
  const list<std::int64_t>& offsets() const { return offsets_; }
  double operator()(std::int64_t offset) const {
    std::size_t i = 0;
    while (offsets_[i] < offset) ++i;
    return heights_[i];
  }

 private:
  list<std::int64_t> offsets_;
  list<double> heights_;

  void add(std::int64_t offset) {
    for (std::int64_t known : offsets_)
      if (known == offset) return;
    offsets_.push_back(offset);
    for (std::size_t i = offsets_.size() - 1; i > 0 && offsets_[i] < offsets_[i - 1]; --i)
      std::swap(offsets_[i], offsets_[i - 1]);
  }
};

/// Of a plan that has a workspace.
string memory_svg(const auto& r) {
  const double left = 92, top = 30, room = 800.0 / r.num_kernels();
  const double column = room < 28 ? 28 : room > 120 ? 120 : room;
  const offset_scale height(r, top);
  const double right = left + column * r.num_kernels(), bottom = height(height.offsets().back());

  string text = draw_text(left - 10, 18, "axis", "kernel");
  for (int k = 0; k < r.num_kernels(); ++k) {
    const double x = left + column * k;
    const string number = to_string(k);
    text += tag("path", {{"class", "grid"}, {"d", "M" + px(x) + "," + px(top) + "V" + px(bottom)}});
    text += tag("a", {{"href", "#k" + number}}, draw_text(x + column / 2, 18, "tick", number));
  }
  double last_label = 0;
  for (std::int64_t offset : height.offsets()) {
    const double y = height(offset);
    if (y - last_label < 13) continue;
    last_label = y;
    text += draw_text(left - 10, y + 4, "axis", bytes_text(offset));
    text += tag("path", {{"class", "grid"}, {"d", "M" + px(left - 5) + "," + px(y) + "H" + px(right)}});
  }
  for (const report::buffer& b : r.buffers) {
    if (b.where.bytes == 0) continue;
    const report::item& item = r.items[b.item];
    const rectangle where{left + column * b.where.first + 2, left + column * (b.where.last + 1) - 2,
                          height(b.where.offset) + 1, height(b.where.offset + b.where.bytes) - 1};
    string content = tooltip(item.label + " " + item.shape + ": " + bytes_text(b.where.bytes) + " at offset " +
                                  bytes_text(b.where.offset)) +
                          draw(where, 4);
    const auto fits = static_cast<std::size_t>((where.right - where.left - 8) / character_width);
    if (fits >= 4 && where.bottom - where.top >= 13)
      content += draw_text(where.middle(), (where.top + where.bottom) / 2 + 4, "label",
                           item.label.size() <= fits
                               ? item.label
                               : text_of({string_view(item.label).substr(0, fits - 2), ".."}));
    text += tag("g", {{"class", "buffer " + string(prefix(r.kernels[item.kernel].kind))}}, content) + "\n";
  }
  return drawing("memory", "The workspace: buffers by kernel and offset", {0, right + 8, 0, bottom + 12}, text);
}

}  // namespace sinter::detail::views
