// Generated graphs: generated<Seed> is a function of three tensors that takes pseudo-random steps. The steps are chosen
// while it is traced, from the seed and the shapes at hand, so that a number is the whole description of a graph. The
// law: every preset = the reference, and never more kernels than eager. Values stay in the order of one and every step
// is continuous, or a rounding would be an error. Where the cases run is the including file's matter.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;

constexpr std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/// A number below n; one for each (seed, step, what it is for).
constexpr int pick(unsigned seed, int step, int what, int n) {
  return static_cast<int>(mixed(mixed(mixed(seed) + static_cast<unsigned>(step)) + static_cast<unsigned>(what)) % static_cast<unsigned>(n));
}
constexpr long most_elements = 3000;
constexpr bool small(const si::extents& e) { return e.rank <= 4 && (!si::is_static(e) || si::numel(e) <= most_elements); }
/// Broadcasting that needs no luck at the call: extents are the same, or one.
constexpr bool alike(const si::extents& a, const si::extents& b) {
  for (int i = 1; i <= a.rank && i <= b.rank; ++i)
    if (a[a.rank - i] != b[b.rank - i] && a[a.rank - i] != 1 && b[b.rank - i] != 1) return false;
  return true;
}

/// One step: a new expression from `a` and the pool of all expressions so far.
template <unsigned Seed, int Step>
struct step {
  static constexpr int choose(int what, int n) { return pick(Seed, Step, what, n); }

  template <class A>
  static constexpr auto unary(A a) {
    constexpr int k = choose(1, 14);
    if constexpr (k == 0) return si::relu(a);
    else if constexpr (k == 1) return si::tanh(a);
    else if constexpr (k == 2) return si::sigmoid(a);
    else if constexpr (k == 3) return si::abs(a);
    else if constexpr (k == 4) return -a;
    else if constexpr (k == 5) return si::gelu(a);
    else if constexpr (k == 6) return si::silu(a);
    else if constexpr (k == 7) return si::sin(a);
    else if constexpr (k == 8) return a * 0.75f + 0.125f;
    else if constexpr (k == 9) return si::c<1> - a * 0.5f;
    else if constexpr (k == 10) return si::exp(si::minimum(a, 0.5f));
    else if constexpr (k == 11) return si::clamp(a, -0.5f, 1.5f);
    else if constexpr (k == 12) return si::softplus(a) * 0.5f;
    else return 1.f / (si::square(a) + 1);
  }

  template <class A, class B>
  static constexpr auto binary(A a, B b) {
    constexpr int k = choose(2, 7);
    if constexpr (k == 0) return (a + b) * 0.5f;
    else if constexpr (k == 1) return a - b * 0.5f;
    else if constexpr (k == 2) return si::tanh(a * b);
    else if constexpr (k == 3) return si::maximum(a, b);
    else if constexpr (k == 4) return si::minimum(a * 2, b);
    else if constexpr (k == 5) return a / (si::abs(b) + 1);
    else if constexpr (A::rank > 0 || B::rank > 0) return si::where(si::iota<-1>(a + b) % 3 == 1, a, b);
    else return a - b;
  }

  template <class A>
  static constexpr auto reduce(A a) {
    constexpr int rank = A::rank, first = choose(3, rank), second = choose(4, rank);
    if constexpr (choose(5, 3) == 0 && first != second) return reduce_over(a, si::axis<first, second>);
    else if constexpr (choose(5, 3) == 1 && rank <= 2) return reduce_over(a, si::axis<>);
    else return reduce_over(a, si::axis<first>);
  }
  template <class A, class Axes>
  static constexpr auto reduce_over(A a, Axes axes) {
    constexpr int k = choose(6, 9);
    if constexpr (k == 0) return si::mean(a, axes);
    else if constexpr (k == 1) return si::mean(a, axes, si::keepdim);
    else if constexpr (k == 2) return si::amax(a, axes);
    else if constexpr (k == 3) return si::amin(a, axes, si::keepdim);
    else if constexpr (k == 4) return a - si::mean(a, axes, si::keepdim);
    else if constexpr (k == 5) return si::softmax(a, axes);
    else if constexpr (k == 6) return a * si::rsqrt(si::mean(si::square(a), axes, si::keepdim) + 0.25f);
    else if constexpr (k == 7) return si::var<0>(a, axes, si::keepdim);
    else return si::sum(si::tanh(a), axes) * 0.0625f;
  }

  template <class A>
  static constexpr auto normalise(A a) {
    constexpr int k = choose(7, 5), axis = choose(25, A::rank);
    if constexpr (k == 0) return si::layer_norm(a, 0.25f);
    else if constexpr (k == 3) return si::cumsum(a, si::axis<axis>) * 0.25f;
    else if constexpr (k == 4) return si::cummax(a, si::axis<axis>);
    else if constexpr (k == 1) return si::rms_norm(a, 0.25f);
    else return si::softmax(a);
  }

