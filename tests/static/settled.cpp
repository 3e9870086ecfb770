// Which inputs a kernel may read before the one in front has ended: those of a gather that everything waits for.
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

}  // namespace
