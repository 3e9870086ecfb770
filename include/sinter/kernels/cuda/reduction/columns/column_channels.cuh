// Rows in pieces that lie between those of other rows (channels.hpp): images are walked as the rows of columns that
// begin anywhere (column_shifted.cuh), and what a channel's pixels fold to is combined by a warp.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/channels.hpp"
#include "sinter/kernels/cuda/reduction/columns/column_shifted.cuh"
#include "sinter/kernels/cuda/reduction/columns/column_twice.cuh"

namespace sinter::cuda {

/// Channels of `pixels` pixels each in every one of so many images. A block's threads, `along` of which take vectors of
/// an image, have `span` columns: all pixels of some channels, or one of so many `pieces` of one. Of images that begin
/// in vectors differently a block has every so many-th, if they are `apart`.
struct channel_share {
  int images, pixels, along, channels, span, pieces, apart;
};

namespace detail {

/// What `count` columns of the block from `first` on fold to, in all lanes.
template <bool Wanted, int I, class S, int Width, class Body, class Accumulators>
__device__ __forceinline__ void fold_pixels(Accumulators& acc, unsigned char* storage, int first, int count, int along,
                                            int leads, const row_shift& shift) {
  if constexpr (Wanted) {
    using fold = reduction_of<S>;
    auto& all = lanes_of<I>(acc)[0];
    typename fold::state own = fold::init();
    for (int p = static_cast<int>(threadIdx.x) % 32; p < count; p += 32) {
      find_column<Wanted, I, S, Width, Body>(acc, storage, first + p, along, leads, shift);
      own = fold::combine(own, all);
    }
    all = fold::across(own, combined_lanes{32});
  }
}

/// Set number `set` of channels, or part number `split` of them: a piece of the pixels of some of the images.
template <int Width, int Items, class... S, std::size_t... I, class Args>
__device__ __forceinline__ void fold_channels(body<S...> body, std::index_sequence<I...> numbers, const Args& args,
                                              const split_part& part, const channel_share& share, row_shift shift,
                                              int set, int split, unsigned char* storage) {
  using B = sinter::body<S...>;
  using columns = typename sinter::detail::channel_facts<B>::columns;
  const int thread = static_cast<int>(threadIdx.x), piece = split % share.pieces, of_images = split / share.pieces,
            beside = of_images % share.apart, top = static_cast<int>(of_images / share.apart * part.length),
            stop = static_cast<int>(top + part.length < share.images ? top + part.length : share.images);
  const std::int64_t first = static_cast<std::int64_t>(set) * share.channels;
  const std::int64_t end = first + share.channels < args.numel ? first + share.channels : args.numel;
  const int first_column = static_cast<int>(first) * share.pixels + piece * share.span,
            past_channels = static_cast<int>(end) * share.pixels,
            end_column = first_column + share.span < past_channels ? first_column + share.span : past_channels,
            pixels = (end_column - first_column) / static_cast<int>(end - first);
  shift.first += first_column;
  if (share.apart > 1) shift.first += beside * shift.step, shift.step = 0;
  Args all_pixels = args;
  all_pixels.numel = args.numel * share.pixels;
  accumulators<columns, Width> acc;
  walk_columns<columns, Width, Items>(acc, all_pixels, share.images, share.along, shift, first_column, end_column,
                                      top + beside, stop, share.apart);
  const int leads = combine_leads<Width>(columns{}, numbers, acc, share.along, shift, storage);
  for (int c = thread / 32; c < end - first; c += column_block / 32) {
    accumulators<B, 1> one;
    (fold_pixels<has_state<S>, static_cast<int>(I), S, Width, B>(one, storage, c * pixels, pixels, share.along, leads,
                                                                 shift),
     ...);
    if (thread % 32 > 0) continue;
    if (part.splits > 1) publish_columns<1>(body, numbers, one, part, args.numel, first + c, split);
    else finish_single_column(body, numbers, args, one, part, first + c);
  }
  if (part.splits > 1) meet_columns(body, numbers, args, part, args.numel, {set, first, end}, thread, storage);
}

}  // namespace detail

/// blockIdx.y is the part of a set that is split.
template <class Body, int Width, int Items, int MinBlocks, class Args>
__global__ void __launch_bounds__(detail::column_block, MinBlocks)
    reduction_channels(const Args args, const split_part part, const channel_share share,
                       const detail::row_shift shift) {
  if constexpr (!detail::folds_ahead<Args>) detail::begin_kernel<Args::next_reads_ahead>();
  alignas(16) __shared__ unsigned char storage[detail::shifted_storage<Body, Width>];
  detail::fold_channels<Width, Items>(Body{}, std::make_index_sequence<Body::size>{}, args, part, share, shift,
                                      static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), storage);
}

namespace detail {

/// The states of channels, for each of their columns.
struct known_channels : known_columns {
  int pixels;
  __device__ __forceinline__ int of(int x) const { return known_columns::of(x < 0 ? 0 : x / pixels); }
};

}  // namespace detail

/// Channels of a phase that reduces and one that stores, and more than the chip holds: blocks that all run at once walk
/// all images, meet, and walk them again for the elements, in `known`.
template <class Body, int Width, int Items, int MinBlocks, class Args>
__global__ void __launch_bounds__(detail::column_block, MinBlocks)
    reduction_channels_twice(const Args args, const split_part part, const channel_share share, const int sets,
                             const known_share known, const detail::row_shift shift) {
  detail::begin_kernel<Args::next_reads_ahead>();
  using first = typename detail::without_known<Body>::type;
  using columns = typename sinter::detail::channel_facts<Body>::columns;
  alignas(16) __shared__ unsigned char storage[detail::shifted_storage<first, Width>];
  const int blocks = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
  for (int unit = block; unit < sets * part.splits; unit += blocks) {
    detail::fold_channels<Width, detail::reduced_items<columns, Width>>(
        first{}, std::make_index_sequence<first::size>{}, args, part, share, shift, unit % sets, unit / sets, storage);
    __syncthreads();
  }
  detail::meet_all(known.counter);
  const int channels = static_cast<int>(args.numel);
  const detail::known_channels results{{detail::whole_of(part, args.numel, first{}).states, channels}, share.pixels};
  Args pixels = args;
  pixels.numel = args.numel * share.pixels;
  detail::walk_chunks<Body, columns, Width, Items>(args, pixels, results, share.images, known, shift);
}

}  // namespace sinter::cuda
