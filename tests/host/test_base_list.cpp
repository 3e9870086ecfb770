// The array that grows: what it holds after growing and moving, and that it ends what it holds, once.
// SPDX-License-Identifier: BSL-1.0
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "sinter/base/list.hpp"

using sinter::detail::list;

namespace {

/// Counts how many of its kind there are.
struct counted {
  static inline int alive = 0;
  int value = 0;

  counted(int v = 0) : value(v) { ++alive; }
  counted(const counted& other) : value(other.value) { ++alive; }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }
};

}  // namespace

TEST_CASE("a list holds what was pushed, in order, however often it grew") {
  list<int> numbers;
  CHECK(numbers.empty());
  CHECK(numbers.begin() == numbers.end());
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  CHECK(numbers.size() == 1000);
  int expected = 0;
  for (int number : numbers) CHECK(number == expected++);
  numbers.pop_back();
  CHECK(numbers.back() == 998);
  CHECK(list<int>(3, 7) == list<int>{7, 7, 7});
  CHECK(!(list<int>{1, 2} == list<int>{1, 3}));
  CHECK(!(list<int>{1, 2} == list<int>{1, 2, 3}));
}

TEST_CASE("an item of a list may be pushed to it") {
  list<std::string> words{"a word that is longer than what a string holds in itself"};
  for (int i = 0; i < 100; ++i) words.push_back(words[0]);
  CHECK(words[100] == words[0]);
}

TEST_CASE("a list that was moved is empty, and can be used") {
  list<list<std::string>> rows;
  for (int i = 0; i < 10; ++i) rows.push_back(list<std::string>(3, "row " + std::to_string(i)));
  list<list<std::string>> moved = std::move(rows);
  CHECK(rows.empty());
  CHECK(moved[9][2] == "row 9");
  rows.push_back({});
  CHECK(rows.size() == 1);
  rows = std::move(moved);
  CHECK(rows.size() == 10);
  CHECK(moved.empty());
}

TEST_CASE("a list ends what it holds, once") {
  {
    list<counted> all;
    for (int i = 0; i < 100; ++i) all.push_back(i);
    list<counted> other = std::move(all);
    CHECK(other[99].value == 99);
    all = list<counted>(5, 1);
  }
  CHECK(counted::alive == 0);
}
