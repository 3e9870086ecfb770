// Launches reductions along memory: chooses the kernel (short, held, shifted, grouped, staged, streamed, swept or
// looped), its shape, and the element-by-element variant where extents, strides or pointers do not allow wide accesses.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/atomic_number.hpp"
#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/even_fold.cuh"
#include "sinter/kernels/cuda/reduction/rows/grouped_launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped_clusters.cuh"
#include "sinter/kernels/cuda/reduction/rows/looped_teams.cuh"
#include "sinter/kernels/cuda/reduction/rows/persistent.cuh"
#include "sinter/kernels/cuda/reduction/rows/short.cuh"
#include "sinter/kernels/cuda/reduction/rows/staged.cuh"
#include "sinter/kernels/cuda/reduction/rows/streamed_launch.cuh"
#include "sinter/kernels/cuda/reduction/rows/swept_launch.cuh"
#include "sinter/kernels/two_pass.hpp"
#include "sinter/schedule/options.hpp"

namespace sinter::cuda::detail {

/// Threads is 0 where only `shape` knows. Where a shift is given, rows begin and end anywhere.
template <int Width, int Items, int Threads, int MaxBlock, int Full, class... S, class Args, class... Shift>
void launch_held(body<S...>, const Args& args, const row_shape& shape, cudaStream_t stream, const char* name,
                 const Shift&... shift) {
  using B = body<S...>;
  using phases = phase_facts<B>;
  constexpr bool shifted = sizeof...(Shift) > 0;
  static_assert(!phases::folds_evenly || (Full == Items && !shifted), "all threads hold as many values");
  constexpr held_needs needs = [] {
    held_needs n = needs_of_body<B>;
    // What is looked through twice waits, even if no later phase needs it.
    if (n.kept < 4 && phases::finds_in_values) n.kept = n.unpacked = 4;
    n.loose = Full < Items, n.shifted = shifted;
    return n;
  }();
  // What heavy arithmetic takes nobody knows; but two large blocks shall hide each other's waiting.
  constexpr int light = least_blocks(MaxBlock, Width * Items, needs);
  // Where only the launch knows how many threads there are: 64 registers for each if those suffice, or 128.
  constexpr int least = (holds_many<B> ? 1024 : 512) / MaxBlock,
                dynamic = holds_many<B> && light > least ? light : least;
  constexpr int blocks = Threads == 0 ? dynamic : phases::is_light_beside_row ? light : MaxBlock == 512 ? 2 : 1;
  const auto grid = dim3(static_cast<unsigned>((args.numel + shape.rows - 1) / shape.rows));
  const auto block = dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows));
  if constexpr (shifted)
    launch(&reduction_shifted<B, Width, Items, Threads, MaxBlock, blocks, Full, Args>, grid, block, stream, name, args,
           shift...);
  else
    launch(&reduction_persistent<B, Width, Items, Threads, MaxBlock, blocks, Full, Args>, grid, block, stream, name,
           args);
}

template <int Width, int Items, int MaxBlock, class Index, class... S, class Args>
void launch_looped(body<S...>, const Args& args, std::int64_t splits, kernel_memory& memory, cudaStream_t stream,
                   const char* name) {
  // Few channels of many pixels would leave multiprocessors idle.
  if constexpr (kernels_overlap && Width > 1 && sinter::detail::channel_facts<body<S...>>::has_phases)
    if (launch_looped_clusters<Width, Items, MaxBlock, Index>(body<S...>{}, args, stream, name)) return;
  const split_part part = share_row(args.rnumel, splits, memory, stream, name);
  row_shape shape = loop_shape(args.rnumel, Width, Items, MaxBlock);
  constexpr bool gathers = Width == 1 && sinter::detail::gathers_in_rows<body<S...>>;
  if (splits > 1) shape = {false, gathers ? static_cast<int>(sinter::detail::split_gathered_part) : MaxBlock, 1, Items};
  launch(&reduction_looped<body<S...>, Width, Items, MaxBlock, Index, Args>,
         grid_of((args.numel + shape.rows - 1) / shape.rows, splits),
         dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows)), stream, name, args, part);
}

