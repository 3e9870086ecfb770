// Every gate of can_fuse, in order: a pair that it refuses with its own reason, and what the next gates say once an
// option lets the pair pass.
#include <string_view>
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/with.hpp"

namespace si = sinter;
using si::options;
using si::refusal;
using std::tuple;

using X = si::tensor<float, 32, 64>;
using Y = si::tensor<float, 64, 32>;
using Q = si::tensor<float, 64, 64>;
using V = si::tensor<float, 64>;

/// What can_fuse says of two nodes before anything is fused.
template <class F>
constexpr refusal ask(F, std::string_view first, std::string_view second) {
  using program = typename F::program;
  auto s = si::detail::fusion_result<program::g.nodes.capacity>{}.state;
  s.g = &program::g;
  s.o = &program::chosen;
  s.list = program::nodes;
  s.init();
  const int a = si::detail::node_labelled(program::g, program::nodes, first);
  const int b = si::detail::node_labelled(program::g, program::nodes, second);
  return si::detail::can_fuse(s, a, b, true);
}

// ---- identity
constexpr auto pair = [](auto x) { return tuple(si::sin(x), si::cos(x)); };
static_assert(ask(si::fuse<X>(pair), "sin_0", "sin_0") == refusal::same_kernel);
static_assert(ask(si::fuse<X>(pair), "sin_0", "cos_0") == refusal::none);

// ---- special nodes
static_assert(ask(si::fuse<si::eager, X>(pair), "sin_0", "cos_0") == refusal::different_ops);
constexpr auto both_ends = [](auto x, auto y) { return si::exp(si::matmul(si::relu(x), y)); };
static_assert(ask(si::fuse<X, Y>(both_ends), "mm_0", "exp_0") == refusal::producer_is_foreign);
static_assert(ask(si::fuse<X, Y>(both_ends), "relu_0", "mm_0") == refusal::consumer_is_foreign);
static_assert(ask(si::fuse<si::max_autotune, X, Y>(both_ends), "mm_0", "exp_0") == refusal::none);
static_assert(ask(si::fuse<si::max_autotune, X, Y>(both_ends), "relu_0", "mm_0") == refusal::none);

// ---- direction
constexpr auto chain = [](auto x) { auto y = si::exp(x); return tuple(y, si::sum(y, si::axis<-1>)); };
static_assert(ask(si::fuse<X>(chain), "sum_0", "exp_0") == refusal::wrong_direction);
static_assert(ask(si::fuse<X>(chain), "exp_0", "sum_0") == refusal::none);

// ---- prologues
constexpr options no_prologue = with<&options::prologue_fusion, false, si::max_autotune>;
static_assert(ask(si::fuse<no_prologue, X, Y>(both_ends), "relu_0", "mm_0") == refusal::prologue_off);
constexpr auto summed = [](auto x, auto y) { return si::matmul(si::sum(x, si::axis<0>), y); };
using X3 = si::tensor<float, 16, 32, 64>;
static_assert(ask(si::fuse<si::max_autotune, X3, Y>(summed), "sum_0", "mm_0") == refusal::prologue_not_pointwise);
static_assert(ask(si::fuse<si::max_fusion, X3, Y>(summed), "sum_0", "mm_0") == refusal::prologue_not_expressible);
constexpr auto overwritten = [](auto x, auto y) {
  auto a = si::assign(x, x + 1.f);
  return tuple(a, si::matmul(x, y));
};
static_assert(ask(si::fuse<si::max_autotune, X, Y>(overwritten), "assign_0", "mm_0") == refusal::prologue_overwrites);
// Two nodes in the prologue, of which the first is a result as well. Alone, the second may enter.
constexpr auto inner = [](auto x, auto y) {
  auto a = x + 1.f;
  return tuple(a, si::matmul(si::realize(si::relu(a)), y));
};
constexpr auto inner_is_shared = si::fuse<si::max_autotune, X, Y>(inner);
static_assert(ask(inner_is_shared, "relu_0", "mm_0") == refusal::none && inner_is_shared.kernel_count() == 2);
static_assert(inner_is_shared.why_not_fused("relu_0", "mm_0") == refusal::prologue_inner_is_shared);
constexpr auto shared = [](auto x, auto y) { auto a = si::relu(x); return tuple(a, si::matmul(a, y)); };
static_assert(ask(si::fuse<si::max_autotune, X, Y>(shared), "relu_0", "mm_0") == refusal::prologue_result_is_shared);
constexpr auto wide = [](auto x, auto z, auto y) { return si::matmul(x + z, y); };
static_assert(ask(si::fuse<si::max_autotune, X, X, Y>(wide), "add_0", "mm_0") == refusal::prologue_reads_more);
static_assert(ask(si::fuse<with<&options::prologue_read_ratio_percent, 200, si::max_autotune>, X, X, Y>(wide), "add_0",
                  "mm_0") == refusal::none);
