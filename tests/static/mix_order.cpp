// The oracle, section 10: rows and columns of one tensor reduced in one kernel. Named by row; "mix" is the number of
// such kernels. What Inductor's tests have autograd write (MX13, MX14, MX17) is written by hand here.
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/oracle.hpp"
#include "../support/with.hpp"

namespace si = sinter;
using std::tuple;

template <class F>
constexpr int mixes(F) {
  int n = 0;
  for (const auto& k : F::program::plan.kernels)
    n += F::program::plan.fusion.state.groups[k.group].how == si::detail::joint::mix_order;
  return n;
}
#define SINTER_MIX(ID, KERNELS, MIXES, ...)  \
  SINTER_KERNELS(ID, KERNELS, __VA_ARGS__); \
  static_assert(mixes(ID) == MIXES, #ID ": mix-order reductions")

template <long... E>
using F32 = si::tensor<float, E...>;
template <long... E>
using BF16 = si::tensor<si::bf16, E...>;

constexpr auto sums = [](auto x) { return tuple(si::sum(x, si::axis<-1>), si::sum(x, si::axis<0>)); };

// ---- small, square: apart
SINTER_MIX(MX01, 2, 0, si::fuse<F32<768, 768>>(sums));
static_assert(MX01.why_not_fused("sum_0", "sum_1") == si::refusal::no_shared_data);
SINTER_MIX(MX01_wide, 2, 0, si::fuse<F32<4096, 32768>>(sums));
static_assert(MX01_wide.why_not_fused("sum_0", "sum_1") == si::refusal::mix_order_extents);
SINTER_MIX(MX01_few_rows, 2, 0, si::fuse<F32<4095, 1536>>(sums));
SINTER_MIX(MX01_least, 1, 1, si::fuse<F32<4096, 1280>>(sums));
SINTER_MIX(MX01_less, 2, 0, si::fuse<F32<4096, 1279>>(sums));

// ---- max_fusion asks for no more rows than columns
constexpr auto wide = si::fuse<si::max_fusion, F32<4096, 8192>>(sums);
SINTER_MIX(square, 1, 1, si::fuse<si::max_fusion, F32<8192, 8192>>(sums));
static_assert(square.bytes_read() == 4L * 8192 * 8192);
static_assert(wide.kernel_count() == 1 && wide.bytes_read() == 4L * 4096 * 8192);
SINTER_MIX(square_standard, 2, 0, si::fuse<F32<8192, 8192>>(sums));
SINTER_MIX(square_rows, 1, 0, si::fuse<si::max_fusion, F32<8192, 8192>>([](auto x) {
             return tuple(si::sum(x, si::axis<-1>), si::amax(x, si::axis<-1>));
           }));
SINTER_MIX(square_joined, 1, 1, si::fuse<si::max_fusion, F32<8192, 8192>>([](auto x) {
             auto rows = si::sum(x, si::axis<1>), columns = si::sum(x, si::axis<0>);
             return tuple(rows * 2.f, si::amax(x, si::axis<1>), columns * 3.f, si::sum(x * x, si::axis<0>));
           }));
SINTER_MIX(square_vertical, 2, 0, si::fuse<si::max_fusion, F32<8192, 8192>>([](auto x) {
             return si::sum(x * si::unsqueeze<1>(si::sum(x, si::axis<1>)), si::axis<0>);
           }));

// ---- rows and columns, each way round, sums, products and means
SINTER_MIX(MX02_sum, 1, 1, si::fuse<F32<32768, 768>>(sums));
static_assert(MX02_sum.kernel(0).name == "per_fused_sum_0");
static_assert(MX02_sum.bytes_read() == 4L * 32768 * 768);
static_assert(MX02_sum.bytes_written() == 4 * (32768 + 768));
SINTER_MIX(MX02_prod, 1, 1, si::fuse<F32<32768, 768>>([](auto x) {
             return tuple(si::prod(x, si::axis<-1>), si::prod(x, si::axis<0>));
           }));
SINTER_MIX(MX02_mean, 1, 1, si::fuse<F32<32768, 768>>([](auto x) {
             return tuple(si::mean(x, si::axis<-1>), si::mean(x, si::axis<0>));
           }));
SINTER_MIX(MX02_swapped, 1, 1, si::fuse<F32<32768, 768>>([](auto x) {
             return tuple(si::sum(x, si::axis<0>), si::sum(x, si::axis<-1>));
           }));
SINTER_MIX(MX02_mean_swapped, 1, 1, si::fuse<BF16<32768, 768>>([](auto x) {
             return tuple(si::mean(x, si::axis<0>), si::mean(x, si::axis<-1>));
           }));
SINTER_MIX(MX02_bf16, 1, 1, si::fuse<BF16<32768, 768>>(sums));
SINTER_MIX(MX02_eager, 2, 0, si::fuse<si::eager, F32<32768, 768>>(sums));
SINTER_MIX(MX02_max_fusion, 1, 1, si::fuse<si::max_fusion, F32<32768, 768>>(sums));
constexpr si::options off = with<&si::options::mix_order_reduction, false>;
SINTER_MIX(MX02_off, 2, 0, si::fuse<off, F32<32768, 768>>(sums));
static_assert(MX02_off.why_not_fused("sum_0", "sum_1") == si::refusal::mix_order_off);

// ---- three dimensions, a part of a buffer, permuted
constexpr auto sums3 = [](auto x) { return tuple(si::sum(x, si::axis<-1>), si::sum(x, si::axis<0, 1>)); };
SINTER_MIX(MX04_sum, 1, 1, si::fuse<F32<32, 1024, 768>>(sums3));
SINTER_MIX(MX04_mean, 1, 1, si::fuse<F32<32, 1024, 768>>([](auto x) {
             return tuple(si::mean(x, si::axis<-1>), si::mean(x, si::axis<0, 1>));
           }));
SINTER_MIX(MX05, 1, 1, si::fuse<F32<33792, 768>>([](auto buffer) {
             auto x = si::slice<0, 0, 33791>(buffer);
             return tuple(si::sum(x, si::axis<0>), si::sum(x, si::axis<1>));
           }));
static_assert(MX05.bytes_read() == 4L * 33791 * 768);
SINTER_MIX(MX10, 1, 1, si::fuse<F32<1024, 32, 768>>([](auto x) { return sums3(si::permute<1, 0, 2>(x)); }));
// The pointwise reads x across its rows: it runs once per row, where that does not matter.
SINTER_MIX(MX07, 1, 1, si::fuse<F32<32768, 768>>([](auto x) {
             auto r1 = si::sum(x, si::axis<1>);
             return tuple(r1 * si::squeeze<1>(si::slice<1, 0, 1>(x)), si::sum(x, si::axis<0>));
           }));
SINTER_MIX(MX08, 1, 1, si::fuse<F32<32768, 256>>(sums));
SINTER_MIX(MX11, 2, 2, si::fuse<F32<262144, 32>, F32<262272, 34>>([](auto x, auto y) {
             return tuple(si::sum(x, si::axis<0>), si::sum(x, si::axis<1>), si::sum(y, si::axis<0>),
                          si::sum(y, si::axis<1>));
           }));

// ---- backward of the norms
constexpr auto rms_norm_backward = [](auto x, auto w, auto rstd, auto dy) {
  auto xhat = si::cast<float>(x) * si::unsqueeze<1>(rstd), g = si::cast<float>(dy);
  auto wg = g * si::cast<float>(w);
  auto dx = si::unsqueeze<1>(rstd) * (wg - xhat * si::mean(wg * xhat, si::axis<-1>, si::keepdim));
  return tuple(si::cast<si::bf16>(dx), si::cast<si::bf16>(si::sum(g * xhat, si::axis<0>)));
};
template <long R, long C>
constexpr auto rms_norm = si::fuse<BF16<R, C>, BF16<C>, F32<R>, BF16<R, C>>(rms_norm_backward);
SINTER_MIX(MX13_256, 1, 1, rms_norm<1000000, 256>);
SINTER_MIX(MX13_2048, 1, 1, rms_norm<32768, 2048>);
SINTER_MIX(MX13_768, 1, 1, rms_norm<32768, 768>);
SINTER_MIX(MX13_odd, 1, 1, rms_norm<33791, 768>);

constexpr auto layer_norm_backward = [](auto x, auto w, auto mean, auto rstd, auto dy) {
  auto xhat = (x - si::unsqueeze<1>(mean)) * si::unsqueeze<1>(rstd);
  auto wg = dy * w;
  auto c1 = si::mean(wg * xhat, si::axis<-1>, si::keepdim), c2 = si::mean(wg, si::axis<-1>, si::keepdim);
  auto dx = (wg - (xhat * c1 + c2)) * si::unsqueeze<1>(rstd);
  return tuple(dx, si::sum(dy * xhat, si::axis<0>), si::sum(dy, si::axis<0>));
};
template <long R, long C>
constexpr auto layer_norm = si::fuse<F32<R, C>, F32<C>, F32<R>, F32<R>, F32<R, C>>(layer_norm_backward);
SINTER_MIX(MX14, 1, 1, layer_norm<32768, 768>);
SINTER_MIX(MX14_odd, 1, 1, layer_norm<32769, 768>);

SINTER_MIX(MX16, 2, 1, si::fuse<F32<32768, 300>, F32<32768, 200>, F32<500>>([](auto x, auto y, auto w) {
             auto z = si::concat<1>(x, y) * w;
             auto t = z + si::sum(z);
             return tuple(si::sum(t, si::axis<0>), si::sum(t, si::axis<1>));
           }));

// The statistics keep their dimension, and the parameters have one of extent one.
SINTER_MIX(MX17, 1, 1, si::fuse<F32<32768, 2048>, F32<1, 2048>, F32<32768, 1>, F32<32768, 1>, F32<32768, 2048>>(
                           [](auto x, auto w, auto mean, auto rstd, auto dy) {
                             auto xhat = (x - mean) * rstd;
                             auto wg = dy * w;
                             auto c1 = si::mean(wg * xhat, si::axis<-1>, si::keepdim);
                             auto c2 = si::mean(wg, si::axis<-1>, si::keepdim);
                             return tuple((wg - (xhat * c1 + c2)) * rstd, si::sum(dy * xhat, si::axis<0>, si::keepdim),
                                          si::sum(dy, si::axis<0>, si::keepdim));
                           }));

// ---- run-time extents: decided by hints, never by the value at the call
// Named in types of their own: nvcc cannot pass a name through an alias.
using rows_768 = si::tensor<float, si::dim<"rows", 32768>, 768>;
using few_768 = si::tensor<float, si::dim<"batch", 128>, 768>;
using both = si::tensor<float, si::dim<"rows", 32768>, si::dim<"columns", 1024>>;
using three = si::tensor<float, si::dim<"rows", 32768>, 8, 768>;
using per_row = si::tensor<float, si::dim<"rows", 32768>>;
SINTER_MIX(hinted_rows, 1, 1, si::fuse<rows_768>(sums));
SINTER_MIX(hinted_few_rows, 2, 0, si::fuse<few_768>(sums));
SINTER_MIX(hinted_both, 1, 1, si::fuse<both>(sums));
SINTER_MIX(hinted_three, 1, 1, si::fuse<three>(sums3));
SINTER_MIX(hinted_backward, 1, 1, si::fuse<rows_768, F32<768>, per_row, per_row, rows_768>(layer_norm_backward));
SINTER_MIX(default_hint, 1, 1, si::fuse<F32<si::dyn, 2048>>(sums));
// Without a hint nothing is asked of an extent if both parts take one pass.
SINTER_MIX(unhinted, 1, 1, si::fuse<F32<si::dyn, si::dyn>>(sums));
SINTER_MIX(unhinted_rows, 1, 1, si::fuse<F32<si::dyn, 768>>(sums));
SINTER_MIX(unhinted_rows_wide, 2, 0, si::fuse<F32<si::dyn, 32768>>(sums));
static_assert(unhinted_rows_wide.why_not_fused("sum_0", "sum_1") == si::refusal::mix_order_extents);
SINTER_MIX(unhinted_columns, 1, 1, si::fuse<F32<32768, si::dyn>>(sums));
SINTER_MIX(unhinted_columns_few_rows, 2, 0, si::fuse<F32<4095, si::dyn>>(sums));
SINTER_MIX(unhinted_later_pass, 2, 1, si::fuse<F32<si::dyn, si::dyn>>([](auto x) {
             return tuple(x - si::sum(x, si::axis<1>, si::keepdim), si::sum(x, si::axis<0>));
           }));
SINTER_MIX(unhinted_first_pass, 2, 0, si::fuse<F32<si::dyn, 768>>([](auto x) {
             return tuple(si::softmax(x, si::axis<1>), si::sum(x, si::axis<0>));
           }));

// ---- what does not go together
SINTER_MIX(largest_of_columns, 2, 0, si::fuse<F32<32768, 768>>([](auto x) {
             return tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<0>));
           }));
