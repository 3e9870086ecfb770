// Launches several loops as one kernel: each part's variant, its share of the blocks, and which parts are of one type.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include "sinter/kernels/combo.hpp"
#include "sinter/kernels/cuda/combo.cuh"
#include "sinter/kernels/cuda/reduction/launch.cuh"

namespace sinter::cuda {

namespace detail {

/// Where a part's states and counters begin: after those of the parts before.
struct combo_memory {
  kernel_memory& memory;
  cudaStream_t stream;
  const char* name;  // the kernel's, for errors
  workspace_size used{};

  template <class Loop, class Args>
  split_part give(split_part part, const Args& args) {
    if (part.splits > 1) {
      part.counters += used.counters / 4;
      part.states = static_cast<unsigned char*>(part.states) + used.states;
    }
    part.combiners = 1;  // that wait for nobody: others' blocks may come in between
    used = used + Loop::workspace(args.numel, args.rnumel);
    return part;
  }
};

/// A loop's device code, and how it runs for given arguments: place returns the number of its blocks.
template <class Loop>
struct combo_loop;

template <class Body, long Numel>
struct combo_loop<pointwise_loop<Body, Numel>> {
  static constexpr int width = access_facts<Body>::vector_width(loop_var::x, -1);
  using part = combo_pointwise<Body, width, (Numel < 0 || Numel >= narrow_limit)>;

  template <class Args>
  static std::int64_t place(const Args& args, combo_memory&, combo_place& at) {
    if (args.numel <= 0) return 0;
    const bool is_short = args.numel < narrow_limit;
    Args whole = args;
    whole.numel -= args.numel % width;
    const bool wide = width > 1 && is_short && access_facts<Body>::template fits<width, loop_var::x>(whole);
    at.variant = wide ? combo_variant::wide : is_short ? combo_variant::narrow : combo_variant::narrow_long;
    const std::int64_t elements = wide ? part::template elements<width> : part::template elements<1>;
    return wide ? (whole.numel + elements - 1) / elements + (whole.numel < args.numel)
                : (args.numel + elements - 1) / elements;
  }
};

constexpr int power_of_two(int n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}

template <class Body, long Rnumel, long Numel>
struct combo_loop<reduction_loop<Body, orientation::row, Rnumel, Numel>> {
  using loop = reduction_loop<Body, orientation::row, Rnumel, Numel>;
  static constexpr int width = access_facts<Body>::vector_width(loop_var::r, Rnumel);
  static constexpr held_lanes lanes = lanes_of_body<Body>;
  static constexpr bool can_split = sinter::detail::split_facts<Body>::can_split;
  static constexpr row_shape looped = choose_row(narrow_limit, width, lanes, can_split);
  static constexpr row_shape held = choose_row(Rnumel < 0 ? narrow_limit : Rnumel, width, lanes, can_split);
  static constexpr bool persistent = held.persistent && held.threads <= combo_block;
  static constexpr int along = persistent ? power_of_two(held.threads, combo_block) : 0;
  static constexpr int items = persistent ? held.items : looped.items;
  using part = combo_rows<Body, width, items, along, (along > 0 ? full_items(Rnumel / width, along, items) : 0)>;

  template <class Args>
  static std::int64_t place(const Args& args, combo_memory& of, combo_place& at) {
    if (args.numel <= 0) return 0;
    const bool wide = args.numel < narrow_limit && args.rnumel < narrow_limit &&
                      access_facts<Body>::template fits<width, loop_var::r>(args);
    const std::int64_t splits = sinter::detail::row_splits<Body>(args.numel, args.rnumel);
    at.variant = wide ? combo_variant::wide : combo_variant::narrow_long;
    at.part = of.template give<loop>(share_row(args.rnumel, splits, of.memory, of.stream, of.name), args);
    const row_shape shape = wide ? loop_shape(args.rnumel, width, items, combo_block)
                                 : loop_shape(args.rnumel, 1, part::narrow_items, combo_block);
    at.along = wide && persistent ? along : splits > 1 ? combo_block : power_of_two(shape.threads, combo_block);
    const int rows = combo_block / at.along;
    return (args.numel + rows - 1) / rows * splits;
  }
};

template <class Body, long Rnumel, long Numel>
struct combo_loop<reduction_loop<Body, orientation::column, Rnumel, Numel>> {
  using loop = reduction_loop<Body, orientation::column, Rnumel, Numel>;
  static constexpr int width = column_width<Body>(Numel);
  using part = combo_columns<Body, width>;

