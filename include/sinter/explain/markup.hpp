// Pieces of markup that the page and its drawings share: tags, escaped text, figures, positions.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <initializer_list>

#include "sinter/explain/report.hpp"

namespace sinter::detail::views {

/// Text that may stand between tags and in attributes.
inline string escaped(string_view text) {
  string markup;
  for (char c : text) {
    if (c == '&')
      markup += "&amp;";
    else if (c == '<')
      markup += "&lt;";
    else if (c == '>')
      markup += "&gt;";
    else if (c == '"')
      markup += "&quot;";
    else
      markup += c;
  }
  return markup;
}

/// A position in a drawing, to a tenth.
inline string px(double position) {
  const long tenths = static_cast<long>(position * 10 + (position < 0 ? -0.5 : 0.5));
  const long size = tenths < 0 ? -tenths : tenths;
  string text = (tenths < 0 ? "-" : "") + to_string(size / 10);
  if (size % 10 != 0) text += "." + to_string(size % 10);
  return text;
}

struct attribute {
  string text;
  attribute(const char* name, string_view value) : text(text_of({" ", name, "=\"", escaped(value), "\""})) {}
  attribute(const char* name, const char* value) : attribute(name, string_view(value)) {}
  attribute(const char* name, double position) : attribute(name, px(position)) {}
};
using attributes = std::initializer_list<attribute>;

/// What stands between "<" and ">".
inline string tag_text(const char* name, attributes list) {
  string text = name;
  for (const attribute& a : list) text += a.text;
  return text;
}
inline string tag(const char* name, attributes list) { return text_of({"<", tag_text(name, list), "/>"}); }
inline string tag(const char* name, attributes list, string_view content) {
  return text_of({"<", tag_text(name, list), ">", content, "</", name, ">"});
}

/// "384 bytes", "16 KiB", "4.2 MiB".
inline string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr const char* units[] = {" KiB", " MiB", " GiB", " TiB"};
  int unit = 0;
  std::int64_t scale = 1024;
  while (unit < 3 && bytes / scale >= 1024) scale *= 1024, ++unit;
  const std::int64_t tenths = (bytes / (scale / 64) * 10 + 32) / 64;
  string text = to_string(tenths / 10);
  if (tenths % 10 != 0) text += "." + to_string(tenths % 10);
  return text + units[unit];
}

// ---- drawings

inline constexpr double character_width = 6.7;  // of the fixed-width font at 11 pixels

struct rectangle {
  double left = 0, right = 0, top = 0, bottom = 0;
  double middle() const { return (left + right) / 2; }
};
inline string draw(const rectangle& r, double radius) {
  return tag("rect", {{"x", r.left}, {"y", r.top}, {"width", r.right - r.left}, {"height", r.bottom - r.top},
                      {"rx", radius}});
}
inline string draw_text(double x, double y, const char* kind, string_view text) {
  return tag("text", {{"class", kind}, {"x", x}, {"y", y}}, escaped(text));
}
inline string tooltip(string_view text) { return tag("title", {}, escaped(text)); }

/// A drawing of `content` within `r`.
inline string drawing(const char* kind, const string& title, const rectangle& r, const string& content) {
  const string id = string(kind) + "-title", width = px(r.right - r.left), height = px(r.bottom - r.top);
  return tag("svg",
             {{"xmlns", "http://www.w3.org/2000/svg"}, {"class", kind}, {"role", "group"}, {"aria-labelledby", id},
              {"viewBox", px(r.left) + " " + px(r.top) + " " + width + " " + height},
              {"width", width}, {"height", height}},
             "\n" + tag("title", {{"id", id}}, title) + content) + "\n";
}

}  // namespace sinter::detail::views