  template <class A>
  static constexpr auto turn(A a) {
    constexpr int k = choose(8, 3);
    if constexpr (A::rank == 2) return si::transpose(a);
    else if constexpr (A::rank == 3 && k == 0) return si::permute<1, 2, 0>(a);
    else if constexpr (A::rank == 3 && k == 1) return si::permute<2, 1, 0>(a);
    else if constexpr (A::rank == 4 && k == 0) return si::permute<0, 2, 1, 3>(a);
    else if constexpr (A::rank == 4 && k == 1) return si::permute<3, 1, 0, 2>(a);
    else return si::transpose<0, choose(9, A::rank)>(a);
  }

  template <class A>
  static constexpr auto cut(A a) {
    constexpr int axis = choose(10, A::rank), k = choose(11, 5);
    constexpr long n = A::shape[axis];
    if constexpr (!si::is_static(n)) return si::concat<axis>(a, a * 0.5f);
    else if constexpr (k == 0) return si::flip<axis>(a);
    else if constexpr (k == 1 && n > 2) return si::slice<axis, 1>(a);
    else if constexpr (k == 2 && n > 3) return si::slice<axis, 1, n, 2>(a);
    else if constexpr (k == 3 && n > 1) return si::slice<axis, 0, n / 2>(a);
    else if constexpr (axis + 1 < A::rank) return si::flip<axis, A::rank - 1>(a);
    else return si::flip<axis>(a);
  }

  /// Another shape of as many elements.
  template <class A>
  static constexpr auto regroup(A a) {
    constexpr int k = choose(13, 4);
    if constexpr (!si::is_static(A::shape) || A::rank == 0) return si::flatten<0, A::rank == 0 ? 0 : -1>(si::unsqueeze<0>(a));
    else {
      constexpr long n = si::numel(A::shape);
      constexpr long factor = n % 6 == 0 && k != 1 ? 6 : n % 4 == 0 ? 4 : n % 5 == 0 ? 5 : n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1;
      if constexpr (k == 0) return si::reshape<factor, n / factor>(a);
      else if constexpr (k == 1) return si::reshape<n / factor, factor>(a);
      else if constexpr (k == 2 && A::rank >= 2) return si::flatten<0, 1>(a);
      else if constexpr (A::rank < 4) return si::unsqueeze<choose(14, A::rank + 1)>(a);
      else return si::flatten<1, 2>(a);
    }
  }

  template <class A>
  static constexpr auto extend(A a) {
    constexpr int axis = choose(15, A::rank), k = choose(16, 4);
    constexpr bool fits = small(A::shape) && (!si::is_static(A::shape) || si::numel(A::shape) * 2 <= most_elements);
    if constexpr (k == 0 && fits) return si::concat<axis>(a, si::tanh(a));
    else if constexpr (k == 1 && fits && si::is_static(A::shape[axis])) return si::concat<axis>(si::flip<axis>(a), a);
    else if constexpr (k == 2 && fits) return si::pad<axis, 1, 2>(a, 0.5f);
    else return si::pad<axis, 0, 1>(a);
  }

  template <class A>
  static constexpr auto fetch(A a) {
    constexpr int axis = choose(17, A::rank);
    constexpr long n = A::shape[axis];
    constexpr long rows = A::shape[0];
    if constexpr (!si::is_static(n) || n == 0 || !si::is_static(rows) || rows == 0) return si::tanh(a);
    else if constexpr (A::rank > 2 || choose(18, 2) == 0) return si::gather<axis>(a, (si::iota<axis>(a) * 7 + si::iota<0>(a)) % si::c<n>);
    else return si::embedding(a, (si::iota<-1>(a) * 3 + 1) % si::c<rows> - si::c<1>);
  }

  template <class A, class B>
  static constexpr auto product(A a, B b) {
    constexpr long k = A::shape[A::rank - 1];
    constexpr float scale = si::is_static(k) && k > 0 ? 1.f / static_cast<float>(k) : 0.125f;
    if constexpr (B::rank >= 2 && A::rank <= 3 && B::rank <= 3) {
      constexpr bool plain = B::shape[B::rank - 2] == k, turned = B::shape[B::rank - 1] == k;
      constexpr bool batches = A::rank == 2 || B::rank == 2 || A::shape[0] == B::shape[0];
      if constexpr (plain && batches) return si::matmul(a, b) * scale;
      else if constexpr (turned && batches) return si::matmul(a, si::transpose(b)) * scale;
      else return si::matmul(a, si::transpose(a)) * scale;
    } else {
      return si::matmul(a, si::transpose(a)) * scale;
    }
  }

