// Labels: how users name what a plan computes. A user-level call, "softmax_0", is the last scheduler node that computes
// some of it; its other nodes are the call with the op that they compute, "softmax_0.amax", and with a count from the
// second of that op on, "block_0.sum.1". node_labelled undoes label_of.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/schedule/nodes.hpp"

namespace sinter {

/// The name of a scheduler node: a user-level call, or a part of one. `label == "mm_0"` compares its text.
struct node_label {
  string_view call{};
  short instance = 0;  ///< counts calls of that name
  string_view part{};
  short part_instance = 0;  ///< counts parts of that op in the call

  constexpr text_buffer<128> text() const {
    text_buffer<128> all{};
    all.append(call);
    all.append("_");
    all.append(static_cast<long>(instance));
    if (!part.empty()) {
      all.append(".");
      all.append(part);
    }
    if (part_instance > 0) {
      all.append(".");
      all.append(static_cast<long>(part_instance));
    }
    return all;
  }
  friend constexpr bool operator==(const node_label& a, string_view b) { return a.text().view() == b; }
};

namespace detail {

/// The label of a whole call.
constexpr node_label label_of(const origin& call) { return {call.name, call.instance, {}, 0}; }

/// The last scheduler node that computes some of a call, or -1.
template <int Capacity>
constexpr int last_node_of(const node_list<Capacity>& list, int call) {
  for (int n = list.nodes.size() - 1; n >= 0; --n)
    if (list.origins[n].contains(call)) return n;
  return -1;
}

/// Scheduler node n as a part of its call.
template <int Capacity>
constexpr node_label part_label_of(const graph<Capacity>& g, const node_list<Capacity>& list, int n) {
  const node& root = g[list.nodes[n].root];
  node_label label = label_of(g.origins[root.origin]);
  label.part = name(root.what);
  for (int i = 0; i < n; ++i) {
    const node& other = g[list.nodes[i].root];
    if (other.origin == root.origin && other.what == root.what) ++label.part_instance;
  }
  return label;
}

template <int Capacity>
constexpr node_label label_of(const graph<Capacity>& g, const node_list<Capacity>& list, int n) {
  const short call = g[list.nodes[n].root].origin;
  return last_node_of(list, call) == n ? label_of(g.origins[call]) : part_label_of(g, list, n);
}

/// The scheduler node with this label, or -1.
template <int Capacity>
constexpr int node_labelled(const graph<Capacity>& g, const node_list<Capacity>& list, string_view label) {
  for (int call = 0; call < g.origins.size(); ++call)
    if (label_of(g.origins[call]) == label && last_node_of(list, call) >= 0) return last_node_of(list, call);
  for (int n = 0; n < list.nodes.size(); ++n)
    if (part_label_of(g, list, n) == label) return n;
  return -1;
}

}  // namespace detail
}  // namespace sinter