/// Threads of a block that walks a row element by element, in indices of 64 bits; more where those wait twice, so that
/// one turn is enough for what it gathers alone.
template <class Body>
inline constexpr int narrow_block = sinter::detail::gathers_in_rows<Body> ? 512 : 256;

/// Does a row of static length have to be shifted, and can it be? Values of 16 bits are better staged, and so are rows
/// of which a multiprocessor's registers hold only one, or few of two inputs.
template <class Held, long Rnumel, bool CanSplit>
inline constexpr row_shape shifted_shape = [] {
  using phases = phase_facts<Held>;
  constexpr int width = shifted_facts<Held>::width;
  if constexpr (Rnumel < 0 || width == 0 || width > 4 || Rnumel % (width > 0 ? width : 1) == 0) {
    return row_shape{};
  } else {
    constexpr row_shape shape = choose_row(Rnumel + width - 1, width, lanes_of_shifted<Held>, CanSplit);
    constexpr held_needs needs{.kept = phases::kept_bytes, .late = phases::late_bytes, .shifted = true};
    constexpr int registers = held_registers(shape.threads, width * shape.items, needs);
    constexpr bool alone = 2 * shape.threads * registers > all_registers;
    constexpr bool few = stream_facts<Held>::loads > 1 && Rnumel > 4096;
    return (alone || few) && staged_facts<Held>::facts.possible ? row_shape{} : shape;
  }
}();

/// Are rows of whole vectors, longer than registers hold, staged too? Not where several weights come from the L2 again
/// for each row: streamed, the next row's values are on their way with them.
template <class Held, int Width, bool CanSplit>
inline constexpr bool stages_vectors = Width > 1 && !CanSplit && phase_facts<Held>::kept_bytes > 0 &&
                                       staged_facts<Held>::facts.possible&& stream_facts<Held>::shared_loads <= 1;
/// Groups of the longest row of run-time length that is held where it could be. Where more than a word of each element
/// waits, and weights too, registers are few.
template <class Held, int Width, bool CanSplit>
inline constexpr std::int64_t most_held_groups = [] {
  const bool crowded = phase_facts<Held>::kept_bytes > 4 && stream_facts<Held>::shared_loads > 0;
  return crowded && stages_vectors<Held, Width, CanSplit> ? 64 : narrow_limit;
}();

/// Elements of the longest row of run-time length that is rather held than swept, where vectors of Width fit: of those
/// in which places are looked for longer ones leave a multiprocessor too few others, and a third fold costs more than a
/// second walk. Of wider values only those that are summed.
template <class Body, class Held, int Width>
inline constexpr std::int64_t longest_held_row = [] {
  int folds = 0;
  for (int s = 0; s < Held::size; ++s) folds += phase_facts<Held>::is_reduce(s);
  if (folds > 2) return 0;
  if (Width == 8) return phase_facts<Held>::finds_place ? 20480 : 32768;
  return Width == 4 && sweeps_all<Body> ? 32768 : 0;
}();

/// Is a row of run-time length, of vectors of Width, rather swept because three in ten of the places for its groups
/// would be empty? Only what looks for places in values of 16 bits takes so long; shorter rows would leave most of a
/// sweep idle.
template <class Held, int Width>
constexpr bool leaves_places(std::int64_t rnumel) {
  using rows = dynamic_rows<Held, Width>;
  const std::int64_t groups = rnumel / Width;
  return Width == 8 && phase_facts<Held>::finds_in_values && groups > 64 &&
         5 * rows::places(groups, rows::few) > 7 * groups;
}

