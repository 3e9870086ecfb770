// The oracle, sections 1, 2 and 4: kernels and elements moved, as TorchInductor's own tests assert them. An assertion
// is named by its row; where sinter differs on purpose the figure is sinter's own and docs/oracle.md says why.
#include <cstdint>
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/oracle.hpp"
#include "../support/with.hpp"

namespace si = sinter;
using std::tuple;

using V = si::tensor<float, 10>;
using M = si::tensor<float, 10, 10>;
using C = si::tensor<float, 10, 10, 10>;
using I = si::tensor<std::int32_t, 10>;
using I20 = si::tensor<std::int32_t, 20>;
using V20 = si::tensor<float, 20>;

// ---- 1: one pass over memory
SINTER_ROW(NB01, 1, 20, si::fuse<V>([](auto x) { return si::cos(x); }));
SINTER_ROW(NB02, 1, 30, si::fuse<V, V>([](auto x, auto y) { return x + y; }));
SINTER_ROW(NB04, 1, 20, si::fuse<V>([](auto x) { return x + x; }));
SINTER_ROW(NB05, 1, 200, si::fuse<M>([](auto x) { return x + si::transpose(x); }));
SINTER_ROW(NB07, 1, 110, si::fuse<M>([](auto x) { return si::sum(x, si::axis<1>); }));
SINTER_ROW(NB08, 1, 110, si::fuse<M>([](auto x) { return si::sum(x, si::axis<0>); }));
SINTER_ROW(NB10, 1, 300, si::fuse<M, M>([](auto a, auto b) { return si::matmul(a, b); }));
SINTER_ROW(NB11, 3, 600, si::fuse<M>([](auto x) {
             auto c = si::cos(x);
             return si::cos(si::matmul(c, c));
           }));

// ---- 1: concat
SINTER_ROW(NB13, 1, 40, si::fuse<V, V>([](auto a, auto b) { return si::concat<0>(si::sin(a), si::sin(b)); }));
SINTER_ROW(NB14, 1, 40, si::fuse<V, V>([](auto a, auto b) { return si::concat<0>(a, b); }));
SINTER_ROW(NB16, 1, 30, si::fuse<V>([](auto a) { return si::concat<0>(si::cos(a), si::sin(a)); }));
SINTER_ROW(NB17, 2, 400, si::fuse<M, M>([](auto a, auto b) { return si::concat<0>(si::matmul(a, a), si::sin(b)); }));
SINTER_ROW(NB17_columns, 2, 400,
           si::fuse<M, M>([](auto a, auto b) { return si::concat<1>(si::sin(b), si::matmul(a, a)); }));
SINTER_ROW(NB17_template, 2, 400, si::fuse<si::max_autotune, M, M>([](auto a, auto b) {
             return si::concat<0>(si::matmul(a, a), si::sin(b));
           }));
SINTER_ROW(NB17_products, 2, 400, si::fuse<M, M>([](auto a, auto b) {
             return si::concat<0>(si::matmul(a, a), si::matmul(b, b));
           }));
SINTER_ROW(NB19, 1, 1000, si::fuse<M, M, M, M, M>([](auto a, auto b, auto c, auto d, auto e) {
             return si::concat<0>(a + 1.f, b + 2.f, c + 3.f, d + 4.f, e + 5.f) + 10.f;
           }));
SINTER_ROW(NB20, 3, 2600, si::fuse<C, C>([](auto a, auto b) {
             return si::concat<0>(si::sum(a, si::axis<0>), si::sum(b, si::axis<0>)) + 10.f;
           }));
SINTER_ROW(NB22, 3, 680,
           si::fuse<M, M>([](auto a, auto b) { return si::cos(si::concat<0>(si::softmax(a), si::softmax(b))); }));
SINTER_ROW(NB23, 2, 600,
           si::fuse<M, M>([](auto a, auto b) { return si::cos(si::concat<0>(si::cos(a), si::matmul(b, b))); }));
SINTER_ROW(NB25, 1, 400, si::fuse<M, M>([](auto a, auto b) { return si::cos(si::concat<0>(a, b)); }));
SINTER_ROW(NB26, 1, 400, si::fuse<M, M>([](auto a, auto b) { return si::concat<0>(a, si::cos(b)); }));
SINTER_ROW(NB31, 1, 30, si::fuse<V, I>([](auto a, auto b) { return si::gather<0>(a, b); }));

// A mask that loads nothing, of which the gradients need a copy: 3 sums and the mask, which nobody has to read.
constexpr si::options eager_outputs = with<&si::options::delay_realize_cheap_outputs, false>;
using X32 = si::tensor<float, 32, 32>;
constexpr auto NB32 = [](auto x1, auto x2, auto x3) {
  auto m = si::where(si::iota<1>(x1) <= si::iota<0>(x1), si::full_like(x1, 1.f), si::full_like(x1, 0.f));
  return tuple(x1 + m, x2 + m, x3 + m, m);
};
SINTER_ROW(NB32_on, 1, 7 * 1024, si::fuse<X32, X32, X32>(NB32));
SINTER_ROW(NB32_off, 1, 7 * 1024, si::fuse<eager_outputs, X32, X32, X32>(NB32));
static_assert(NB32_on.numel_accessed() <= NB32_off.numel_accessed(), "NB32");