  template <class A>
  static constexpr auto recast(A a) {
    constexpr int k = choose(19, 4);
    if constexpr (k == 0) return si::cast<si::bf16>(a);
    else if constexpr (k == 1) return si::cast<si::f16>(a);
    else if constexpr (k == 2) return si::cast<double>(a);
    else return si::cast<float>(a);
  }

  template <class A, class B>
  static constexpr auto apply(A a, B b) {
    constexpr int k = choose(0, 20);
    constexpr si::broadcast_result together = si::broadcast(A::shape, B::shape);
    if constexpr (k <= 5 && together.ok && small(together.shape) && alike(A::shape, B::shape)) return binary(a, b);
    else if constexpr (k <= 6 || A::rank == 0) return unary(a);
    else if constexpr (k <= 9) return reduce(a);
    else if constexpr (k == 10) return normalise(a);
    else if constexpr (k == 11 && A::rank >= 2) return turn(a);
    else if constexpr (k == 12) return cut(a);
    else if constexpr (k == 13) return regroup(a);
    else if constexpr (k == 14) return extend(a);
    else if constexpr (k == 15) return fetch(a);
    else if constexpr (k <= 18 && A::rank >= 2) return product(a, b);
    else if constexpr (k == 19) return recast(a);
    else return unary(a);
  }
};

template <unsigned Seed, int Step, int Steps, class... Pool>
constexpr auto grow(std::tuple<Pool...> pool) {
  constexpr int size = sizeof...(Pool);
  if constexpr (Step == Steps) {
    constexpr int other = pick(Seed, Step, 20, size);
    if constexpr (pick(Seed, Step, 21, 2) == 0) return std::get<size - 1>(pool);
    else return std::tuple(std::get<size - 1>(pool), std::get<other>(pool), std::get<size - 2>(pool));
  } else {
    constexpr int a = pick(Seed, Step, 22, 3) == 0 ? pick(Seed, Step, 23, size) : size - 1;
    constexpr int b = pick(Seed, Step, 24, size);
    auto next = step<Seed, Step>::apply(std::get<a>(pool), std::get<b>(pool));
    if constexpr (small(decltype(next)::shape)) return grow<Seed, Step + 1, Steps>(std::tuple_cat(pool, std::tuple(next)));
    else return grow<Seed, Step + 1, Steps>(std::tuple_cat(pool, std::tuple(si::tanh(std::get<a>(pool)))));
  }
}

template <unsigned Seed, int Steps = 4 + pick(Seed, -1, 0, 8)>
struct generated {
  template <class... T>
  constexpr auto operator()(T... inputs) const {
    return grow<Seed, 0, Steps>(std::tuple(inputs...));
  }
};

/// What a user may also choose, and what no preset does.
constexpr si::options unusual = [] {
  si::options o = si::max_fusion;
  o.aggressive_fusion = true;
  o.max_fusion_size = 5;
  o.unroll_reductions_threshold = 1;
  o.persistent_reduction_limit = 4;
  o.realize_reads_threshold = 1;
  return o;
}();

template <class T, unsigned Seed>
void check_generated() {
  constexpr long sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 33};
  constexpr long m = sizes[pick(Seed, -2, 0, 15)], k = sizes[pick(Seed, -2, 1, 15)], n = sizes[pick(Seed, -2, 2, 12)], b = sizes[pick(Seed, -2, 3, 5)];
  constexpr int form = pick(Seed, -2, 4, 6);
  using row = si::tensor<T, k>;
  using weight = si::tensor<T, k, n>;
  const auto both = [](auto fn, auto... tensors) {
    checks::check<decltype(tensors)...>(fn, {{3}, {}, Seed});
    if constexpr (Seed % 8 == 0) checks::check_only<unusual, decltype(tensors)...>(fn, {{3}, {}, Seed});
  };
  INFO("seed " << Seed);
  if constexpr (form == 0) both(generated<Seed>{}, si::tensor<T, b, m, k>{}, row{}, weight{});
  else if constexpr (form == 1) both(generated<Seed>{}, si::tensor<T, si::dyn, k>{}, row{}, weight{});
  else both(generated<Seed>{}, si::tensor<T, m, k>{}, row{}, weight{});
}

template <unsigned First, class T, unsigned... I>
void check_seeds(std::integer_sequence<unsigned, I...>) {
  (check_generated<T, First + I>(), ...);
}
/// Seeds First … First + Count - 1.
template <class T, unsigned First, unsigned Count>
void check_seeds() {
  check_seeds<First, T>(std::make_integer_sequence<unsigned, Count>{});
}

}  // namespace
