// Scans in the scheduler: to fuse they are reductions whose result is as large as their operand, as in Inductor.
#include <tuple>

#include <sinter/sinter.hpp>

namespace si = sinter;
using std::tuple;

template <auto... E>
using F = si::tensor<float, E...>;
template <class T, auto... E>
using X = si::tensor<T, E...>;

#define SINTER_ROW(ID, KERNELS, ...) \
  constexpr auto ID = __VA_ARGS__;   \
  static_assert(ID.kernel_count() == KERNELS, #ID ": kernels")

template <long Axis>
constexpr auto cumsum = [](auto x) { return si::cumsum(x, si::axis<Axis>); };

// dtypes: as torch's.
template <class T>
constexpr si::dtype sum_type = si::infer_dtypes(si::op::cumsum, si::dtype_of<T>).result;
static_assert(sum_type<bool> == si::dtype::i64 && sum_type<std::int8_t> == si::dtype::i64);
static_assert(sum_type<si::bf16> == si::dtype::bf16 && sum_type<double> == si::dtype::f64);
static_assert(si::infer_dtypes(si::op::cummax, si::dtype::u8).result == si::dtype::u8);
static_assert(si::infer_dtypes(si::op::logcumsumexp, si::dtype::i32).result == si::dtype::f32);

// One kernel, that reads and writes every element once; rows of static length that fit stay on chip.
SINTER_ROW(rows, 1, si::fuse<F<16384, 4096>>(cumsum<-1>));
static_assert(rows.kernel(0).name == "per_fused_cumsum_0" && rows.numel_accessed() == 2 * 16384 * 4096);
SINTER_ROW(long_rows, 1, si::fuse<F<128, 100000>>(cumsum<-1>));
static_assert(long_rows.kernel(0).name == "red_fused_cumsum_0" && long_rows.passes(0) == 1);
SINTER_ROW(columns, 1, si::fuse<F<4096, 512>>(cumsum<0>));
static_assert(columns.kernel(0).name == "red_fused_cumsum_0");
SINTER_ROW(unknown_rows, 1, si::fuse<F<si::dyn, si::dyn>>(cumsum<1>));
static_assert(unknown_rows.kernel(0).name == "red_fused_cumsum_0");
// Of one element a scan is a copy.
SINTER_ROW(one, 1, si::fuse<F<16, 1>>(cumsum<1>));
static_assert(one.kernel(0).name == "poi_fused_cumsum_0");
SINTER_ROW(one_of_several, 1, si::fuse<F<16, 1>>([](auto x) { return si::exp(si::cumsum(x, si::axis<1>)) * x; }));
static_assert(one_of_several.kernel(0).kind == si::kernel_kind::pointwise);

// Pointwise producers and consumers over the same elements.
SINTER_ROW(around, 1, si::fuse<F<64, 512>>([](auto x) { return si::exp(si::cumsum(x * 2.f, si::axis<1>)) + x; }));
static_assert(around.numel_accessed() == 2 * 64 * 512);
SINTER_ROW(around_columns, 1, si::fuse<F<512, 64>>([](auto x) { return si::exp(si::cumsum(x * 2.f, si::axis<0>)) + x; }));
SINTER_ROW(around_middle, 1,
           si::fuse<F<8, 512, 16>>([](auto x) { return si::exp(si::cumsum(x * 2.f, si::axis<1>)) + x; }));
SINTER_ROW(eager, 3, si::fuse<si::eager, F<64, 512>>([](auto x) { return si::exp(si::cumsum(x * 2.f, si::axis<1>)); }));

// Reductions and other scans of the same rows: before, after, beside.
SINTER_ROW(normalised, 1, si::fuse<F<64, 512>>([](auto x) { return si::softmax(si::cumsum(si::softmax(x), si::axis<1>)); }));
static_assert(normalised.kernel(0).name == "per_fused_cumsum_softmax_0");
SINTER_ROW(beside, 1, si::fuse<F<64, 512>>([](auto x) {
             return tuple(si::cumsum(x, si::axis<1>), si::cummax(x, si::axis<1>), si::sum(x, si::axis<1>));
           }));
static_assert(beside.numel_accessed() == 3 * 64 * 512 + 64);
SINTER_ROW(nested, 1, si::fuse<F<64, 512>>([](auto x) {
             return si::cumsum(si::cumsum(x, si::axis<1>) * 2.f, si::axis<1>);
           }));
static_assert(nested.passes(0) == 1, "in the same walk");
// A few long rows are many blocks' work, beside which nothing is reduced; other scans are.
SINTER_ROW(split, 2, si::fuse<F<4, 65536>>([](auto x) {
             return tuple(si::exp(si::cumsum(x, si::axis<1>)), si::sum(x, si::axis<1>));
           }));
static_assert(split.why_not_fused("cumsum_0", "sum_0") == si::refusal::split_scan);
SINTER_ROW(split_softmax, 3, si::fuse<F<65536>>([](auto x) { return si::softmax(si::cumsum(x, si::axis<0>)); }));
SINTER_ROW(split_nested, 1, si::fuse<F<65536>>([](auto x) {
             return si::cummax(si::cumsum(x, si::axis<0>) + x, si::axis<0>);
           }));
static_assert(split.kernel(0).name == "spl_fused_cumsum_exp_0" && split.passes(0) == 1);
static_assert(split_nested.workspace_bytes() > 0 && rows.workspace_bytes() == 0);
// Of other rows: not.
SINTER_ROW(both_axes, 2, si::fuse<F<64, 512>>([](auto x) {
             return si::cumsum(si::cumsum(x, si::axis<1>), si::axis<0>);
           }));
static_assert(both_axes.why_not_fused("cumsum_0", "cumsum_1") == si::refusal::reduced_extents_differ);
SINTER_ROW(square, 2, si::fuse<F<64, 64>>([](auto x) {
             return si::cumsum(si::cumsum(x, si::axis<1>), si::axis<0>);
           }));
SINTER_ROW(tall, 2, si::fuse<F<65536, 1024>>([](auto x) {  // rows and columns share no kernel where one scans
             return tuple(si::cumsum(x, si::axis<1>), si::sum(x, si::axis<0>));
           }));
// What is read at other indices.
SINTER_ROW(shifted, 2, si::fuse<F<64, 512>>([](auto x) {
             auto c = si::cumsum(x, si::axis<1>);
             return c - si::flip<1>(c);
           }));
// Neither a matmul's prologue nor its epilogue, nor part of a list or of a combination.
SINTER_ROW(prologue, 2, si::fuse<si::max_fusion, F<64, 512>, F<512, 32>>([](auto x, auto w) {
             return si::matmul(si::cumsum(x, si::axis<1>), w);
           }));
static_assert(prologue.why_not_fused("cumsum_0", "mm_0") == si::refusal::prologue_not_pointwise);
SINTER_ROW(epilogue, 2, si::fuse<si::max_fusion, F<64, 512>, F<512, 32>>([](auto x, auto w) {
             return si::cumsum(si::matmul(x, w), si::axis<1>);
           }));
constexpr si::options combined = [] {
  si::options o = si::standard;
  o.combo_kernels = true;
  return o;
}();
SINTER_ROW(alone, 2, si::fuse<combined, F<64, 512>, F<32>>([](auto x, auto y) {
             return tuple(si::cumsum(x, si::axis<1>), si::exp(y));
           }));