// Sixteen inputs: Inductor materialises the concat (6,400 and 9,600 elements); two kernels that pass half on move less.
constexpr auto joined = [](auto f, auto... x) { return si::concat<0>(f(x)...) + 10.f; };
SINTER_ROW(NB28, 2, 5000, si::fuse<M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M>([](auto... x) {
             return joined([](auto y) { return si::gelu(y); }, x...);
           }));
SINTER_ROW(NB29, 2, 5000, si::fuse<M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M>([](auto... x) {
             return joined([](auto y) { return si::relu(y); }, x...);
           }));

// ---- 2: fusion
SINTER_ROW(FU01, 1, 210, si::fuse<M>([](auto a) { return tuple(si::sum(a, si::axis<1>), si::cos(a)); }));
SINTER_ROW(FU02, 1, 120, si::fuse<M>([](auto a) { return tuple(si::sum(a, si::axis<1>), si::amax(a, si::axis<1>)); }));
SINTER_ROW(FU04, 1, 120, si::fuse<M, V>([](auto a, auto b) { return si::cos(b) + si::sum(a, si::axis<0>); }));
SINTER_ROW(FU05, 1, 210,
           si::fuse<M, V>([](auto a, auto b) { return si::sum(a, si::axis<1>, si::keepdim) * si::cos(b); }));
constexpr auto scaled = [](auto a) { return a * si::sum(a, si::axis<1>, si::keepdim); };
SINTER_ROW(FU07, 1, 200, si::fuse<M>([](auto a) { return scaled(scaled(scaled(a))); }));
SINTER_ROW(FU08, 1, 200, si::fuse<M>([](auto a) { return si::softmax(a, si::axis<1>); }));
SINTER_ROW(FU10, 1, 200, si::fuse<M>([](auto x) { return si::softmax(si::softmax(x, si::axis<1>), si::axis<1>); }));
SINTER_ROW(FU11, 1, 300,
           si::fuse<M, M>([](auto g, auto y) { return g * y - y * si::sum(g * y, si::axis<1>, si::keepdim); }));
// An input gives the extents, and is not read.
SINTER_ROW(FU13, 1, 10, si::fuse<M>([](auto like) {
             auto row = si::full_like(si::slice<0, 0, 1>(like), 1.f);
             return si::sum(row + si::full_like(like, 1.f), si::axis<-1>);
           }));
SINTER_ROW(FU14, 1, 320, si::fuse<M, I20>([](auto a, auto b) { return si::cos(si::embedding(a, b)); }));
SINTER_ROW(FU16, 1, 500, si::fuse<M, M, M>([](auto a, auto b, auto c) {
             auto a0 = a + c;
             auto b0 = b + a0;
             return tuple(si::assign(b, b0), si::assign(a, a0));
           }));
// Inductor's estimate is 60, its test says that 40 are moved.
SINTER_ROW(FU17, 1, 40, si::fuse<V20, V, V>([](auto d, auto a, auto b) { return si::assign(d, si::concat<0>(a, b)); }));
// Inductor: three kernels, because a full reduction is split. With and without keepdim.
using X19 = si::tensor<float, 4, 2048, 4096>;
using S = si::tensor<float, 1>;
SINTER_ROW(FU19, 1, 1 + 3 * 4 * 2048 * 4096 + 1, si::fuse<X19, S>([](auto x, auto s) {
             auto y = x * 1.1f;
             return tuple(y, si::amax(si::abs(y)), si::sigmoid(y * s));
           }));
SINTER_ROW(FU19_keepdim, 1, FU19.numel_accessed(), si::fuse<X19, S>([](auto x, auto s) {
             auto y = x * 1.1f;
             return tuple(y, si::amax(si::abs(y), si::keepdim), si::sigmoid(y * s));
           }));
using X20 = si::tensor<float, 1024, 32768>;
SINTER_ROW(FU20, 1, 1024 * 32768 + 3,
           si::fuse<X20>([](auto x) { return tuple(si::amax(si::abs(x)), si::mean(si::abs(x)), si::mean(x * x)); }));

// ---- 4: tiling
SINTER_ROW(TI01, 1, 300, si::fuse<M, M>([](auto a, auto b) { return a + si::transpose(b); }));
SINTER_ROW(TI02, 1, 300, si::fuse<M, M>([](auto a, auto b) { return si::transpose(a) + b; }));

// Ours: of what is only gathered from, a fused kernel reads no more than it has iterations. Each logit once; in the
// second kernel two statistics, a target and a logit of each row.
constexpr auto loss =
    si::fuse<si::tensor<float, 64, 1000>, si::tensor<long, 64>>([](auto x, auto t) { return si::cross_entropy(x, t); });
static_assert(loss.kernel_count() == 2 && loss.bytes_read() == 64 * 1000 * 4 + 64 * (4 + 4 + 8 + 4));
