// Which inputs a kernel may read before the one in front has ended: those of a gather that everything waits for, and
// those of a fold of columns that needs nothing of the kernel in front before its end.
// SPDX-License-Identifier: BSL-1.0
#include <sinter/sinter.hpp>

#include <bit>

namespace si = sinter;

namespace {

template <class F, int Index>
constexpr int num_settled = std::popcount(si::detail::settled_pointers<typename F::program, Index>);

template <class F, int... Index>
constexpr int total_settled(std::integer_sequence<int, Index...>) {
  return (0 + ... + num_settled<F, Index>);
}
template <class F>
constexpr int all_settled = total_settled<F>(std::make_integer_sequence<int, F::kernel_count()>{});

using X = si::tensor<float, si::dyn, 1000>;
using T = si::tensor<std::int64_t, si::dyn>;
using V = si::tensor<float, si::dyn>;

// Logits and targets; what the first kernel leaves is not.
constexpr auto loss = si::fuse<X, T>([](auto x, auto t) { return si::cross_entropy(x, t); });
static_assert(loss.kernel_count() == 2);
static_assert(num_settled<decltype(loss), 0> == 0 && num_settled<decltype(loss), 1> == 2);
static_assert(num_settled<decltype(loss), 2> == 0);  // there is no such kernel

// The only kernel, and one that gathers from what the first one leaves.
constexpr auto alone = si::fuse<X, T>([](auto x, auto t) { return si::nll_loss(x, t); });
static_assert(num_settled<decltype(alone), 0> == 0);
constexpr auto computed = si::fuse<X, T>([](auto x, auto t) { return si::nll_loss(si::softmax(x, si::axis<-1>), t); });
static_assert(computed.kernel_count() == 2 && num_settled<decltype(computed), 1> == 0);

// Of targets that the function assigns to only the logits.
constexpr auto moved = si::fuse<X, T>(
    [](auto x, auto t) { return std::tuple(si::cross_entropy(x, t), si::assign(t, t + std::int64_t(1))); });
static_assert(all_settled<decltype(moved)> == 1);

// Rows of their own do not all wait, and without a gather there is nothing to wait for twice.
constexpr auto rows = si::fuse<X, T, V>([](auto x, auto t, auto v) {
  return si::logsumexp(x, si::axis<-1>) - si::squeeze<-1>(si::gather<-1>(x, si::unsqueeze<-1>(t))) * v;
});
static_assert(all_settled<decltype(rows)> == 0);
constexpr auto mean = si::fuse<X, V>([](auto x, auto v) { return si::mean(si::logsumexp(x, si::axis<-1>) * v); });
static_assert(all_settled<decltype(mean)> == 0);

// What a mask leaves of columns is folded whatever its sum is, of a batch too; of masks that the function assigns to,
// which are not read ahead, nothing is.
using W = si::tensor<float, si::dyn, 1>;
constexpr auto weighted = [](auto x, auto w) { return si::sum(x * w, si::axis<0>) / si::sum(w, si::axis<0>); };
constexpr auto columns = si::fuse<X, W>(weighted);
static_assert(columns.kernel_count() == 2 && num_settled<decltype(columns), 1> == 2);
using B = si::tensor<float, si::dyn, 64, 100>;
using M = si::tensor<float, si::dyn, 64, 1>;
constexpr auto batch =
    si::fuse<B, M>([](auto x, auto m) { return si::sum(x * m, si::axis<1>) / si::sum(m, si::axis<1>); });
static_assert(batch.kernel_count() == 2 && num_settled<decltype(batch), 1> == 2);
constexpr auto assigned =
    si::fuse<X, W>([](auto x, auto w) { return std::tuple(weighted(x, w), si::assign(w, w + 1.0f)); });
static_assert(all_settled<decltype(assigned)> == 0);

// What is folded is scaled by the kernel in front, or it is needed twice, or it is also stored.
constexpr auto scaled =
    si::fuse<X, W>([](auto x, auto w) { return si::sum(x * (w / si::sum(w, si::axis<0>, si::keepdim)), si::axis<0>); });
static_assert(scaled.kernel_count() == 2 && all_settled<decltype(scaled)> == 0);
constexpr auto twice = si::fuse<X, W>(
    [](auto x, auto w) { return si::softmax(x * w, si::axis<0>) / si::sum(w, si::axis<0>, si::keepdim); });
static_assert(twice.kernel_count() == 2 && all_settled<decltype(twice)> == 0);
constexpr auto stored = si::fuse<X, W>(
    [](auto x, auto w) { return std::tuple(x * w, si::sum(x * w, si::axis<0>) / si::sum(w, si::axis<0>)); });
static_assert(stored.kernel_count() == 2 && all_settled<decltype(stored)> == 0);

}  // namespace
