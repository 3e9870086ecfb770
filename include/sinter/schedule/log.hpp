// What the rounds tell: a recorder hears of every pair. `last_verdicts` keeps what why_not_fused needs and stays in the
// plan; `full_recorder` keeps everything, and lives only where somebody asks for the log (`f.fusion_log()`).
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/score.hpp"

namespace sinter {

enum class log_event : unsigned char {
  considered,  ///< a pair was asked about; refusal::none makes it a candidate of its round
  fused,       ///< a candidate was applied
  invalidated  ///< a candidate was refused after all, on the groups that earlier fusions of its round had made
};

/// One line of the log. `first` and `second` are scheduler nodes: the first members of the groups of the pair.
struct log_entry {
  short round = 0;
  log_event event = log_event::considered;
  short first = 0, second = 0;
  refusal reason = refusal::none;
  fusion_score score{};
  std::int64_t shared_bytes = 0;
};

namespace detail {

/// One verdict of the scheduler about a pair of nodes (the first members of their groups).
struct fusion_verdict {
  short first = 0, second = 0;
  short round = 0;
  refusal reason = refusal::none;
  std::int64_t shared_bytes = 0;
  bool applied = false;
};

/// The last verdict on each pair. When full it forgets the newest, and explain says so.
template <int Capacity>
struct last_verdicts : fixed_vector<fusion_verdict, 6 * Capacity + 32> {
  using base = fixed_vector<fusion_verdict, 6 * Capacity + 32>;
  static constexpr bool wants_scores = false;
  short newest[Capacity]{};         ///< the newest entry about each first node, plus one
  short older[base::capacity]{};    ///< and the one before each entry

  constexpr void note(const log_entry& e) {
    if (e.event == log_event::invalidated) return;  // the next round asks again
    const fusion_verdict v{e.first, e.second, e.round, e.reason, e.shared_bytes, e.event == log_event::fused};
    for (int i = newest[v.first] - 1; i >= 0; i = older[i] - 1)
      if (this->items[i].second == v.second) {
        this->items[i] = v;
        return;
      }
    if (this->count == base::capacity) {
      this->overflowed = true;
      return;
    }
    const int at = this->push_back(v);
    older[at] = newest[v.first];
    newest[v.first] = static_cast<short>(at + 1);
  }
};

/// Everything, in order. Length 0 only counts, so that a second evaluation can have a recorder that fits.
template <int Length>
struct full_recorder {
  static constexpr bool wants_scores = true;
  fixed_vector<log_entry, Length> entries{};
  int length = 0;

  constexpr void note(const log_entry& e) {
    ++length;
    entries.push_back(e);
  }
};

}  // namespace detail
}  // namespace sinter
