// The plan: the scheduler's result as a constant. Kernels in order with their kind, what each reads and writes, and
// where intermediate buffers live. SPDX-License-Identifier: BSL-1.0
#pragma once

#include "sinter/base/fixed_string.hpp"
#include "sinter/base/orientation.hpp"
#include "sinter/schedule/fuse.hpp"

namespace sinter {

enum class kernel_kind : unsigned char {
  pointwise,
  reduction,
  persistent_reduction,
  matmul_template,
  foreign,
  combo,
  split_scan
};

namespace detail {

constexpr bool is_loop(kernel_kind kind) {
  return kind == kernel_kind::pointwise || kind == kernel_kind::reduction ||
         kind == kernel_kind::persistent_reduction || kind == kernel_kind::split_scan;
}
constexpr string_view prefix(kernel_kind kind) {
  constexpr string_view prefixes[] = {"poi", "red", "per", "tem", "for", "com", "spl"};
  return prefixes[static_cast<int>(kind)];
}

/// A kernel, or one part of it.
struct planned_kernel {
  short group = -1;
  short num_parts = 1;  ///< loops of their own in one launch: parts of a joint group
  kernel_kind kind = kernel_kind::pointwise;
  orientation walk = orientation::row;
};

/// A buffer that lives between two kernels.
struct planned_buffer {
  short node = -1;
  short first = 0, last = 0;  ///< the kernels that write it first and read it last
};

template <int Capacity>
struct plan {
  const fusion_result<Capacity>& fusion;
  fixed_vector<planned_kernel, Capacity> kernels{};
  fixed_vector<planned_buffer, Capacity> buffers{};
};

/// Reductions whose operands lie contiguous along x rather than r are walked by columns. Only what is indexed by both
/// has an opinion, which counts by its bytes: a value per row or per column is read once either way, and a mask of
/// which many columns share each value is read from a cache.
template <class State>
constexpr orientation choose_orientation(const State& s, int a) {
  if (s.list.numbers.hint(s.groups[a].space.numel) == 1) return orientation::row;
  std::int64_t rows = 0, columns = 0;
  s.each_member(a, -1, [&](int m) {
    const scheduler_node& n = s.list.nodes[m];
    if (n.space.rnumel == 1) return;
    for (int k = 0; k < n.num_dependencies; ++k) {
      const dependency& d = s.list.dependencies[n.first_dependency + k];
      const access_form& f = s.list.accesses[d.own];
      bool uses_x = false, uses_r = false;
      int along_x = 0, along_r = 0;
      for (int t = 0; t < f.size; ++t) {
        const bool is_r = f.terms[t].variable == loop_var::r;
        (is_r ? uses_r : uses_x) = true;
        if (f.terms[t].coef == 1 && f.terms[t].div == 1) (is_r ? along_r : along_x) += 1;
      }
      if (uses_x && uses_r) rows += along_r * d.bytes, columns += along_x * d.bytes;
    }
  });
  return columns > rows ? orientation::column : orientation::row;
}

template <class State>
constexpr planned_kernel choose_kernel(const State& s, int a) {
  const auto& x = s.groups[a];
  planned_kernel k{static_cast<short>(a), static_cast<short>(s.num_parts(a))};
  if (s.is_joint(a)) {
    k.kind = x.how == joint::mix_order ? kernel_kind::persistent_reduction : kernel_kind::combo;
  } else if (x.has_template) {
    k.kind = s.o->matmul_template && !s.is_custom(a) ? kernel_kind::matmul_template : kernel_kind::foreign;
  } else if (x.has_reduction) {
    k.walk = choose_orientation(s, a);
    const bool on_chip =
        k.walk == orientation::row && is_static(x.space.rnumel) && x.space.rnumel <= s.o->persistent_reduction_limit;
    k.kind = scans_in_parts(s, a) ? kernel_kind::split_scan
             : on_chip            ? kernel_kind::persistent_reduction
                                  : kernel_kind::reduction;
  }
  return k;
}

/// Part i of a kernel, as a kernel of its own.
template <int Capacity>
constexpr planned_kernel choose_part(const plan<Capacity>& p, int index, int i) {
  return choose_kernel(p.fusion.state, p.fusion.state.part(p.kernels[index].group, i));
}

/// Buffers between kernels, with their life times.
template <int Capacity>
constexpr void plan_memory(plan<Capacity>& p) {
  const auto& s = p.fusion.state;
  fixed_set<Capacity> given{};  // memory of the caller's
  for (int id : s.g->outputs) given.insert(memory_of(*s.g, id));
  fixed_set<Capacity> touched[Capacity]{};  // by each kernel: buffers, whichever version of them
  short kernel_of[group_state<Capacity>::max_groups]{};
  for (int k = 0; k < p.kernels.size(); ++k) {
    kernel_of[p.kernels[k].group] = static_cast<short>(k);
    s.groups[p.kernels[k].group].buffers.each([&](int buffer) { touched[k].insert(memory_of(*s.g, buffer)); });
  }
  for (int n = 0; n < s.list.nodes.size(); ++n) {
    const int buffer = s.list.nodes[n].root;
    if (given.contains(buffer) || memory_of(*s.g, buffer) != buffer) continue;
    planned_buffer b{static_cast<short>(buffer), kernel_of[s.group_of[n]], kernel_of[s.group_of[n]]};
    for (int k = b.first + 1; k < p.kernels.size(); ++k)
      if (touched[k].contains(buffer)) b.last = static_cast<short>(k);
    if (b.last > b.first) p.buffers.push_back(b);
  }
}

template <int Capacity>
constexpr plan<Capacity> make_plan(const fusion_result<Capacity>& fusion) {
  plan<Capacity> p{fusion};
  for (short a : fusion.state.execution_order()) p.kernels.push_back(choose_kernel(fusion.state, a));
  plan_memory(p);
  return p;
}

inline constexpr std::int64_t workspace_alignment = 256;  // cudaMalloc's, and enough for every vector load

/// An intermediate buffer to be placed, and where it went.
struct placed_buffer {
  std::int64_t bytes = 0;
  short first = 0, last = 0;
  std::int64_t offset = 0;
};

/// Places `count` buffers, first fit in order of production; buffers whose lives do not overlap share memory. Returns
/// the bytes of the whole workspace. The same function at compile time and, with run-time extents, at the call.
constexpr std::int64_t lay_out(placed_buffer* buffers, int count) {
  std::int64_t total = 0;
  for (int i = 0; i < count; ++i) {
    placed_buffer& b = buffers[i];
    b.bytes = (b.bytes + workspace_alignment - 1) / workspace_alignment * workspace_alignment;
    for (bool moved = true; moved;) {
      moved = false;
      for (int j = 0; j < i; ++j) {
        const placed_buffer& other = buffers[j];
        const bool lives_meet = other.first <= b.last && b.first <= other.last;
        const bool overlap = b.offset < other.offset + other.bytes && other.offset < b.offset + b.bytes;
        if (lives_meet && overlap) b.offset = other.offset + other.bytes, moved = true;
      }
    }
    if (b.offset + b.bytes > total) total = b.offset + b.bytes;
  }
  return total;
}

/// Names as Inductor's: <kind>_fused_<user-level ops, sorted, once each>_<index>.
inline constexpr int max_name = 4096;
template <int Capacity>
constexpr text_buffer<max_name> name_kernel(const plan<Capacity>& p, int index) {
  const auto& s = p.fusion.state;
  fixed_set<Capacity> calls{};
  s.each_member(p.kernels[index].group, -1, [&](int m) { calls.insert(s.list.origins[m]); });
  text_buffer<max_name> name{};
  name.append(prefix(p.kernels[index].kind));
  name.append("_fused");
  string_view last{};
  while (true) {
    string_view next{};
    for (int i = 0; i < s.g->origins.size(); ++i) {
      const string_view candidate = s.g->origins[i].name;
      if (calls.contains(i) && (last.empty() || last < candidate) && (next.empty() || candidate < next))
        next = candidate;
    }
    if (next.empty()) break;
    name.append("_");
    name.append(next);
    last = next;
  }
  name.append("_");
  name.append(static_cast<long>(index));
  return name;
}

struct kernel_traffic {
  std::int64_t read = 0, written = 0;
};

/// Bytes a kernel moves through memory: each buffer once, at most what the loop touches. Reference: Inductor's metric.
template <int Capacity, class Value>
constexpr kernel_traffic traffic(const plan<Capacity>& p, int index, Value value) {
  const auto& s = p.fusion.state;
  const int a = p.kernels[index].group;
  std::int64_t read[Capacity]{}, written[Capacity]{};  // elements of each buffer
  const auto numel_of = [&](const extents& e) {
    std::int64_t n = 1;
    for (int d = 0; d < e.rank; ++d) n *= value(e[d]);
    return n;
  };
  const bool one_walk = s.groups[a].how == joint::mix_order;  // what both parts read is read once
  const auto count = [&](int part) {
    const bool fused = s.groups[part].size > 1;
    fixed_set<Capacity> reads{}, writes{};
    s.each_member(part, -1, [&](int m) {
      const scheduler_node& n = s.list.nodes[m];
      for (int k = 0; k < n.num_dependencies; ++k) {
        const dependency& d = s.list.dependencies[n.first_dependency + k];
        auto& counted = d.write ? writes : reads;
        if (counted.contains(d.buffer)) continue;
        const int producer = s.list.node_of(d.buffer);
        if (d.write ? !s.needed_outside(d.buffer, a) : producer >= 0 && s.contains(a, producer)) continue;
        counted.insert(d.buffer);
        std::int64_t elements = numel_of(d.write ? written_shape(*s.g, d.buffer) : s.g->shape(d.buffer));
        // What one loop touches, for each distinct access; of several loops the same where all places are computed.
        std::int64_t touched = 0;
        bool known = !fused || d.star;
        s.each_member(part, -1, [&](int other) {
          const scheduler_node& o = s.list.nodes[other];
          for (int j = 0; j < o.num_dependencies; ++j) {
            const dependency& e = s.list.dependencies[o.first_dependency + j];
            if (e.buffer != d.buffer || e.write != d.write) continue;
            known = known && e.own >= 0 && (!fused || e.star);
            if (!known) return;
            const access_form& f = s.list.accesses[e.own];
            bool uses_r = e.star;  // an index may depend on anything
            for (int i = 0; i < f.size; ++i) uses_r = uses_r || f.terms[i].variable == loop_var::r;
            touched += value(o.space.numel) * (uses_r ? value(o.space.rnumel) : 1);
          }
        });
        if (known && touched < elements) elements = touched;
        std::int64_t& total = (d.write ? written : read)[d.buffer];
        total = !one_walk ? total + elements : total < elements ? elements : total;
      }
    });
  };
  for (int i = 0; i < s.num_parts(a); ++i) count(s.part(a, i));
  kernel_traffic t{};
  for (int buffer = 0; buffer < s.g->size(); ++buffer) {  // parts may share one, or divide it among them
    if (read[buffer] == 0 && written[buffer] == 0) continue;
    const std::int64_t whole = numel_of(s.g->shape(buffer)), size = item_size((*s.g)[buffer].type);
    t.read += size * (read[buffer] < whole ? read[buffer] : whole);
    t.written += size * (written[buffer] < whole ? written[buffer] : whole);
  }
  return t;
}

}  // namespace detail
}  // namespace sinter
