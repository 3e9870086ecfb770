// Text with an owner and text that lies elsewhere: what they hold, what they are equal to, and how they become those of
// the standard library and come from them. SPDX-License-Identifier: BSL-1.0
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include "sinter/base/error.hpp"
#include "sinter/base/text.hpp"

using sinter::string;
using sinter::string_view;

static_assert(string_view("abc") == "abc" && string_view("abc") != "abd" && string_view("abc") != "ab");
static_assert(string_view("ab") < "abc" && string_view("abc") < "abd" && !(string_view("abc") < "abc"));
static_assert(string_view("b") < "\xc3", "characters are compared as those of std::string_view are");
static_assert(string_view().empty() && string_view() == "");
static_assert(string_view("a looped reduction").find("reduction") == 9);
static_assert(string_view("abab").find("ba") == 1 && string_view("abab").find("abc") == string_view::npos);
static_assert(string_view("abcd").substr(1) == "bcd" && string_view("abcd").substr(1, 2) == "bc");
static_assert(string_view("abcd").substr(4).empty() && string_view("abcd").substr(2, 9) == "cd");
static_assert(string_view(std::string_view("abc")) == "abc" && string_view("abc") == std::string_view("abc"));
static_assert(std::string_view(string_view("abc")) == "abc" && std::string_view("abc") == string_view("abc"));
static_assert(!std::is_convertible_v<string, const char*> && !std::is_convertible_v<string, bool>);

TEST_CASE("a string holds what was appended, however often it grew") {
  string text;
  std::string same;
  CHECK(text.empty());
  CHECK(std::string(text.c_str()).empty());
  for (int i = 0; i < 1000; ++i) {
    text += "piece ";
    text += static_cast<char>('a' + i % 26);
    same += "piece ";
    same += static_cast<char>('a' + i % 26);
  }
  CHECK(text == same);
  CHECK(text.size() == same.size());
  CHECK(text.c_str()[text.size()] == 0);
  CHECK("a" + string("b") + "c" == "abc");
}

TEST_CASE("a string may be appended to itself") {
  string text = "abc";
  for (int i = 0; i < 10; ++i) text += text;
  CHECK(text.size() == 3 * 1024);
  CHECK(string_view(text).substr(3 * 1023) == "abc");
}

TEST_CASE("copies of a string are its own, and what was moved is empty and can be used") {
  string text = "abc";
  string copy = text;
  text += "d";
  CHECK(copy == "abc");
  string moved = std::move(text);
  CHECK(moved == "abcd");
  CHECK(text.empty());
  text = copy;
  CHECK(text == copy);
  text = std::move(moved);
  CHECK(text == "abcd");
  CHECK(string("abc") != "abd");
}

TEST_CASE("a string becomes one of the standard library's by itself, and is written as one") {
  const string text = "abc";
  const std::string copied = text, constructed(text);
  std::string assigned;
  assigned = text;
  const std::string_view viewed = text;
  CHECK(copied == "abc");
  CHECK(constructed == copied);
  CHECK(assigned == copied);
  CHECK(viewed == copied);
  CHECK(text == copied);
  CHECK(copied == text);
  std::ostringstream stream;
  stream << text << ", " << string_view("def");
  CHECK(stream.str() == "abc, def");
}

TEST_CASE("text is made of pieces, characters and whole numbers") {
  using sinter::detail::text_of;
  CHECK(text_of({"rows ", 5, ", ", std::int64_t{-9223372036854775807} - 1, ", ", 0, string(" of "), string_view("x")}) ==
        "rows 5, -9223372036854775808, 0 of x");
  CHECK(sinter::detail::to_string(120) == "120");
}

TEST_CASE("copies of an error say the same, and outlive it") {
  const auto copied = [] {
    const sinter::error first(string("rows: ") + "expected 5");
    const sinter::error second = first;
    CHECK(first.what() == second.what());
    return second;
  }();
  CHECK(std::string(copied.what()) == "rows: expected 5");
  CHECK_THROWS_AS(throw copied, std::exception);
}
