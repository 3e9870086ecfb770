// How the host kernels use the machine's cores: one pool of threads, started when first needed, and parallel_for.
// Which pieces a loop falls into is the caller's matter; who runs a piece never changes a result. POSIX threads:
// <thread> and <condition_variable> bring streams along, and cost each translation unit of nvcc half a second.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <type_traits>

#include "sinter/base/atomic_number.hpp"

namespace sinter::cpu {

/// The number of threads a kernel uses when its `threads` argument is 0.
inline int default_threads() {
  static const int count = [] {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : static_cast<int>(cores);
  }();
  return count;
}

namespace detail {

/// One parallel_for in flight; lives on its caller's stack. `seats` and `inside` belong to the pool's mutex.
struct job {
  void (*invoke)(void*, std::int64_t, std::int64_t);
  void* context;
  std::int64_t end, grain;
  sinter::detail::atomic_number<std::int64_t> next;
  int seats;       // workers that may still join
  int inside = 0;  // workers that have joined and not left
  job* link = nullptr;

  void work() {
    for (;;) {
      const std::int64_t first = next.fetch_add(grain);
      if (first >= end) return;
      invoke(context, first, end - first < grain ? end : first + grain);
    }
  }
};

/// True while this thread runs a piece of some parallel_for: loops inside it are serial.
inline thread_local bool inside_piece = false;

/// Never destroyed, its threads detached: nothing to join at exit, where a forked child would wait for threads that it
/// does not have.
class thread_pool {
 public:
  static thread_pool& instance() {
    static thread_pool& pool = *new thread_pool;
    return pool;
  }

  /// Runs `j` on the calling thread and on at most j.seats workers; returns when every piece is done.
  void run(job& j) {
    const int seats = j.seats;
    pthread_mutex_lock(&mutex_);
    // The system may have no thread left: those there are, and this one, do the work.
    while (workers_ < seats && start_worker()) ++workers_;
    j.link = jobs_;
    jobs_ = &j;
    pthread_mutex_unlock(&mutex_);
    if (seats == 1) pthread_cond_signal(&wake_);
    else pthread_cond_broadcast(&wake_);
    inside_piece = true;
    j.work();
    inside_piece = false;
    pthread_mutex_lock(&mutex_);
    job** at = &jobs_;
    while (*at != &j) at = &(*at)->link;
    *at = j.link;
    while (j.inside != 0) pthread_cond_wait(&left_, &mutex_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  thread_pool() = default;

  bool start_worker() {
    const auto serve = [](void* pool) -> void* {
      static_cast<thread_pool*>(pool)->serve();
      return nullptr;
    };
    pthread_t thread;
    if (pthread_create(&thread, nullptr, serve, this) != 0) return false;
    pthread_detach(thread);
    return true;
  }

  /// Never returns.
  void serve() {
    inside_piece = true;
    pthread_mutex_lock(&mutex_);
    for (;;) {
      job* j = jobs_;
      while (j != nullptr && j->seats == 0) j = j->link;
      if (j == nullptr) {
        pthread_cond_wait(&wake_, &mutex_);
        continue;
      }
      --j->seats;
      ++j->inside;
      pthread_mutex_unlock(&mutex_);
      j->work();
      pthread_mutex_lock(&mutex_);
      j->seats = 0;  // nothing is left to hand out
      if (--j->inside == 0) pthread_cond_broadcast(&left_);
    }
  }

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER, left_ = PTHREAD_COND_INITIALIZER;
  job* jobs_ = nullptr;
  int workers_ = 0;
};

}  // namespace detail

/// Calls fn(first, last) for consecutive pieces of [begin, end), each `grain` long but the last, on at most `threads`
/// threads (0: default_threads()). Pieces run in any order; fn must not throw. Serial inside another parallel_for and
/// where there is one piece; may be called from any number of threads at once.
template <class Fn>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, int threads, Fn&& fn) {
  if (begin >= end) return;
  if (threads <= 0) threads = default_threads();
  const std::int64_t pieces = (end - begin - 1) / grain + 1;
  if (pieces < threads) threads = static_cast<int>(pieces);
  if (threads <= 1 || detail::inside_piece) {
    for (std::int64_t first = begin; first < end; first += grain) fn(first, end - first < grain ? end : first + grain);
    return;
  }
  using function = std::remove_reference_t<Fn>;
  detail::job j{
      [](void* context, std::int64_t first, std::int64_t last) { (*static_cast<function*>(context))(first, last); },
      const_cast<void*>(static_cast<const void*>(&fn)),
      end,
      grain,
      begin,
      threads - 1};
  detail::thread_pool::instance().run(j);
}

}  // namespace sinter::cpu