/// Rows of run-time length that registers hold. False: it was not launched.
template <int Width, std::int64_t MostGroups, class... S, class Args>
bool launch_dynamic_held(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using held = body<S...>;
  using rows = dynamic_rows<held, Width>;
  if constexpr (phase_facts<held>::held_bytes > 0) {
    const std::int64_t groups = args.rnumel / Width;
    const auto hold = [&]<int Items, int MaxBlock, int Full = rows::full_of(Items)>() {
      row_shape shape = row_of(groups, Items, rows::once);
      if (shape.threads == 1) shape.rows = MaxBlock;  // fewer blocks to begin
      launch_held<Width, Items, 0, MaxBlock, Full>(held{}, args, shape, stream, name);
      return true;
    };
    if (groups <= (rows::once ? 4 * rows::few : 0) || groups > MostGroups) return false;
    if constexpr (!rows::once)
      if (groups <= rows::short_groups) return hold.template operator()<rows::short_items, 256, 1>();
    if constexpr (rows::few < rows::many)
      if (!rows::takes_few(groups))
        return groups <= rows::threads * rows::many && hold.template operator()<rows::many, rows::threads>();
    return groups <= rows::threads * rows::few && hold.template operator()<rows::few, rows::threads>();
  }
  return false;
}

template <int Width, long Rnumel, int Items, int Full, class... S, class Args, class Shape>
void launch_runs(body<S...>, const Args& args, const Shape& shape, cudaStream_t stream, const char* name) {
  const int rows = shape.get().rows();
  constexpr int blocks = short_blocks<body<S...>>(Width, Width * Items);
  launch(&reduction_short<body<S...>, Rnumel, Width, Items, blocks, Full, Shape, Args>,
         dim3(static_cast<unsigned>((args.numel + rows - 1) / rows)), dim3(short_block), stream, name, args, shape);
}

/// Short rows. False: it was not launched. `fits`: wide accesses of the usual width do.
template <long Rnumel, class... S, class Args>
bool launch_short(body<S...>, const Args& args, bool fits, cudaStream_t stream, const char* name) {
  using held = body<S...>;
  using facts = short_facts<held, Rnumel>;
  if constexpr (Rnumel >= 0) {
    constexpr short_shape shape = short_of<held, Rnumel>;
    if constexpr (shape.items > 0) {
      constexpr int width = access_facts<held>::vector_width(loop_var::r, Rnumel);
      constexpr int full = full_items(Rnumel / width, shape.threads(), shape.items);
      if (!fits || !facts::holds(args)) return false;
      using fixed = fixed_short<shape.items, shape.log_threads, shape.turns, shape.apart, Rnumel>;
      launch_runs<width, Rnumel, shape.items, full>(held{}, args, fixed{}, stream, name);
      return true;
    }
  } else if constexpr (facts::facts.possible) {
    if (args.numel >= narrow_limit || args.rnumel <= 0 || args.rnumel > facts::longest || !facts::holds(args) ||
        (fits && args.rnumel * facts::facts.smallest % 16 == 0))
      return false;
    constexpr int capacity = walked_elements<held, Rnumel>, few_capacity = run_elements(facts::facts);
    using loose = loose_short<capacity>;
    const auto choose = [&](int elements) {
      return choose_loose_short(args.numel, static_cast<int>(args.rnumel), facts::width, facts::facts.largest,
                                elements);
    };
    const short_shape few = choose(few_capacity);
    if (args.rnumel <= few_elements && few.log_threads == 0) {
      const single_short<few_capacity> shape{few.turns};
      if (args.rnumel <= few_elements / 2)
        launch_runs<1, Rnumel, few_elements / 2, 1>(held{}, args, shape, stream, name);
      else launch_runs<1, Rnumel, few_elements, few_elements / 2 + 1>(held{}, args, shape, stream, name);
      return true;
    }
    const loose shape{choose(capacity)};
    if (shape.shape.items == 0) return false;
    launch_runs<facts::width, Rnumel, walked / facts::width, 0>(held{}, args, shape, stream, name);
    return true;
  }
  return false;
}

/// Rows of a static length at which no wide access may begin, but for the first one's.
template <class Held, long Rnumel, bool CanSplit>
inline constexpr bool is_loose = [] {
  constexpr auto facts = staged_facts<Held>::facts;
  return Rnumel > 0 && facts.possible && Rnumel * facts.smallest % 16 != 0 && short_of<Held, Rnumel>.items == 0 &&
         !shifted_shape<Held, Rnumel, CanSplit>.persistent;
}();

