// How rows that are streamed through shared memory are shared out among blocks that stay and go from row to row, and
// what of a body is streamed. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/kernels/cuda/statements.cuh"

namespace sinter::cuda {

/// `teams` teams of `parts` blocks take one row after another, of which each warp has up to `pieces` pieces of `tiles`
/// tiles, and `slots` places for them. A part that the places hold is read once, others once in every phase.
/// In turn: a team of one block takes the next row that nobody has, `ahead` rows before it comes to it (0: not so).
struct stream_share {
  unsigned* counters = nullptr;
  int slots = 1, pieces = 1, tiles = 1, parts = 1, teams = 1, ahead = 0;
  int cluster = 1;  // blocks of a team that tell each other their states beside memory: all of them, or one
  SINTER_HOST_DEVICE constexpr bool stays() const { return pieces <= slots; }
};

namespace detail {

/// Bytes of an element of accesses to whole rows, neighbour after neighbour; of others 0.
template <class T, class At>
inline constexpr int bytes_along_rows =
    row_place<At>::facts.plain&& row_place<At>::facts.along_r&& row_place<At>::facts.along_x
        ? static_cast<int>(sizeof(T))
        : 0;
/// Which loads are streamed.
template <class S>
inline constexpr int streamed_bytes = 0;
template <int Slot, class T, class At>
inline constexpr int streamed_bytes<load<Slot, T, At, -1>> = bytes_along_rows<T, At>;
/// Bytes of an element of what all rows share, if it is read element by element.
template <class S>
inline constexpr int shared_bytes = 0;
template <int Slot, class T, class At>
inline constexpr int shared_bytes<load<Slot, T, At, -1>> =
    shifted_access<load<Slot, T, At, -1>>::along_r && !shifted_access<load<Slot, T, At, -1>>::moves
        ? static_cast<int>(sizeof(T))
        : 0;
template <class Body>
struct stream_facts;
template <class... S>
struct stream_facts<body<S...>> {
  static constexpr int loads = ((streamed_bytes<S> > 0) + ... + 0);
  /// Bytes per element of the streamed loads before statement s, if any.
  SINTER_HOST_DEVICE static constexpr int bytes_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s ? streamed_bytes<S> : 0), ...);
    return total;
  }
  SINTER_HOST_DEVICE static constexpr int loads_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s && streamed_bytes<S> > 0), ...);
    return total;
  }
  static constexpr int bytes = bytes_before(sizeof...(S));
  SINTER_HOST_DEVICE static constexpr bool streams(int s) { return bytes_before(s + 1) > bytes_before(s); }
  /// The copy engine takes multiples of 16 bytes.
  static constexpr bool whole_vectors(int width) { return bytes > 0 && ((streamed_bytes<S> * width % 16 == 0) && ...); }
  /// What all rows share, element by element.
  SINTER_HOST_DEVICE static constexpr bool is_shared(int s) {
    int i = 0;
    bool shared = false;
    ((shared = shared || (i++ == s && shifted_access<S>::along_r && !shifted_access<S>::moves)), ...);
    return shared;
  }
  SINTER_HOST_DEVICE static constexpr int shared_before(int s) {
    int i = 0, total = 0;
    ((total += i++ < s && shifted_access<S>::along_r && !shifted_access<S>::moves), ...);
    return total;
  }
  static constexpr int shared_loads = ((shifted_access<S>::along_r && !shifted_access<S>::moves) + ... + 0);
  static constexpr bool has_shared = shared_loads > 0;
};

/// Which rows a block takes: every so many-th; or, in turn, some of those and then whichever is next. Multiprocessors
/// are not equally far from memory: with as many rows for each, some are done a tenth before others.
class row_order {
 public:
  __device__ __forceinline__ row_order(const stream_share& share, int rows, int* queue)
      : share_(share), rows_(rows), queue_(queue) {}
  __device__ __forceinline__ int first() const { return static_cast<int>(blockIdx.x) / share_.parts; }
  /// The row that follows the turn-th, which is `row`. In turn: the next `ahead` are known after the first phase's
  /// barrier.
  __device__ __forceinline__ int after(int row, int turn) const {
    return turn + 1 < share_.ahead || share_.ahead == 0 ? row + share_.teams : queue_[(turn + 1) % queue_length];
  }
  /// For the first thread, as a row begins: the answer takes a microsecond. Each block is refused once, and with the
  /// last refusal the counter is at zero again.
  __device__ __forceinline__ void ask() {
    if (share_.ahead > 0 && threadIdx.x == 0 && last() < rows_)
      answer_ = atomicInc(share_.counters, static_cast<unsigned>(rows_ - (share_.ahead - 1) * share_.teams - 1));
  }
  /// Once, in the turn-th row, before the barrier of its first phase.
  __device__ __forceinline__ void pass_on(int turn) const {
    if (share_.ahead > 0 && threadIdx.x == 0) queue_[(turn + share_.ahead) % queue_length] = last();
  }
  static constexpr int most_ahead = 3, queue_length = most_ahead + 1;

 private:
  /// The row that was asked for last.
  __device__ __forceinline__ int last() const { return share_.ahead * share_.teams + static_cast<int>(answer_); }

  const stream_share& share_;
  int rows_;
  int* queue_;
  unsigned answer_ = 0;
};

}  // namespace detail
}  // namespace sinter::cuda