constexpr auto padded = [](auto x, auto y) { return si::matmul(si::pad<1, 0, 1>(x), si::pad<0, 0, 1>(y)); };
static_assert(ask(si::fuse<si::max_autotune, X, Y>(padded), "pad_0", "mm_0") == refusal::prologue_only_pads);
// Rows are normalised along the inner extent, of the left operand.
constexpr auto right = [](auto x, auto y) { return si::matmul(x, si::softmax(y)); };
static_assert(si::fuse<si::max_fusion, X, Y>(right).why_not_fused("softmax_0", "mm_0") ==
              refusal::prologue_not_expressible);
// In 16 bits as well: computing in fp32 on the way is what every template does.
using H = si::tensor<si::f16, 32, 64>;
using HY = si::tensor<si::f16, 64, 32>;
constexpr auto upcast = [](auto x, auto y) { return si::matmul(si::exp(x), y); };
static_assert(ask(si::fuse<si::max_autotune, H, HY>(upcast), "exp_0", "mm_0") == refusal::none);

// ---- two templates, epilogues
constexpr auto dual = [](auto x, auto v, auto w) { return si::matmul(x, v) + si::matmul(x, w); };
static_assert(ask(si::fuse<si::max_autotune, X, Y, Y>(dual), "mm_0", "mm_1") == refusal::none);
static_assert(ask(si::fuse<with<&options::dual_matmul, false, si::max_autotune>, X, Y, Y>(dual), "mm_0", "mm_1") ==
              refusal::templates_differ);
constexpr options no_epilogue = with<&options::epilogue_fusion, false, si::max_autotune>;
static_assert(ask(si::fuse<no_epilogue, X, Y>(both_ends), "mm_0", "exp_0") == refusal::epilogue_off);
constexpr auto reduced = [](auto x, auto y) { return si::sum(si::matmul(x, y), si::axis<-1>); };
static_assert(ask(si::fuse<no_epilogue, X, Y>(reduced), "mm_0", "sum_0") == refusal::epilogue_off);
static_assert(ask(si::fuse<si::max_autotune, X, Y>(reduced), "mm_0", "sum_0") == refusal::epilogue_not_pointwise);

// A sibling of a matmul that reads what it reads is computed before the store as well, if the extents agree; not what
// another matmul takes in.
constexpr auto beside = [](auto q, auto w) { return tuple(si::matmul(q, w), q + 1.f); };
static_assert(si::fuse<si::max_autotune, Q, Q>(beside).kernel_count() == 1);
static_assert(ask(si::fuse<no_epilogue, Q, Q>(beside), "mm_0", "add_0") == refusal::epilogue_off);
static_assert(ask(si::fuse<si::max_autotune, Q, Y>(beside), "mm_0", "add_0") == refusal::extents_differ);
constexpr auto torn = [](auto q, auto w) { return tuple(si::matmul(q, w), si::matmul(si::relu(q), w)); };
static_assert(ask(si::fuse<si::max_autotune, Q, Q>(torn), "mm_0", "relu_0") == refusal::epilogue_is_prologue);
static_assert(ask(si::fuse<no_prologue, Q, Q>(torn), "mm_0", "relu_0") == refusal::none);