/// Rows of a static length from where they begin. False: it was not launched.
template <long Rnumel, bool CanSplit, class... S, class Args>
bool launch_shifted(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using held = sinter::body<S...>;
  constexpr row_shape shape = shifted_shape<held, Rnumel, CanSplit>;
  if constexpr (!shape.persistent || short_of<held, Rnumel>.items > 0) {
    return false;
  } else {
    constexpr int width = shifted_facts<held>::width, full = full_items(Rnumel / width, shape.threads, shape.items);
    row_shift shift;
    if (args.numel >= narrow_limit || !shifted_facts<held>::find(args, shift)) return false;
    launch_held<width, shape.items, shape.threads, shape.block(), full>(held{}, args, shape, stream, name, shift);
    return true;
  }
}

/// Are rows those of channels (channels.hpp), in narrow vectors? What is not launched so is walked: addresses of all
/// that a thread holds would take its registers.
template <class Body, int Width>
inline constexpr bool in_narrow_pieces =
    sinter::detail::channel_facts<Body>::can&& Width* access_facts<Body>::template along<loop_var::r, Width>.smallest <
    16;

/// Bytes of rows that the blocks of a multiprocessor hold in shared memory.
inline constexpr std::int64_t most_held_by_all = 224 << 10;

/// Rows that wait in shared memory, in vectors of Width. False: it was not launched.
template <int Width, class... S, class Args>
bool launch_staged(body<S...>, const Args& args, cudaStream_t stream, const char* name) {
  using held = body<S...>;
  using phases = phase_facts<held>;
  using staged = staged_facts<held>;
  if constexpr (!staged::facts.possible || staged::facts.total > 64) {
    return false;
  } else {
    if (args.numel >= narrow_limit || args.rnumel >= narrow_limit || args.rnumel * staged::facts.smallest < 32)
      return false;
    typename staged::places places;
    constexpr int others = 1536 + 2 * largest_phase<held, 32>;  // bytes that each block takes
    const device_limits limits = limits_of_device(name);
    const int most = (limits.shared_bytes + 1024) / 2 - others;  // two blocks hide each other's waiting
    const staged_shape shape = staged::template place<Width>(args, most, places);
    if (shape.warps == 0) return false;
    const int wanted = shape.rows * places.row_bytes;
    const int least_bytes = staged_thread_bytes * 32 * shape.warps * shape.rows;
    const int bytes = wanted < least_bytes ? least_bytes : wanted;
    constexpr int least = phases::is_light && phases::kept_bytes <= 4 && staged::facts.count <= 2 ? 2 : 1;
    void (*const kernel)(Args, typename staged::places) = &reduction_staged<held, Width, least, Args>;
    static constinit sinter::detail::atomic_number<std::uint64_t> asked{0};
    allow_shared_memory(reinterpret_cast<const void*>(kernel), most, asked, name);
    const int all = limits.shared_bytes + 1024;  // of a multiprocessor
    const int spare = choose_spare(all, bytes + others, places.row_bytes, places.shared_bytes);
    const shared_memory shared(bytes, spare > 0 ? 100 * (all - spare) / all : -1);
    launch(kernel, dim3(static_cast<unsigned>((args.numel + shape.rows - 1) / shape.rows)),
           dim3(static_cast<unsigned>(32 * shape.warps), static_cast<unsigned>(shape.rows)), shared, stream, name, args,
           places);
    return true;
  }
}

/// A row of elements that are gathered ahead: by one block where it asks for all of them, or by small ones, which
/// sooner find room beside the kernel in front.
template <class Body, class Args>
void reduce_gathered(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  constexpr int block = 512, items = 8, few = 256, part = 2 * few;
  if (args.rnumel <= block * items)
    return launch_looped<1, items, block, std::int64_t>(Body{}, args, 1, memory, stream, name);
  const std::int64_t parts = (args.rnumel + part - 1) / part,
                     most = sinter::detail::row_splits<Body>(args.numel, args.rnumel);
  launch_looped<1, part / few, few, std::int64_t>(Body{}, args, parts < most ? parts : most, memory, stream, name);
}

