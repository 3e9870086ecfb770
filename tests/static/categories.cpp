// What may be one kernel with what, category by category, and the reason where it may not.
#include <string_view>
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/with.hpp"

namespace si = sinter;
using si::refusal;
using std::tuple;

using X = si::tensor<float, 32, 64>;
using Y = si::tensor<float, 64, 32>;
using W = si::tensor<float, 64, 64>;

// ---- pointwise and reductions
constexpr auto chain = si::fuse<X>([](auto x) { return si::exp(si::sin(x)); });
static_assert(chain.kernel_count() == 1 && chain.kernel(0).kind == si::kernel_kind::pointwise);
static_assert(chain.why_not_fused("sin_0", "exp_0") == refusal::none);

constexpr auto into_reduction = si::fuse<X>([](auto x) { return si::sum(si::exp(x), si::axis<-1>); });
static_assert(into_reduction.kernel_count() == 1 &&
              into_reduction.kernel(0).kind == si::kernel_kind::persistent_reduction);

constexpr auto after_reduction = si::fuse<X>([](auto x) { return si::exp(si::sum(x, si::axis<-1>)); });
static_assert(after_reduction.kernel_count() == 1 && after_reduction.kernel(0).name == "per_fused_exp_sum_0");

constexpr auto around_reduction = si::fuse<X>([](auto x) { return x - si::mean(x, si::axis<-1>, si::keepdim); });
static_assert(around_reduction.kernel_count() == 1);

constexpr auto columns = si::fuse<X>([](auto x) { return si::sum(si::exp(x), si::axis<0>); });
static_assert(columns.kernel_count() == 1 && columns.kernel(0).kind == si::kernel_kind::reduction);
// A mask that lies along the columns, each value for 48 of them, does not make rows of them.
constexpr auto masked_columns = si::fuse<si::tensor<float, 8, 64, 48>, si::tensor<float, 8, 64, 1>>(
    [](auto x, auto mask) { return si::sum(x * mask, si::axis<1>); });
static_assert(masked_columns.kernel_count() == 1 && masked_columns.kernel(0).kind == si::kernel_kind::reduction);

// Siblings share what they read.
constexpr auto siblings = si::fuse<X>([](auto x) { return tuple(si::sin(x), si::sum(x, si::axis<-1>)); });
static_assert(siblings.kernel_count() == 1);
constexpr auto strangers = si::fuse<X, X>([](auto x, auto y) { return tuple(si::sin(x), si::cos(y)); });
static_assert(strangers.kernel_count() == 2 && strangers.why_not_fused("sin_0", "cos_0") == refusal::no_shared_data);

// Reductions, only over equal extents.
constexpr auto same_rows = si::fuse<X>([](auto x) { return tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<1>)); });
static_assert(same_rows.kernel_count() == 1);
constexpr auto chained = si::fuse<X>([](auto x) {
  auto centred = x - si::mean(x, si::axis<1>, si::keepdim);
  return si::sum(si::square(centred), si::axis<1>);
});
static_assert(chained.kernel_count() == 1);
constexpr auto rows_and_columns =
    si::fuse<X>([](auto x) { return tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<0>)); });
static_assert(rows_and_columns.kernel_count() == 2);
static_assert(rows_and_columns.why_not_fused("sum_0", "amax_0") != refusal::none);
constexpr auto rows_then_all = si::fuse<X>([](auto x) { return si::amax(si::sum(x, si::axis<1>)); });
static_assert(rows_then_all.kernel_count() == 2);
static_assert(rows_then_all.why_not_fused("sum_0", "amax_0") == refusal::reduced_extents_differ);

// ---- matrix products
constexpr auto epilogue = [](auto x, auto y) { return si::gelu(si::matmul(x, y)); };
static_assert(si::fuse<X, Y>(epilogue).kernel_count() == 2);
static_assert(si::fuse<X, Y>(epilogue).why_not_fused("mm_0", "gelu_0") == refusal::producer_is_foreign);
static_assert(si::fuse<si::max_autotune, X, Y>(epilogue).kernel_count() == 1);
static_assert(si::fuse<si::max_autotune, X, Y>(epilogue).kernel(0).name == "tem_fused_gelu_mm_0");
static_assert(si::fuse<si::max_autotune, X, Y>(epilogue).why_not_fused("mm_0", "gelu_0") == refusal::none);