  template <class Args>
  static std::int64_t place(const Args& args, combo_memory& of, combo_place& at) {
    if (args.numel <= 0) return 0;
    const bool wide = args.numel < narrow_limit && args.rnumel < narrow_limit &&
                      access_facts<Body>::template fits<width, loop_var::x>(args);
    const std::int64_t splits =
        sinter::detail::split_facts<Body>::can_split ? num_splits(orientation::column, args.numel, args.rnumel) : 1;
    const std::int64_t groups = args.numel / (wide ? width : 1);
    at.variant = wide ? combo_variant::wide : combo_variant::narrow_long;
    at.along = threads_for(groups < 32 ? groups : 32);
    const std::int64_t tiles = (groups + at.along - 1) / at.along;
    const column_shape shape{
        .along = at.along, .span = at.along * (wide ? width : 1), .tiles = tiles, .splits = splits};
    at.part =
        of.template give<loop>(share_columns(args.numel, args.rnumel, shape, of.memory, of.stream, of.name), args);
    return tiles * splits;
  }
};

/// A part's type, arguments and number, to find those that are alike.
template <class Part, class Args>
struct combo_item {};
template <class Item>
inline constexpr char identity_of = 0;

template <int N>
struct combo_layout {
  int num_runs = 0;
  int head[N]{};      // the first part of each run
  int count[N]{};     // the parts of each run
  int run[N]{};       // of each part
  int position[N]{};  // of each part in its run
};
template <class... Item>
constexpr combo_layout<sizeof...(Item)> lay_out_runs() {
  constexpr int n = sizeof...(Item);
  const char* const identities[] = {&identity_of<Item>...};
  combo_layout<n> l{};
  for (int i = 0; i < n; ++i) {
    int r = 0;
    while (r < l.num_runs && identities[l.head[r]] != identities[i]) ++r;
    if (r == l.num_runs) l.head[l.num_runs++] = i;
    l.run[i] = r;
    l.position[i] = l.count[r]++;
  }
  return l;
}

template <int I, class Item>
struct numbered_item {};
template <class Numbers, class... Item>
struct item_list;
template <std::size_t... I, class... Item>
struct item_list<std::index_sequence<I...>, Item...> : numbered_item<static_cast<int>(I), Item>... {};
template <int Count, int I, class Part, class Args>
combo_run<Part, Args, Count> run_type(const numbered_item<I, combo_item<Part, Args>>&);

template <class... Run>
void launch_combo(const combo_arguments<Run...>& all, std::int64_t blocks, cudaStream_t stream, const char* name) {
  constexpr std::int64_t most = 0x7fffffff;
  const std::int64_t y = (blocks + most - 1) / most;
  launch(&sinter::cuda::combo_loops<Run...>,
         dim3(static_cast<unsigned>((blocks + y - 1) / y), static_cast<unsigned>(y)), dim3(combo_block), stream, name,
         all);
}

template <class... Item>
struct combo_launcher {
  static constexpr combo_layout<sizeof...(Item)> layout = lay_out_runs<Item...>();
  using items = item_list<std::make_index_sequence<sizeof...(Item)>, Item...>;
  template <std::size_t R>
  using run = decltype(run_type<layout.count[R], layout.head[R]>(items{}));

  template <std::size_t... R>
  static combo_arguments<run<R>...> make(std::index_sequence<R...>);
  using arguments = decltype(make(std::make_index_sequence<static_cast<std::size_t>(layout.num_runs)>{}));

  template <int I, class Loop, class Args>
  static void place(arguments& all, std::int64_t* blocks, const Args& args, combo_memory& of) {
    constexpr int r = layout.run[I], position = layout.position[I];
    auto& mine = static_cast<run<static_cast<std::size_t>(r)>&>(all);
    mine.args[position] = args;
    int before = position;
    for (int k = 0; k < r; ++k) before += layout.count[k];
    blocks[before] = combo_loop<Loop>::place(args, of, mine.at[position]);
  }
};

template <class... Loop, std::size_t... I, class... Args>
void place_and_launch(std::index_sequence<I...>, combo_memory of, const Args&... args) {
  using launcher = combo_launcher<combo_item<typename combo_loop<Loop>::part, Args>...>;
  typename launcher::arguments all{};
  std::int64_t blocks[sizeof...(Loop)]{}, total = 0;
  (launcher::template place<static_cast<int>(I), Loop>(all, blocks, args, of), ...);
  for (std::size_t i = 0; i < sizeof...(Loop); ++i) all.first[i] = total, total += blocks[i];
  all.first[sizeof...(Loop)] = total;
  if (total > 0) launch_combo(all, total, of.stream, of.name);
}

}  // namespace detail

/// Runs each loop over its arguments, in one launch. `memory`: the sum of its reductions' workspaces, 16-byte aligned.
/// `name` is the kernel's.
template <class... Loop, class... Args>
void combo(kernel_memory& memory, cudaStream_t stream, const char* name, const Args&... args) {
  detail::place_and_launch<Loop...>(std::index_sequence_for<Loop...>{}, {memory, stream, name}, args...);
}

}  // namespace sinter::cuda
