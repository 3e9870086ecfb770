// Launches reductions of rows in pieces, as of an image's channels: which channels and images a block has.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/kernel_memory.cuh"
#include "sinter/kernels/cuda/launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_channels.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_slab_launch.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_walk.cuh"

namespace sinter::cuda::detail {

/// How channels and images are shared out: `sets` of channels, of which so many `splits` have some images, or pixels;
/// and the microseconds that it takes. No sets: they cannot be.
struct channel_shape {
  channel_share share{};
  int sets = 0, splits = 1;
  double cost = 0;
};
/// What blocks can do at once: so many of them, which read a vector for each of their threads in so many microseconds;
/// and how often they come one after another at most.
struct channel_blocks {
  std::int64_t places;
  double row;
  int most_rounds;
};
/// Fitted to 1251 forms of 90 cases on an H100 (docs/performance.md). A block takes 3 us beside its rows, and 4 for as
/// many channels as it has warps and each 32 of their pixels, and blocks that meet 15 more.
constexpr channel_shape choose_channels(std::int64_t numel, int pixels, int images, int width, const row_shift& shift,
                                        std::int64_t most_splits, const channel_blocks& blocks) {
  constexpr double of_block = 3, of_pixels = 4, of_meeting = 15, of_part = 0.05;
  constexpr int warps = column_block / 32;
  const auto quotient = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  channel_shape best;
  int apart = 1;  // so that all images of a block begin in vectors alike
  while (apart * shift.step % width != 0) apart *= 2;
  for (int along = 1; along <= column_block; along *= 2) {
    const int deep = column_block / along;
    channel_share share{images, pixels, along, 1, 0, 1, deep * shift.step % width == 0 ? 1 : apart};
    const bool whole = shift.first == 0 && (share.apart > 1 || shift.step == 0) && pixels % width == 0;
    const int room = along * width - (whole ? 0 : width - 1);
    if (room >= pixels) {
      share.channels = static_cast<int>(room / pixels < numel ? room / pixels : numel);
      share.span = share.channels * pixels;
    } else {
      if (along < 32) continue;
      const std::int64_t pieces = quotient(pixels, room / width * width);
      share.span = static_cast<int>(sinter::detail::round_up(quotient(pixels, pieces), width));
      share.pieces = static_cast<int>(quotient(pixels, share.span));
    }
    const int least = share.pieces * share.apart;
    if (least > most_splits) continue;
    const std::int64_t sets = quotient(numel, share.channels), of_images = images / (deep * share.apart),
                       most = of_images * least < most_splits ? of_images : most_splits / least;
    for (int round = 0; round <= blocks.most_rounds; ++round) {
      std::int64_t parts = round * blocks.places / (sets * least);
      if (parts > most) parts = most;
      if (parts < 1) parts = 1;
      const std::int64_t splits = parts * least, rounds = quotient(sets * splits, blocks.places),
                         rows = quotient(images, parts * deep * share.apart);
      // Beside a set's vectors lie parts of others, which share their sectors.
      const double of_rows = double(rows) * blocks.row * (along + 2) / along,
                   folds = double(quotient(share.channels, warps) * quotient(pixels, 32)),
                   cost = double(rounds) * (of_rows + of_block + of_pixels * folds) +
                          (splits > 1 ? of_meeting + of_part * double(splits) : 0);
      if (best.sets == 0 || cost < best.cost) best = {share, static_cast<int>(sets), static_cast<int>(splits), cost};
    }
  }
  return best;
}

/// Are vectors of pixels aligned, and of a channel so many that the threads of a row read them as well? In several
/// phases they read them again: of slabs that costs less where pieces are short, and elements no more instructions than
/// memory leaves time for; and so few that even clusters leave most of a device idle, of many images, are walked twice.
template <class Body, long StaticRnumel, class Args>
bool reads_channels_as_rows(const Args& args) {
  constexpr int width = access_facts<Body>::vector_width(loop_var::r, StaticRnumel),
                bytes = access_facts<Body>::template along<loop_var::r, width>.smallest;
  constexpr bool again = sinter::detail::channel_facts<Body>::has_phases;
  constexpr std::int64_t least_bytes = again && bytes >= 4 ? 4096 : 128, few_channels = 8, many_images = 16;
  const std::int64_t pixels = sinter::detail::resolve(sinter::detail::pixels_of_body<Body>, args.sizes);
  return width * bytes == 16 && access_facts<Body>::template fits<width, loop_var::r>(args) &&
         pixels * bytes >= least_bytes && (!again || args.numel > few_channels || args.rnumel < many_images * pixels);
}

/// Pixels of a channel in an image; 0: there is one, or indices of 32 bits do not do.
template <class Body, class Args>
std::int64_t pixels_of_channel(const Args& args) {
  const std::int64_t pixels = sinter::detail::resolve(sinter::detail::pixels_of_body<Body>, args.sizes);
  return pixels > 1 && args.numel * pixels < narrow_limit && args.rnumel < narrow_limit ? pixels : 0;
}
/// How they are shared out where a multiprocessor runs so many blocks, which read so many vectors of Width at a time.
template <class Body, int Width, class Args>
channel_shape find_channels(const Args& args, std::int64_t pixels, const row_shift& shift, const device_limits& limits,
                            int blocks, int loads, int most_rounds) {
  const std::int64_t places = std::int64_t(limits.multiprocessors) * blocks;
  return choose_channels(args.numel, static_cast<int>(pixels), static_cast<int>(args.rnumel / pixels), Width, shift,
                         sinter::detail::channel_splits<Body>(args.numel, args.rnumel),
                         {places, limits.microseconds(double(places) * column_block * 16 * loads), most_rounds});
}
/// The images of each part.
inline split_part share_channels(const channel_shape& shape, kernel_memory& memory, cudaStream_t stream,
                                 const char* name) {
  const channel_share& share = shape.share;
  if (shape.splits == 1) return {share.images};
  const std::int64_t alike = column_block / share.along * share.apart,
                     parts = shape.splits / (share.apart * share.pieces);
  return share_columns(share.channels, sinter::detail::round_up((share.images + parts - 1) / parts, alike),
                       shape.splits, shape.sets, column_block, memory, stream, name);
}

/// Channels of one phase. False: nothing was launched.
template <class Body, class Args>
bool launch_channels(const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using walked = walking_body<Body>;
  using accesses = column_accesses_of<typename sinter::detail::channel_facts<Body>::moving>;
  constexpr int width = accesses::template width_for<false>(all_state_bytes<walked>), loads = accesses::loads(width);
  if constexpr (width == 0) {
    return false;
  } else {
    using walk = column_walk<walked, width, loads>;
    // What columns of channels take besides leaves no room for many words.
    constexpr int held = width * held_of_column<typename sinter::detail::channel_facts<walked>::columns>;
    constexpr int blocks = walk::blocks > 2 && walk::words + held >= 16 ? 2 : walk::blocks, most_rounds = 4;
    const std::int64_t pixels = pixels_of_channel<Body>(args);
    row_shift shift;
    if (pixels == 0 || !accesses::template find<width>(args, shift)) return false;
    const device_limits limits = limits_of_device(name);
    const channel_shape shape =
        find_channels<Body, width>(args, pixels, shift, limits, column_blocks_at_once(blocks), loads, most_rounds);
    if (shape.sets == 0) return false;
    const split_part part = share_channels(shape, memory, stream, name);
    const std::int64_t rows = part.length * shape.share.along / (column_block * shape.share.apart);
    launch(start_of_columns<Args>(std::int64_t(shape.sets) * shape.splits, blocks, limits.multiprocessors, rows),
           &reduction_channels<walked, width, walk::items, blocks, Args>,
           dim3(static_cast<unsigned>(shape.sets), static_cast<unsigned>(shape.splits)), dim3(column_block), 0, stream,
           name, args, part, shape.share, shift);
    return true;
  }
}

/// Channels of several phases, whose images wait in shared memory as slabs of columns do (column_slabs.cuh), in rows of
/// so many bytes at least. False: nothing was launched.
template <class Body, long StaticRnumel, class Args>
bool launch_channel_slabs(const Args& args, int least_row, cudaStream_t stream, const char* name) {
  using slab = typename sinter::detail::channel_facts<slab_body<Body, StaticRnumel>>::columns;
  using facts = column_slab_facts<slab>;
  if constexpr (facts::can && kernels_overlap) {
    const std::int64_t pixels = pixels_of_channel<Body>(args);
    if (pixels == 0) return false;
    Args columns = args;
    columns.numel = args.numel * pixels;
    if (facts::inner(columns) != columns.numel) return false;
    slab_columns all = find_slabs<slab>(columns, columns.numel, args.rnumel / pixels, limits_of_device(name));
    all.pixels = static_cast<int>(pixels), all.least_row = least_row;
    const column_slab_choice choice = choose_slabs(facts{}, all);
    if (choice) launch_slabs_as<slab, true>(choice, all, columns, stream, name);
    return static_cast<bool>(choice);
  }
  return false;
}

/// Channels of a phase that reduces and one that stores, whose images are walked twice. False: nothing was launched.
template <class... S, class Args>
bool launch_channels_twice(body<S...>, const Args& args, kernel_memory& memory, cudaStream_t stream, const char* name) {
  using Body = sinter::body<S...>;
  using channels = sinter::detail::channel_facts<Body>;
  using accesses = column_accesses_of<typename channels::moving>;
  constexpr int states = all_state_bytes<typename without_known<Body>::type>,
                width = sinter::detail::reads_columns_twice<Body> ? accesses::template width_for<true>(states) : 0;
  if constexpr (width == 0) {
    return false;
  } else {
    // All blocks run at once: those that wait for each other must not come one after another.
    constexpr int items = known_items<typename channels::columns, width>, blocks = 2, most_rounds = 1;
    const std::int64_t pixels = pixels_of_channel<Body>(args);
    row_shift shift;
    if (pixels == 0 || !sinter::detail::walks_channels_twice<Body>(args.rnumel) ||
        !accesses::template find<width>(args, shift))
      return false;
    const device_limits limits = limits_of_device(name);
    const std::int64_t places = std::int64_t(limits.multiprocessors) * blocks, images = args.rnumel / pixels,
                       columns = args.numel * pixels;
    const channel_shape shape =
        find_channels<Body, width>(args, pixels, shift, limits, blocks, accesses::loads(width), most_rounds);
    if (shape.sets == 0) return false;
    const std::int64_t units = std::int64_t(shape.sets) * shape.splits;
    split_part part = share_channels(shape, memory, stream, name);
    part.states = memory.states();
    if (units > places) part.combiners = 1;  // of more, nobody waits for what a block does later
    const known_share known = share_known(width, items, columns + width - 1, images, places,
                                          memory.counters(stream, name) + shape.sets);  // behind those of the sets
    const std::int64_t chunks = std::int64_t(known.sets) * known.chunks, wanted = units > chunks ? units : chunks;
    launch(start_rule::together, &reduction_channels_twice<Body, width, items, blocks, Args>,
           dim3(static_cast<unsigned>(wanted < places ? wanted : places)), dim3(column_block), 0, stream, name, args,
           part, shape.share, shape.sets, known, shift);
    return true;
  }
}

/// Rows in pieces, if there are any, and are better seen as channels. False: nothing was launched.
template <class Body, long StaticRnumel, class Args>
bool reduce_channels([[maybe_unused]] const Args& args, [[maybe_unused]] kernel_memory& memory,
                     [[maybe_unused]] cudaStream_t stream, [[maybe_unused]] const char* name) {
  using channels = sinter::detail::channel_facts<Body>;
  if constexpr (channels::folds || channels::has_phases)
    if (reads_channels_as_rows<Body, StaticRnumel>(args)) return false;
  if constexpr (channels::folds) return launch_channels<Body>(args, memory, stream, name);
  // The copy engine takes too few of shorter rows.
  else if constexpr (channels::has_phases)
    return launch_channel_slabs<Body, StaticRnumel>(args, least_slab_row, stream, name) ||
           launch_channels_twice(Body{}, args, memory, stream, name) ||
           launch_channel_slabs<Body, StaticRnumel>(args, 64, stream, name);
  else return false;
}

}  // namespace sinter::cuda::detail