constexpr auto prologue = [](auto x, auto y) { return si::matmul(si::relu(x), y); };
static_assert(si::fuse<X, Y>(prologue).kernel_count() == 2);
static_assert(si::fuse<X, Y>(prologue).why_not_fused("relu_0", "mm_0") == refusal::consumer_is_foreign);
static_assert(si::fuse<si::max_autotune, X, Y>(prologue).kernel_count() == 1);

constexpr auto wide_prologue = [](auto x, auto z, auto y) { return si::matmul(x * z, y); };
static_assert(si::fuse<si::max_autotune, X, X, Y>(wide_prologue).kernel_count() == 2);
static_assert(si::fuse<si::max_autotune, X, X, Y>(wide_prologue).why_not_fused("mul_0", "mm_0") ==
              refusal::prologue_reads_more);

constexpr auto shared_prologue = [](auto x, auto y) {
  auto a = si::relu(x);
  return tuple(a, si::matmul(a, y));
};
static_assert(si::fuse<si::max_autotune, X, Y>(shared_prologue).kernel_count() == 2);
static_assert(si::fuse<si::max_autotune, X, Y>(shared_prologue).why_not_fused("relu_0", "mm_0") ==
              refusal::prologue_result_is_shared);

constexpr auto padded = [](auto x, auto y) { return si::matmul(si::pad<1, 0, 1>(x), si::pad<0, 0, 1>(y)); };
static_assert(si::fuse<si::max_autotune, X, Y>(padded).why_not_fused("pad_0", "mm_0") == refusal::prologue_only_pads);

constexpr auto reduced_product = [](auto x, auto y) { return si::sum(si::matmul(x, y), si::axis<-1>); };
static_assert(si::fuse<si::max_autotune, X, Y>(reduced_product).kernel_count() == 2);
static_assert(si::fuse<si::max_autotune, X, Y>(reduced_product).why_not_fused("mm_0", "sum_0") ==
              refusal::epilogue_not_pointwise);

constexpr auto normalised = [](auto x, auto y) { return si::matmul(si::rms_norm(x, 1e-6f), y); };
static_assert(si::fuse<si::max_autotune, X, Y>(normalised).kernel_count() == 2);
static_assert(si::fuse<si::max_autotune, X, Y>(normalised).why_not_fused("rms_norm_0", "mm_0") ==
              refusal::prologue_not_pointwise);
static_assert(si::fuse<si::max_fusion, X, Y>(normalised).kernel_count() == 1);

constexpr auto products = [](auto x, auto v, auto w) { return si::matmul(si::matmul(x, v), w); };
static_assert(si::fuse<X, W, W>(products).kernel_count() == 2);
static_assert(si::fuse<si::max_autotune, X, W, W>(products).kernel_count() == 2);
static_assert(si::fuse<si::max_autotune, X, W, W>(products).why_not_fused("mm_0", "mm_1") == refusal::templates_differ);
constexpr auto dual = [](auto x, auto v, auto w) { return si::silu(si::matmul(x, v)) * si::matmul(x, w); };
static_assert(si::fuse<X, W, W>(dual).kernel_count() == 3);
static_assert(si::fuse<si::max_autotune, X, W, W>(dual).kernel_count() == 1);
static_assert(si::fuse<si::max_autotune, X, W, W>(dual).kernel(0).name == "tem_fused_mm_mul_silu_0");

