// Options for tests: a preset with one field changed. More than one nest: with<&options::a, 1, with<&options::b, 2>>.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/options.hpp"

template <auto Field, auto Value, sinter::options From = sinter::standard>
inline constexpr sinter::options with = [] {
  sinter::options o = From;
  o.*Field = Value;
  return o;
}();
