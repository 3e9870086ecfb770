// A value that takes the place of what it was computed from: the first phase of a row that needs it leaves it in shared
// memory where loads lie that nothing else needs, and later phases find it there.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include "sinter/kernels/cuda/access.hpp"
#include "sinter/kernels/cuda/phase_facts.hpp"
#include "sinter/kernels/cuda/reduction/rows/stream_share.cuh"

namespace sinter::cuda::detail {

/// Which value of a body that is walked in phases.
template <class Body>
struct kept_value;
template <class... S>
struct kept_value<body<S...>> {
  using facts = body_facts<body<S...>>;
  using phases = phase_facts<body<S...>>;
  using streamed = stream_facts<body<S...>>;
  static constexpr int size = sizeof...(S);

  /// What each phase needs if those behind the first that needs statement `kept` find its value.
  using needs = typename facts::needs;
  static constexpr needs needs_beside(int kept) { return facts::needs_beside(kept, phases::first(kept) + 1); }
  /// Is a load no longer needed then?
  static constexpr bool is_free(int s, int kept, const needs& n) {
    for (int p = phases::first(kept) + 1; p < phases::phases; ++p)
      if (n.of[p][s]) return false;
    return streamed::streams(s);
  }
  static constexpr int bytes = 4;  // of a value

  /// The value that saves most, or -1: instructions of an element, of which a word of 16 bits takes one to unpack, and
  /// what all rows share as many as it may take to shift it.
  static constexpr int statement = [] {
    constexpr bool is_float[] = {std::is_same_v<typename statement_facts<S>::value_type, float>..., false};
    constexpr int halves[] = {instruction_halves<S>..., 0};
    constexpr int least = 8, of_shared = 8;
    int best = -1, most = least - 1;
    for (int s = 0; s < size; ++s)
      if (streamed::streams(s) && phases::stored_bytes(s) > bytes) return -1;  // vectors of fewer values than 16 bytes
    for (int kept = 0; kept < size; ++kept) {
      if (!is_float[kept] || !phases::is_element(kept) || facts::facts.info[kept].kind != statement_kind::compute)
        continue;
      const needs n = needs_beside(kept);
      int room = 0, saved = 0;
      for (int s = 0; s < size; ++s) {
        if (is_free(s, kept, n)) room += phases::stored_bytes(s);
        for (int p = phases::first(kept) + 1; p < phases::phases; ++p)
          if (facts::needed(p, s) && (!n.of[p][s] || s == kept))
            saved += streamed::is_shared(s) ? of_shared
                     : streamed::streams(s) ? 4 - phases::stored_bytes(s)
                                            : halves[s];
      }
      if (room >= bytes && saved > most) best = kept, most = saved;
    }
    return best;
  }();
  static constexpr bool is = statement >= 0;
  /// The phase that leaves it.
  static constexpr int phase = is ? phases::first(statement) : phases::phases;
  static constexpr needs all = is ? needs_beside(statement) : facts::needs_of_phases;
  static constexpr bool needed(int p, int s) { return all.of[p][s]; }

  /// Where part number Part of 16 bytes of a vector of Width such values lies: in that of which load, and where there.
  struct place {
    int load = 0, part = 0;
  };
  template <int Part, int Width>
  static constexpr place place_of = [] {
    int part = Part;
    for (int s = 0; s < size; ++s) {
      const int parts = is_free(s, statement, all) ? phases::stored_bytes(s) * Width / 16 : 0;
      if (part < parts) return place{s, part};
      part -= parts;
    }
    return place{};
  }();
};

/// The element statements that a walked row evaluates in phase P, if it keeps such a value.
template <class Body, int P>
struct elements_beside_kept {
  static constexpr bool select(int s) { return phase_facts<Body>::is_element(s) && kept_value<Body>::needed(P, s); }
};

}  // namespace sinter::cuda::detail
