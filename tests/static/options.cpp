// Options: each changes the plan it says it changes, and the presets differ as the design's table says.
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/with.hpp"

namespace si = sinter;
using si::options;
using std::tuple;

using X = si::tensor<float, 32, 64>;
using Y = si::tensor<float, 64, 32>;
using V = si::tensor<float, 64>;

static_assert(with<&options::max_fusion_size, 64> == si::standard &&
              !(with<&options::max_fusion_size, 32> == si::standard));
static_assert(si::standard == options{});

// Five siblings of one input.
constexpr auto siblings = [](auto x) { return tuple(si::sin(x), si::cos(x), si::exp(x), si::tanh(x), si::sqrt(x)); };
static_assert(si::fuse<X>(siblings).kernel_count() == 1);
static_assert(si::fuse<with<&options::max_fusion_size, 2>, X>(siblings).kernel_count() == 3);
static_assert(si::fuse<with<&options::max_fusion_size, 1>, X>(siblings).kernel_count() == 5);
static_assert(si::fuse<with<&options::max_fusion_size, 1>, X>(siblings).why_not_fused("sin_0", "cos_0") ==
              si::refusal::too_many_nodes);
static_assert(si::fuse<with<&options::min_shared_bytes, 32 * 64 * 4 + 1>, X>(siblings).kernel_count() == 5);
static_assert(si::fuse<with<&options::min_shared_bytes, 32 * 64 * 4 + 1>, X>(siblings).why_not_fused("sin_0",
                                                                                                     "cos_0") ==
              si::refusal::too_few_shared_bytes);
static_assert(si::fuse<with<&options::min_shared_bytes, 32 * 64 * 4>, X>(siblings).kernel_count() == 1);
static_assert(si::fuse<with<&options::max_fusion_distance, 0>, X>(siblings).kernel_count() == 5);
static_assert(si::fuse<with<&options::max_fusion_distance, 0>, X>(siblings).why_not_fused("sin_0", "cos_0") ==
              si::refusal::too_far_apart);
static_assert(si::fuse<with<&options::max_fusion_distance, 1>, X>(siblings).kernel_count() < 5);

// Strangers of equal extents.
constexpr auto strangers = [](auto x, auto y) { return tuple(si::sin(x), si::cos(y)); };
static_assert(si::fuse<X, X>(strangers).kernel_count() == 2);
constexpr options aggressive = with<&options::aggressive_fusion, true>;
static_assert(si::fuse<aggressive, X, X>(strangers).kernel_count() == 2);  // they still share too little
static_assert(si::fuse<aggressive, X, X>(strangers).why_not_fused("sin_0", "cos_0") ==
              si::refusal::too_few_shared_bytes);
constexpr options any_pair = with<&options::min_shared_bytes, 0, aggressive>;
static_assert(si::fuse<any_pair, X, X>(strangers).kernel_count() == 1);
static_assert(si::fuse<any_pair, X, Y>(strangers).kernel_count() == 1);
static_assert(si::fuse<any_pair, X, V>(strangers).kernel_count() == 2);

// What is stored: a value that two matmuls read apart, a value with many loads.
constexpr auto sum_of_six = [](auto a, auto b, auto c, auto d, auto e, auto f) {
  auto s = a + b + c + d + e + f;
  return tuple(si::sum(s * s, si::axis<1>), si::sum(si::exp(s), si::axis<0>));
};
constexpr auto stored = si::fuse<X, X, X, X, X, X>(sum_of_six);
constexpr auto inlined = si::fuse<with<&options::realize_reads_threshold, 6>, X, X, X, X, X, X>(sum_of_six);
static_assert(stored.kernel_count() == 2 && stored.plan().buffers.size() == 1);
static_assert(inlined.kernel_count() == 2 && inlined.plan().buffers.empty() &&
              inlined.numel_accessed() == 2 * 6 * 32 * 64 + 32 + 64);

// Short reductions are pointwise work.
using Short = si::tensor<float, 32, 7>;
constexpr auto total = [](auto x) { return si::sum(x, si::axis<-1>); };
static_assert(si::fuse<Short>(total).kernel(0).kind == si::kernel_kind::pointwise);
static_assert(si::fuse<with<&options::unroll_reductions_threshold, 7>, Short>(total).kernel(0).kind ==
              si::kernel_kind::persistent_reduction);
// Long ones are looped.
static_assert(si::fuse<with<&options::persistent_reduction_limit, 63>, X>(total).kernel(0).kind ==
              si::kernel_kind::reduction);
static_assert(si::fuse<si::tensor<float, 4, 16384>>(total).kernel(0).kind == si::kernel_kind::persistent_reduction);
static_assert(si::fuse<si::tensor<float, 4, 16385>>(total).kernel(0).kind == si::kernel_kind::reduction);
static_assert(si::fuse<si::tensor<float, 4, si::dyn>>(total).kernel(0).kind == si::kernel_kind::reduction);

// Matmul templates.
constexpr auto both_ends = [](auto x, auto y) { return si::exp(si::matmul(si::relu(x), y)); };
static_assert(si::fuse<X, Y>(both_ends).kernel_count() == 3);
static_assert(si::fuse<si::max_autotune, X, Y>(both_ends).kernel_count() == 1);
constexpr options no_prologue = with<&options::prologue_fusion, false, si::max_autotune>;
static_assert(si::fuse<no_prologue, X, Y>(both_ends).kernel_count() == 2);
static_assert(si::fuse<no_prologue, X, Y>(both_ends).why_not_fused("relu_0", "mm_0") == si::refusal::prologue_off);
constexpr options no_epilogue = with<&options::epilogue_fusion, false, si::max_autotune>;
static_assert(si::fuse<no_epilogue, X, Y>(both_ends).kernel_count() == 2);
static_assert(si::fuse<no_epilogue, X, Y>(both_ends).why_not_fused("mm_0", "exp_0") == si::refusal::epilogue_off);
constexpr auto dual = [](auto x, auto v, auto w) { return si::matmul(x, v) * si::matmul(x, w); };
static_assert(si::fuse<si::max_autotune, X, Y, Y>(dual).kernel_count() == 1);
static_assert(si::fuse<with<&options::dual_matmul, false, si::max_autotune>, X, Y, Y>(dual).kernel_count() == 2);
constexpr auto sum_prologue = [](auto x, auto z, auto y) { return si::matmul(x + z, y); };
static_assert(si::fuse<si::max_autotune, X, X, Y>(sum_prologue).kernel_count() == 2);
static_assert(si::fuse<with<&options::prologue_read_ratio_percent, 200, si::max_autotune>, X, X, Y>(sum_prologue)
                  .kernel_count() == 1);

// One round is enough for a chain; none leaves what the last, reordering round finds.
static_assert(si::fuse<with<&options::max_fusion_rounds, 1>, X>(siblings).kernel_count() == 1);

// The presets, on one block of a network.
constexpr auto block = [](auto x, auto w) { return si::silu(si::matmul(si::layer_norm(x, 1e-5f), w)); };
static_assert(si::fuse<si::eager, X, Y>(block).kernel_count() == 3);
static_assert(si::fuse<si::standard, X, Y>(block).kernel_count() == 3);
static_assert(si::fuse<si::max_autotune, X, Y>(block).kernel_count() == 2);
static_assert(si::fuse<si::max_fusion, X, Y>(block).kernel_count() == 1);