// ---- the matrix: producer -> consumer, kernels in standard and in max_autotune, and the reason where they stay apart
template <si::options O, class... T, class F>
constexpr bool cell(F f, int kernels, std::string_view producer, std::string_view consumer, refusal reason) {
  constexpr auto plan = si::fuse<O, T...>(F{});
  (void)f;
  return plan.kernel_count() == kernels && plan.why_not_fused(producer, consumer) == reason;
}
#define SINTER_CELL(STANDARD, WHY_STANDARD, AUTOTUNE, WHY_AUTOTUNE, PRODUCER, CONSUMER, F, ...)                         \
  static_assert(cell<si::standard, __VA_ARGS__>(F, STANDARD, PRODUCER, CONSUMER, refusal::WHY_STANDARD), #F);          \
  static_assert(cell<si::max_autotune, __VA_ARGS__>(F, AUTOTUNE, PRODUCER, CONSUMER, refusal::WHY_AUTOTUNE), #F)

constexpr auto pointwise_pointwise = [](auto x) { return si::exp(si::sin(x)); };
SINTER_CELL(1, none, 1, none, "sin_0", "exp_0", pointwise_pointwise, X);
constexpr auto pointwise_reduction = [](auto x) { return si::sum(si::exp(x), si::axis<-1>); };
SINTER_CELL(1, none, 1, none, "exp_0", "sum_0", pointwise_reduction, X);
constexpr auto reduction_pointwise = [](auto x) { return si::exp(si::sum(x, si::axis<-1>)); };
SINTER_CELL(1, none, 1, none, "sum_0", "exp_0", reduction_pointwise, X);
constexpr auto reduction_reduction = [](auto x) {
  return si::amax(x * si::sum(x, si::axis<1>, si::keepdim), si::axis<1>);
};
SINTER_CELL(1, none, 1, none, "sum_0", "amax_0", reduction_reduction, X);
constexpr auto reduction_other_reduction = [](auto x) { return si::amax(si::sum(x, si::axis<1>)); };
SINTER_CELL(2, reduced_extents_differ, 2, reduced_extents_differ, "sum_0", "amax_0", reduction_other_reduction, X);
constexpr auto matmul_pointwise = [](auto x, auto y) { return si::exp(si::matmul(x, y)); };
SINTER_CELL(2, producer_is_foreign, 1, none, "mm_0", "exp_0", matmul_pointwise, X, Y);
constexpr auto matmul_reduction = [](auto x, auto y) { return si::sum(si::matmul(x, y), si::axis<-1>); };
SINTER_CELL(2, producer_is_foreign, 2, epilogue_not_pointwise, "mm_0", "sum_0", matmul_reduction, X, Y);
constexpr auto pointwise_matmul = [](auto x, auto y) { return si::matmul(si::exp(x), y); };
SINTER_CELL(2, consumer_is_foreign, 1, none, "exp_0", "mm_0", pointwise_matmul, X, Y);
constexpr auto reduction_matmul = [](auto x, auto y) { return si::matmul(si::softmax(x), y); };
SINTER_CELL(2, consumer_is_foreign, 2, prologue_not_pointwise, "softmax_0", "mm_0", reduction_matmul, X, Y);
constexpr auto matmul_matmul = [](auto x, auto v, auto w) { return si::matmul(si::matmul(x, v), w); };
SINTER_CELL(2, producer_is_foreign, 2, templates_differ, "mm_0", "mm_1", matmul_matmul, X, W, W);
// A foreign kernel takes nothing from either side: three kernels, and none of the pairs is one.
constexpr auto around_foreign = [](auto x, auto y) { return si::exp(si::matmul(si::sin(x), y)); };
SINTER_CELL(3, consumer_is_foreign, 1, none, "sin_0", "mm_0", around_foreign, X, Y);
SINTER_CELL(3, producer_is_foreign, 1, none, "mm_0", "exp_0", around_foreign, X, Y);

// ---- eager, labels
constexpr auto eager = si::fuse<si::eager, X>([](auto x) { return si::exp(si::sin(x)); });
static_assert(eager.kernel_count() == 2 && eager.why_not_fused("sin_0", "exp_0") == refusal::different_ops);
static_assert(si::fuse<si::eager, X>([](auto x) { return si::softmax(x); }).kernel_count() == 1);
static_assert(chain.why_not_fused("sin_1", "exp_0") == refusal::unknown_label);
static_assert(chain.why_not_fused("", "exp_0") == refusal::unknown_label);

// ---- writes in place
constexpr auto in_place = si::fuse<X, X>([](auto x, auto y) { return si::assign(x, x + y); });
static_assert(in_place.kernel_count() == 1);
// What reads the new elements in another order can follow the write, and put its own result where it belongs.
constexpr auto across = [](auto x) { return tuple(si::assign(x, x + 1.f), si::exp(si::transpose(x))); };
static_assert(si::fuse<W>(across).kernel_count() == 1);
constexpr si::options fixed_loops =
    with<&si::options::index_inversion, false, with<&si::options::loop_ordering, false>>;
static_assert(si::fuse<fixed_loops, W>(across).kernel_count() == 2);
