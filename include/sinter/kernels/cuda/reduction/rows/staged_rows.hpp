// Rows that begin and end anywhere in memory: they are moved through shared memory as a whole, where their elements are
// taken one by one, or two of 16 bits, neighbours by neighbouring lanes; longer ones than registers hold, where all of
// them begin at multiples of 16 bytes, in vectors. Where they lie and how many warps share a row is decided here; the
// kernel is staged.cuh. No CUDA header is needed here.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/reduction/rows/short_rows.hpp"

namespace sinter::cuda {

/// Where a row lies in its part of the shared memory: for each access there is a place, so many bytes from the
/// beginning.
template <int Count>
struct staged_places {
  int at[Count > 0 ? Count : 1]{};
  int row_bytes = 0;
  std::int64_t shared_bytes = 0;  // of what all rows share
  detail::row_shift shift;        // of what moves with the row; the others lie as rows do that are not shifted, or not
};

namespace detail {

/// Elements of a warp's tile; of rows that vectors fit as many as are 1 KB, so that much of what all rows share is on
/// its way at once.
inline constexpr int staged_lanes = 256, staged_tile = 1024;
/// Threads of a block at most: of two, each has 48 registers; fewer where registers come in pairs.
template <class Body>
inline constexpr int staged_block = has_doubles<Body> ? 384 : 640;
/// Shared memory for each thread at least. It leaves out a fifth of those that a multiprocessor could run: with all of
/// them row sums of 1001 columns took twice as long.
inline constexpr int staged_thread_bytes = 132;

/// What lies between two places, in elements: room for 16 bytes in which a row begins, and in which it ends.
inline constexpr int staged_gap = 32;

struct staged_shape {
  int warps = 1, rows = 1;  // of a row; of a block
  int resident = 0;         // elements, and room to the next 16
};
/// A warp takes up to 4 KB: enough of them are then on a multiprocessor when its memory is full. `bytes`: of an
/// element; `most`: elements that a block has room for; `threads`: of a block. Of a longer row a quarter of the room
/// changes.
constexpr staged_shape choose_staged(std::int64_t length, int bytes, int lanes, int most, int threads) {
  if (length + 15 + staged_gap > most) return {0, 0};
  const int whole = static_cast<int>(length), tiles = (whole + lanes - 1) / lanes;
  int warps = (whole * bytes + 4095) / 4096;
  if (warps > tiles) warps = tiles;
  if (warps > threads / 32) warps = threads / 32;
  const int turns = (tiles + warps - 1) / warps;
  warps = (tiles + turns - 1) / turns;
  const int resident = (whole + 15) & ~15;
  int rows = warps < short_warps ? short_warps / warps : 1;
  if (rows * (resident + staged_gap) > most) rows = 1;
  return {warps, rows, resident};
}

/// Bytes of a multiprocessor's shared memory that its rows leave to the L1, which has so many in any case: weights that
/// do not stay there come from the L2 again with each row. Not where too few rows would be left, and without weights
/// some lengths lose.
inline constexpr int least_l1 = 28 * 1024;
constexpr int choose_spare(int shared, int block, int row, std::int64_t weights) {
  for (const int spare : {64 * 1024, 96 * 1024})
    if (weights > 0 && weights <= least_l1 + spare - 4096 && (shared - spare) / block >= (weights > row ? 2 : 4))
      return spare;
  return 0;
}

template <class Body>
struct staged_facts;
template <class... S>
struct staged_facts<body<S...>> {
  using B = body<S...>;
  static constexpr int size = sizeof...(S);
  static constexpr auto facts = short_facts<B, any_pitch>::facts;
  using places = staged_places<facts.count>;

  /// Elements that are taken at once; of two all accesses begin with the same one.
  static constexpr int width = short_facts<B, any_pitch>::width;

  /// Elements of a tile that is taken in vectors of so many.
  static constexpr int lanes(int of) { return of > width ? staged_tile / facts.largest : staged_lanes; }

  /// Stores take a load's place if the two are alike in 16 bytes.
  static constexpr auto stores = short_facts<B, any_pitch>::stores;

  /// Shares out `most` bytes of shared memory, or as few as suffice; no warps: these rows cannot be moved like this.
  template <int Width, class Args>
  static staged_shape place(const Args& args, int most, places& p) {
    struct {
      int lead = 0, step = 0;
    } where[size + 1]{};  // of a row in 16 bytes, and from it to the next
    bool possible = true, any = false;
    int s = 0, own[size + 1]{}, total = 0;  // bytes of an element that no load has a place for
    [[maybe_unused]] const auto number = [&](long n) { return sinter::detail::resolve(n, args.sizes); };
    const auto take_in = [&]<class Access>(Access) {
      if constexpr (Access::along_r && !Access::moves) {
        const auto first = reinterpret_cast<std::uintptr_t>(args.pointers[Access::slot]) +
                           static_cast<std::uintptr_t>(number(Access::place.offset) * Access::bytes);
        p.shift.others_aligned = p.shift.others_aligned && first % (width * Access::bytes) == 0;
        p.shared_bytes += args.rnumel * Access::bytes;
      }
      if constexpr (Access::moves) {
        if (facts.bytes[s] > 0) {
          const auto address = reinterpret_cast<std::uintptr_t>(args.pointers[Access::slot]);
          const std::int64_t pitch = number(Access::place.pitch);
          possible = possible && (pitch * Access::bytes >= 16 || args.numel == 1) && address % Access::bytes == 0;
          where[s] = {static_cast<int>(
                          (static_cast<std::int64_t>(address) + number(Access::place.offset) * Access::bytes) & 15),
                      static_cast<int>((pitch * Access::bytes) & 15)};
          const int before = where[s].lead / Access::bytes % width, step = where[s].step / Access::bytes % width;
          possible = possible && (!any || (before == p.shift.first && step == p.shift.step));
          p.shift.first = before, p.shift.step = step, any = true;
          const int load = stores.over[s];
          const bool over = load >= 0 && where[load].lead == where[s].lead && where[load].step == where[s].step;
          own[s] = over ? 0 : Access::bytes;
          total += own[s];
        }
      }
      ++s;
    };
    (take_in(shifted_access<S>{}), ...);
    if (!possible || total == 0) return {0, 0};
    const staged_shape shape = choose_staged(args.rnumel, total, lanes(Width), most / total, staged_block<B>);
    const int elements = shape.resident + staged_gap;
    for (int k = 0; k < size; ++k) {
      if (facts.bytes[k] == 0) continue;
      p.at[facts.number[k]] = own[k] > 0 ? p.row_bytes : p.at[facts.number[stores.over[k]]];
      p.row_bytes += own[k] * elements;
    }
    return shape;
  }
};

}  // namespace detail
}  // namespace sinter::cuda