// ---- no_fuse: with what it is computed from, with what reads it, with siblings
constexpr auto apart = [](auto x) {
  auto y = si::no_fuse(si::exp(si::realize(si::sin(x))));
  return tuple(si::sum(y, si::axis<-1>), si::cos(x));
};
constexpr auto kept_apart = si::fuse<X>(apart);
static_assert(kept_apart.kernel_count() == 3 && kept_apart.kernel(1).name == "poi_fused_exp_1");
static_assert(ask(kept_apart, "sin_0", "exp_0") == refusal::set_apart);
static_assert(ask(kept_apart, "exp_0", "sum_0") == refusal::set_apart);
static_assert(ask(kept_apart, "sin_0", "cos_0") == refusal::none);
// It names a buffer, whatever views lie over it; an input has no kernel.
static_assert(si::fuse<X>([](auto x) { return si::exp(si::no_fuse(si::transpose(si::sin(x)))); }).kernel_count() == 2);
static_assert(si::fuse<X>([](auto x) { return si::exp(si::no_fuse(x)); }).kernel_count() == 1);
static_assert(si::fuse<si::max_autotune, X, Y>([](auto x, auto y) {
                return si::relu(si::no_fuse(si::matmul(x, y)));
              }).why_not_fused("mm_0", "relu_0") == refusal::set_apart);

// ---- shared data
constexpr auto strangers = [](auto x, auto y) { return tuple(si::sin(x), si::cos(y)); };
static_assert(ask(si::fuse<X, X>(strangers), "sin_0", "cos_0") == refusal::no_shared_data);
constexpr options aggressive = with<&options::aggressive_fusion, true>;
static_assert(ask(si::fuse<aggressive, X, X>(strangers), "sin_0", "cos_0") == refusal::too_few_shared_bytes);
// The same elements read in another order are an overlap, if they are a good part of what is read.
constexpr auto turned = [](auto x) { return tuple(si::sin(x), si::cos(si::transpose(x))); };
static_assert(ask(si::fuse<X>(turned), "sin_0", "cos_0") == refusal::none);
static_assert(si::fuse<X>(turned).fusion_log()[0].score.overlap == 32 * 64 * 4);
static_assert(ask(si::fuse<with<&options::min_overlap_percent, 101>, X>(turned), "sin_0", "cos_0") ==
              refusal::no_shared_data);
constexpr auto partly = [](auto x, auto a, auto b) { return tuple(x + a * b, si::cos(si::transpose(x))); };
static_assert(ask(si::fuse<X, X, X>(partly), "add_0", "cos_0") == refusal::no_shared_data);
static_assert(ask(si::fuse<with<&options::min_overlap_percent, 33>, X, X, X>(partly), "add_0", "cos_0") ==
              refusal::none);
// Never with a reduction.
constexpr auto turned_sum = [](auto x) { return tuple(si::sum(x, si::axis<0>), si::cos(x)); };
static_assert(ask(si::fuse<X>(turned_sum), "sum_0", "cos_0") == refusal::no_shared_data);

// ---- size
static_assert(ask(si::fuse<with<&options::max_fusion_size, 1>, X>(pair), "sin_0", "cos_0") == refusal::too_many_nodes);
static_assert(ask(si::fuse<with<&options::max_fusion_size, 2>, X>(pair), "sin_0", "cos_0") == refusal::none);

// ---- peak memory: each of the products is read by one node only; four bytes are shared
constexpr auto temporaries = [](auto x, auto z, auto y) {
  return si::sum(si::matmul(x, y)) + si::matmul(z, y);
};
constexpr auto peak = si::fuse<X, X, Y>(temporaries);
static_assert(ask(peak, "sum_0", "add_0") == refusal::peak_memory && peak.kernel_count() == 4);
constexpr options any_peak = with<&options::peak_memory_factor, 256>;  // 32 * 32 elements for 4 bytes
static_assert(ask(si::fuse<any_peak, X, X, Y>(temporaries), "sum_0", "add_0") == refusal::none);
static_assert(si::fuse<with<&options::peak_memory_factor, 255>, X, X, Y>(temporaries).kernel_count() == 4);