static_assert(largest_of_columns.why_not_fused("sum_0", "amax_0") == si::refusal::mix_order_columns);
SINTER_MIX(largest_of_rows, 1, 1, si::fuse<F32<32768, 768>>([](auto x) {
             return tuple(si::amax(x, si::axis<1>), si::sum(x, si::axis<0>));
           }));
SINTER_MIX(strided, 2, 0, si::fuse<si::strided_tensor<float, 32768, 768>>(sums));
SINTER_MIX(two_row_sides, 2, 0, si::fuse<F32<32768, 768>>([](auto x) {  // the second has short rows of its own
             return tuple(si::sum(x, si::axis<1>), si::sum(si::reshape<768, 32768>(x), si::axis<1>));
           }));
static_assert(two_row_sides.why_not_fused("sum_0", "sum_1") == si::refusal::reduced_extents_differ);
SINTER_MIX(broadcast, 2, 0, si::fuse<F32<32768, 768>, F32<768>, F32<32768>>([](auto x, auto w, auto v) {
             return tuple(si::sum(x * w, si::axis<1>), si::sum(si::unsqueeze<1>(v) * w, si::axis<0>));
           }));
SINTER_MIX(two_passes, 2, 0, si::fuse<F32<32768, 768>>([](auto x) {  // the variance needs the mean
             auto centred = x - si::mean(x, si::axis<0>);
             return tuple(si::sum(x, si::axis<1>), si::sum(centred * centred, si::axis<0>));
           }));
SINTER_MIX(one_after_the_other, 2, 0, si::fuse<F32<32768, 768>>([](auto x) {
             return si::sum(x * si::rsqrt(si::sum(x * x, si::axis<1>, si::keepdim)), si::axis<0>);
           }));
SINTER_MIX(after_both, 2, 1, si::fuse<F32<32768, 768>>([](auto x) {
             return x - si::sum(x, si::axis<1>, si::keepdim) * si::sum(x, si::axis<0>);
           }));
