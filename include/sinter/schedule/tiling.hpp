// Tiles of two dimensions: which one a pointwise loop wants whose accesses are contiguous along different dimensions,
// and whether two loops want the same. How a kernel reads transposed operands is decided at the launch, fused or not,
// so that tiles refuse a fusion only with options.tiling_prevents_fusion; combo kernels are divided by them.
// Reference: Inductor's SIMDScheduling.candidate_tilings and select_tiling.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/refusal.hpp"
#include "sinter/schedule/vertical.hpp"

namespace sinter::detail {

/// A tile's inner extent, and what it is worth: elements accessed, more for stores and for whole warps.
struct tile_choice {
  number inner = 0;
  std::int64_t score = 0;
};

/// The tile that makes an access contiguous: inner of the dimension that has stride 1. 0: that is the innermost anyway,
/// or nothing is indexed inside it.
template <class State>
constexpr tile_choice tile_for(const State& s, const dependency& d, const scheduler_node& n) {
  const auto& numbers = s.list.numbers;
  const access_form& f = s.list.accesses[d.own];
  tile_choice best{};
  for (int t = 0; t < f.size; ++t)
    if (f.terms[t].coef == 1 && f.terms[t].div != 1) best.inner = f.terms[t].div;
  bool indexed_inside = false;
  for (int t = 0; t < f.size; ++t)
    if (f.terms[t].mod != 0 && numbers.divides(product(f.terms[t].div, f.terms[t].mod), best.inner))
      indexed_inside = true;
  if (best.inner == 0 || !indexed_inside) return {};
  constexpr int warp = 32;
  const auto fills_warps = [&](number of) { return numbers.hint(of) >= warp && numbers.factor(of) % warp == 0; };
  best.score = d.bytes / item_size((*s.g)[d.buffer].type) * (d.write ? 2 : 1);
  if (fills_warps(best.inner)) best.score *= 2;
  if (fills_warps(quotient(n.space.numel, best.inner))) best.score *= 2;
  return best.score >= numbers.hint(n.space.numel) ? best : tile_choice{};
}

/// Do the node's dimensions, innermost first, fill the inner extent of a tile, none of them straddling its border?
template <class State>
constexpr bool splits_at(const State& s, const scheduler_node& n, number inner) {
  const auto& numbers = s.list.numbers;
  const extents dims = loop_extents(*s.g, n);
  number left = inner;
  for (int d = dims.rank - 1; d >= 0 && left != 1; --d) {
    if (!numbers.divides(dims[d], left)) return numbers.divides(left, dims[d]);
    left = quotient(left, dims[d]);
  }
  return left == 1;
}

/// The inner extent of the tiles that the pointwise groups a and b (-1: none) want as one kernel; 0: one dimension.
template <class State>
constexpr number tile_of(const State& s, int a, int b) {
  if (s.groups[a].has_reduction || (b >= 0 && s.groups[b].has_reduction)) return 0;
  fixed_vector<tile_choice, 16> choices{};
  fixed_set<decltype(s.list.nodes)::capacity> counted{};
  s.each_member(a, b, [&](int m) {
    const scheduler_node& n = s.list.nodes[m];
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[n.first_dependency + k];
      if (d.own < 0 || counted.contains(d.buffer)) continue;
      counted.insert(d.buffer);
      const tile_choice c = tile_for(s, d, n);
      int i = 0;
      while (i < choices.size() && choices[i].inner != c.inner) ++i;
      if (c.inner == 0) continue;
      if (i == choices.size()) choices.push_back({c.inner, 0});
      choices[i].score += c.score;
    }
  });
  tile_choice best{};
  for (const tile_choice& c : choices) {
    bool fits = c.score > best.score;
    s.each_member(a, b, [&](int m) { fits = fits && splits_at(s, s.list.nodes[m], c.inner); });
    if (fits) best = c;
  }
  return best.inner;
}

/// With tiles: two pointwise groups keep the one they want, and a pointwise one has a reduction's rows or none.
template <class State>
constexpr refusal tiles_agree(const State& s, int a, int b, const loop_space& space) {
  if (!s.o->tiling_prevents_fusion || s.groups[a].has_template || s.groups[b].has_template) return refusal::none;
  const number first = tile_of(s, a, -1), second = tile_of(s, b, -1);
  if (s.groups[a].has_reduction || s.groups[b].has_reduction) {
    const number wanted = first != 0 ? first : second;
    return wanted == 0 || wanted == space.rnumel ? refusal::none : refusal::tilings_differ;
  }
  if (first == 0 && second == 0) return refusal::none;
  const number both = tile_of(s, a, b);
  return (first == 0 || first == both) && (second == 0 || second == both) ? refusal::none : refusal::tilings_differ;
}

}  // namespace sinter::detail