// ---- buffers of one kernel: the input and a result of each
constexpr auto siblings = [](auto x) { return tuple(si::sin(x), si::cos(x), si::exp(x), si::tanh(x)); };
static_assert(ask(si::fuse<with<&options::max_unique_io_buffers, 2>, X>(siblings), "sin_0", "cos_0") ==
              refusal::too_many_buffers);
static_assert(si::fuse<with<&options::max_unique_io_buffers, 3>, X>(siblings).kernel_count() == 2);
static_assert(si::fuse<with<&options::max_unique_io_buffers, 5>, X>(siblings).kernel_count() == 1);
// What stays inside does not count, once it does.
constexpr auto soft = [](auto x) { return si::softmax(x); };
static_assert(si::fuse<with<&options::max_unique_io_buffers, 3>, X>(soft).kernel_count() == 1);
static_assert(si::fuse<with<&options::max_unique_io_buffers, 2>, X>(soft).kernel_count() > 1);

// ---- vertical: indices, what lies between, order of writes
constexpr auto mirrored = [](auto x) { auto y = si::exp(x); return tuple(y, y + si::flip<1>(y)); };
static_assert(ask(si::fuse<X>(mirrored), "exp_0", "add_0") == refusal::index_mismatch);
constexpr auto around = [](auto q, auto w) { auto y = si::exp(q); return tuple(y, si::matmul(y, w) + y); };
static_assert(ask(si::fuse<Q, Q>(around), "exp_0", "add_0") == refusal::intermediate_nodes);
constexpr auto old_values = [](auto x) {
  auto y = si::exp(si::flip<1>(x));
  return tuple(y, si::assign(x, x + 1.f));
};
static_assert(si::fuse<X>(old_values).why_not_fused("exp_0", "assign_0") == refusal::overwrites_operand);
constexpr auto old_values_in_order = [](auto x) {
  auto y = si::exp(x);
  return tuple(y, si::assign(x, x + 1.f));
};
static_assert(si::fuse<X>(old_values_in_order).kernel_count() == 1);
// Order alone is no data.
constexpr auto only_ordered = [](auto x) { auto y = si::exp(x); return tuple(y, si::assign(x, 3.f)); };
static_assert(ask(si::fuse<X>(only_ordered), "exp_0", "assign_0") == refusal::no_shared_data);
// A row's sum is read by a loop over the row's elements: their sizes start with the sum's.
constexpr auto centred = [](auto x) { return x - si::mean(x, si::axis<1>, si::keepdim); };
static_assert(ask(si::fuse<X>(centred), "mean_0.sum", "sub_0") == refusal::none);

// ---- loops: (numel, rnumel)
constexpr auto part = [](auto x) { return tuple(si::sin(x), si::cos(si::slice<0, 0, 16>(x))); };
static_assert(ask(si::fuse<X>(part), "sin_0", "cos_0") == refusal::extents_differ);
constexpr auto rows_then_all = [](auto x) { auto s = si::sum(x, si::axis<1>); return tuple(s, si::amax(s)); };
static_assert(ask(si::fuse<X>(rows_then_all), "sum_0", "amax_0") == refusal::reduced_extents_differ);
constexpr auto straddling = [](auto c) {
  auto y = c * 0.5f;
  auto z = si::reshape<240>(si::transpose(si::reshape<12, 20>(y))) + y;
  return tuple(y, z, si::sum(si::reshape<24, 10>(y), si::axis<1>));
};
static_assert(ask(si::fuse<si::tensor<float, 240>>(straddling), "add_0", "sum_0") == refusal::loops_incompatible);