template <class Given, long StaticRnumel, row_kernel Pinned, class Args>
void reduce_rows(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using Body = typename sinter::detail::lone_row<Given>::type;
  constexpr auto may_be = [](row_kernel kind) {
    // One row is none of many.
    if (sinter::detail::is_lone_row<Given> && Pinned == row_kernel::chosen)
      return kind != row_kernel::runs && kind != row_kernel::grouped && kind != row_kernel::staged;
    return Pinned == row_kernel::chosen || Pinned == kind;
  };
  using held = typename sinter::detail::held_body<Body, StaticRnumel>::type;
  // A walk over tiles of 16-bit elements that need no guards costs less than to fold how far they are from a mean.
  constexpr bool quick_walk = StaticRnumel > 0 && StaticRnumel % 1024 == 0 && stream_facts<held>::bytes == 2;
  using long_held = typename sinter::detail::streamed_body<Body, StaticRnumel, quick_walk>::type;
  constexpr int width = access_facts<Body>::vector_width(loop_var::r, StaticRnumel);
  using resident = typename resident_body<Body, held, StaticRnumel, width>::type;
  constexpr held_lanes lanes = lanes_of_body<resident>;
  constexpr bool can_split = sinter::detail::split_facts<Body>::can_split;
  constexpr bool loose = is_loose<held, StaticRnumel, can_split>;
  // What could be split has one phase if it is not held, and is better swept or walked.
  constexpr stream_shape streamed =
      can_split || !may_be(row_kernel::streamed) ? stream_shape{} : stream_shape_of<resident, width, StaticRnumel>;
  const std::int64_t splits = sinter::detail::row_splits<Body>(args.numel, args.rnumel);
  const bool fits = args.numel < narrow_limit && args.rnumel < narrow_limit &&
                    access_facts<Body>::template fits<width, loop_var::r>(args);
  if constexpr (may_be(row_kernel::swept)) {
    // Rows of static length that registers do not hold, and of which less than three wait in shared memory.
    constexpr bool crowded = loose && 3 * StaticRnumel * stream_facts<held>::bytes > most_held_by_all;
    constexpr bool always = crowded || Pinned == row_kernel::swept;
    if constexpr (constexpr long length = always ? -1 : StaticRnumel; sweeps_rows<Body, length>) {
      const bool wide = width > 1 && fits;
      constexpr std::int64_t longest_held =
          StaticRnumel < 0 && may_be(row_kernel::held) ? longest_held_row<Body, held, width> : 0;
      // A row alone on a multiprocessor waits for itself.
      const bool alone = !wide && 2 * args.rnumel * stream_facts<held>::bytes > most_held_by_all;
      const bool sparse = longest_held > 0 && wide && leaves_places<held, width>(args.rnumel);
      const bool is_long = args.rnumel >= swept_least<Body>(wide, limits_of_device(name).fast_memory) &&
                           (!wide || args.rnumel > longest_held);
      const bool swept = splits > 1 ? sweeps_one<Body> || !wide : always || alone || sparse || is_long;
      if (swept &&
          launch_swept(typename sinter::detail::narrow_places<Body>::type{}, args, splits, memory, stream, name))
        return;
    }
  }
  if constexpr (may_be(row_kernel::runs))
    if (launch_short<StaticRnumel>(held{}, args, fits, stream, name)) return;
  if constexpr (may_be(row_kernel::held))
    if (splits <= 1 && launch_shifted<StaticRnumel, can_split>(held{}, args, stream, name)) return;
  const auto group = [&] {
    if constexpr (may_be(row_kernel::grouped)) {
      using one_phase = typename sinter::detail::streamed_body<Body, StaticRnumel>::type;
      return launch_grouped<StaticRnumel, can_split>(one_phase{}, args, memory, stream, name);
    }
    return false;
  };
  if (args.rnumel * stream_facts<held>::bytes > most_held_row_bytes && group()) return;
  if constexpr (StaticRnumel < 0 && may_be(row_kernel::held) && !in_narrow_pieces<Body, width>) {
    constexpr std::int64_t most = Pinned == row_kernel::held ? narrow_limit : most_held_groups<held, width, can_split>;
    if (fits && splits <= 1 && launch_dynamic_held<width, most>(held{}, args, stream, name)) return;
  }
  if (group()) return;
  // Static rows of 16-bit vectors that registers hold no better than those of run-time length.
  constexpr bool crowded = StaticRnumel > 0 && !loose && stream_facts<held>::bytes <= 4 &&
                           StaticRnumel / width > most_held_groups<held, width, can_split>;
  const bool in_vectors = fits && (StaticRnumel < 0 || crowded);
  if constexpr ((StaticRnumel < 0 || loose || crowded) && may_be(row_kernel::staged)) {
    using shared = sinter::detail::shared_row_facts<held>;
    const bool alone = (!streamed.any && streamed.otherwise == 0) ||
                       can_split ||  // few rows are better shared by blocks
                       sinter::detail::most_parts(args.numel, args.rnumel, shared::row_bytes) <= 1;
    // Where a multiprocessor holds less than three, they better arrive while others are reduced; but several weights
    // are waited for less by more threads.
    const bool few = streamed.width > 0 && !in_vectors && stream_facts<held>::shared_loads <= 1 &&
                     3 * args.rnumel * stream_facts<held>::bytes > most_held_by_all;
    if (splits <= 1 && alone && !few) {
      if (!in_vectors) {
        if (launch_staged<staged_facts<held>::width>(held{}, args, stream, name)) return;
      } else if constexpr (stages_vectors<held, width, can_split>) {
        if (launch_staged<width>(held{}, args, stream, name)) return;
      }
    }
  }
  if constexpr (streamed.width > 0)
    if (launch_streamed<streamed, StaticRnumel>(long_held{}, args, fits, memory, stream, name)) return;
  if constexpr (streamed.width == 0 && Pinned == row_kernel::chosen)
    if (share_walked<Body, width, StaticRnumel>(args, fits, memory, stream, name)) return;
  // What short rows' kernel does not take is walked element by element, and so is what does not suit the streamed ones.
  constexpr bool walks_wide = short_of<held, StaticRnumel>.items == 0 && streamed.width == 0;
  constexpr row_shape looped = choose_row(narrow_limit, width, lanes, can_split);
  if constexpr (StaticRnumel >= 0 && (walks_wide || Pinned != row_kernel::chosen)) {
    constexpr row_shape shape = may_be(row_kernel::held) && !in_narrow_pieces<Body, width>
                                    ? choose_row(StaticRnumel, width, lanes, can_split)
                                    : looped;
    if (fits) {
      if constexpr (shape.persistent && !loose && !shifted_shape<held, StaticRnumel, can_split>.persistent) {
        constexpr int full = full_items(StaticRnumel / width, shape.threads, shape.items);
        return launch_held<width, shape.items, shape.threads, shape.block(), full>(resident{}, args, shape, stream,
                                                                                   name);
      } else if constexpr (!shape.persistent && StaticRnumel < narrow_limit) {
        // Single elements take addresses, and registers.
        constexpr int threads = width == 1 && shape.threads > 512 ? 512 : shape.threads;
        return launch_looped<width, loop_items<Body>(shape.items, width), threads, int>(Body{}, args, splits, memory,
                                                                                        stream, name);
      }
    }
  } else if constexpr (StaticRnumel < 0 && width > 1 && walks_wide) {
    // Of what is only summed 64 bytes to a thread: short rows then have the threads that read whole lines.
    constexpr int some = items_of(lanes.some, width), walked_items = sweeps_all<Body> && some > 4 ? 4 : some;
    if (fits)
      return launch_looped<width, loop_items<Body>(can_split ? walked_items : 2, width), looped.threads, int>(
          Body{}, args, splits, memory, stream, name);
  }
  launch_looped<1, 4, narrow_block<Body>, std::int64_t>(Body{}, args, splits, memory, stream, name);
}

}  // namespace sinter::cuda::detail