// ---- tiles of two dimensions: a transposed read wants them; they are the launch's matter and count only if asked for
constexpr options tiled = with<&options::tiling_prevents_fusion, true>;
static_assert(ask(si::fuse<tiled, X>(turned), "sin_0", "cos_0") == refusal::tilings_differ);
constexpr auto both_turned = [](auto x, auto q) {
  auto t = si::transpose(x);
  return tuple(si::sin(t) + q, si::cos(t) - q);
};
static_assert(ask(si::fuse<tiled, X, Y>(both_turned), "add_0", "sub_0") == refusal::none);
static_assert(si::fuse<tiled, Q, Q>([](auto a, auto b) { return a + si::transpose(b); }).kernel_count() == 1);
// Into a reduction: its rows, or none.
constexpr auto row_sums = [](auto x, auto y) {
  auto z = x + si::transpose(y);
  return tuple(z, si::sum(z, si::axis<1>));
};
constexpr auto all_sum = [](auto x, auto y) { auto z = x + si::transpose(y); return tuple(z, si::sum(z)); };
static_assert(ask(si::fuse<tiled, X, Y>(row_sums), "add_0", "sum_0") == refusal::none);
static_assert(ask(si::fuse<tiled, X, Y>(all_sum), "add_0", "sum_0") == refusal::tilings_differ);
static_assert(ask(si::fuse<X, Y>(all_sum), "add_0", "sum_0") == refusal::none);

// ---- siblings
constexpr int all_bytes = 32 * 64 * 4;
static_assert(ask(si::fuse<with<&options::min_shared_bytes, all_bytes + 1>, X>(pair), "sin_0", "cos_0") ==
              refusal::too_few_shared_bytes);
constexpr options near_only = with<&options::max_fusion_distance, 0>;
static_assert(ask(si::fuse<near_only, X>(pair), "sin_0", "cos_0") == refusal::too_far_apart);
static_assert(ask(si::fuse<with<&options::max_fusion_distance, 1>, X>(pair), "sin_0", "cos_0") == refusal::none);
// Producers and consumers may be as far apart as they like.
static_assert(ask(si::fuse<near_only, X>(chain), "exp_0", "sum_0") == refusal::none);

// ---- cycles: exp -> add and mul -> sub are one kernel each way only
constexpr auto cycle = si::fuse<V, X>([](auto v, auto x) {
  auto a = si::exp(v);
  auto d = x * 2.f;
  return tuple(a, x + a, d, si::reshape<64>(si::slice<0, 0, 1>(d)) - v);
});
static_assert(cycle.why_not_fused("add_0", "mul_0") == refusal::none);
static_assert(ask(cycle, "exp_0", "sub_0") == refusal::none);
static_assert(cycle.why_not_fused("exp_0", "sub_0") == refusal::would_make_cycle);

// ---- labels
static_assert(cycle.why_not_fused("exp_0", "tan_0") == refusal::unknown_label);

// ---- targets: on a processor siblings are few, and what follows a reduction waits
constexpr options cpu = with<&options::target, si::target::cpu>;
constexpr auto many = [](auto x) {
  return tuple(x * 1.f, x * 2.f, x * 3.f, x * 4.f, x * 5.f, x * 6.f, x * 7.f, x * 8.f, x * 9.f, x * 10.f, x * 11.f,
               x * 12.f, x * 13.f, x * 14.f, x * 15.f, x * 16.f, x * 17.f);
};
static_assert(si::fuse<X>(many).kernel_count() == 1 && si::fuse<cpu, X>(many).kernel_count() == 2);
constexpr auto crowded = si::fuse<cpu, X>(many).fusion_log();
constexpr bool says_siblings = [] {
  for (const si::fusion_entry& e : crowded)
    if (e.reason == refusal::too_many_siblings) return true;
  return false;
}();
static_assert(says_siblings);
// Of two rounds, the first has no pair that reads a reduction's result.
constexpr auto normalised = [](auto x) { return x / si::sum(si::exp(x), si::axis<1>, si::keepdim); };
constexpr auto first_fused = [](auto log) {
  for (const si::fusion_entry& e : log)
    if (e.event == si::log_event::fused) return e.first == "sum_0";
  return false;
};
constexpr auto sums = [](auto x) {
  auto s = si::sum(x, si::axis<1>);
  return tuple(s * 2.f, si::sin(x), si::cos(x));
};
static_assert(si::fuse<cpu, X>(normalised).kernel_count() == 1);
static_assert(first_fused(si::fuse<cpu, X>(normalised).fusion_log()));
static_assert(si::fuse<cpu, X>(sums).kernel_count() == 1 && si::fuse<X>(sums).kernel_count() == 1);
static_assert(!first_fused(si::fuse<cpu, X>(sums).fusion_log()));
