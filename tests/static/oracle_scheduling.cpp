// The oracle, sections 3, 8, 9 and 15: what is realised, loops reordered, index propagation. Named by row; the figures
// that differ on purpose are in docs/oracle.md.
#include <tuple>
#include <utility>

#include <sinter/sinter.hpp>

#include "../support/oracle.hpp"
#include "../support/with.hpp"

namespace si = sinter;
using std::tuple;

using M = si::tensor<float, 10, 10>;
using V8 = si::tensor<float, 8>;

// ---- 3: every reused value with an op is stored
constexpr si::options stored = with<&si::options::realize_ops_threshold, 0>;
SINTER_ROW(SF01, 3, 700, si::fuse<stored, M>([](auto a) {
             auto c = si::cos(a);
             return si::matmul(c, c) + si::cos(c);
           }));
SINTER_ROW(SF02, 3, 620, si::fuse<stored, M>([](auto a) {
             auto c = si::cos(a);
             return si::matmul(c, c) + si::sum(c, si::axis<1>);
           }));
using X4 = si::tensor<float, 2, 3, 10, 11>;
using W = si::tensor<float, 11>;
SINTER_ROW(SF04, 1, 1331, si::fuse<stored, X4, W>([](auto x, auto w) { return x * w + 1.f; }));
SINTER_ROW(SF05, 1, 1342, si::fuse<stored, X4, W, W>([](auto x, auto w, auto v) { return x * w + x * v; }));

// ---- 8: wishes, of which two come true
SINTER_ROW(WB01, 1, 210, si::fuse<M>([](auto a) { return tuple(si::sum(a, si::axis<0>), si::cos(a)); }));
SINTER_ROW(WB02, 1, 200, si::fuse<M>([](auto a) { return si::softmax(a, si::axis<0>); }));
// The third does not, as in Inductor: eight is not shorter than the unroll threshold; seven is.
constexpr auto farthest = [](auto a, auto b) {
  return si::amax(si::sum(si::square(a - b), si::axis<-1>), si::axis<1>);
};
SINTER_ROW(WB04, 2, 370, si::fuse<si::tensor<float, 10, 1, 8>, si::tensor<float, 1, 10, 8>>(farthest));
SINTER_ROW(WB04_unrolled, 1, 150, si::fuse<si::tensor<float, 10, 1, 7>, si::tensor<float, 1, 10, 7>>(farthest));

// ---- 9: loop order. Inductor counts the generated kernels of LO01: without its matmul. The strides do not merge.
using X20 = si::with_strides<si::tensor<float, 20, 20, 30>, si::strides<30, 900, 1>>;
SINTER_ROW(LO01, 2, 20 * 20 * 30 + 20 * 20 + 3 * 20 * 20,
           si::fuse<X20, si::tensor<float, 20, 20>>([](auto x, auto y) {
             return si::matmul(si::sum(x, si::axis<-1>) + 1.f, y);
           }));
static_assert(LO01.kernel(0).name == "per_fused_add_sum_0", "LO01: one generated kernel");
using X2048 = si::tensor<float, 1024, 2048>;
SINTER_ROW(LO02, 1, 3 * 1024 * 2048, si::fuse<X2048, si::tensor<float, 2048, 1024>>([](auto x, auto y) {
             return si::realize(x * 2.f) + si::realize(si::transpose(y) * 3.f);
           }));
using X512 = si::tensor<float, 2, 4, 512>;
SINTER_ROW(LO04, 1, 9 * 512, si::fuse<X512>([](auto x) { return si::sum(si::realize(x + 1.f), si::axis<0, 1>); }));
SINTER_ROW(LO05, 1, 9 * 512, si::fuse<X512>([](auto x) {
             return si::sum(si::realize(si::realize(si::realize(x + 1.f) - 2.f) * 3.f), si::axis<0, 1>);
           }));
// The same with the pointwise result stored.
SINTER_ROW(LO04_stored, 1, 17 * 512, si::fuse<X512>([](auto x) {
             auto y = x + 1.f;
             return tuple(y, si::sum(y, si::axis<0, 1>));
           }));
SINTER_KERNELS(LO07, 2,
               si::fuse<si::tensor<float, 4, 256, 1024>, si::tensor<float, 2, 512, 1024>, si::tensor<float, 1024>>(
                   [](auto x, auto y, auto c) { return tuple(x + c, y + c); }));
SINTER_ROW(LO08, 1, 300,
           si::fuse<si::tensor<float, 100>>([](auto x) { return tuple(si::realize(si::reshape<10, 10>(x)), si::sin(x)); }));
SINTER_ROW(LO11, 2, 3 * 20000 + 2 * 200 + 1, si::fuse<si::tensor<float, 200, 100>>([](auto x) {
             auto z = x / 10.f;
             return tuple(si::sum(si::sum(x, si::axis<-1>)), z, si::transpose(si::clone(si::transpose(z))));
           }));
using B2 = si::tensor<si::bf16, 2, 2>;
SINTER_KERNELS(LO13, 2,
               si::fuse<si::max_autotune, B2, B2>([](auto x, auto y) { return tuple(si::matmul(x, y), x + 1.f); }));
SINTER_KERNELS(LO14, 1, si::fuse<si::tensor<float, 32, 2097152>>([](auto x) { return si::softmax(x, si::axis<0>); }));
SINTER_ROW(LO16, 1, 26, si::fuse<si::tensor<float, 5, 5>>([](auto x) { return si::mean(x); }));
SINTER_KERNELS(LO17, 2, si::fuse<si::tensor<float, 64, 64, 64>>([](auto x) {
                 auto s = si::sum(x, si::axis<-1>) + 1.f;
                 return tuple(s, si::sum(s, si::axis<0>));
               }));
static_assert(LO17.kernel(0).name == "per_fused_add_sum_0", "LO17: no loops reordered, {sum, +1} and {sum}");

// ---- 15: inlining
SINTER_KERNELS(TT01, 1,
               si::fuse<si::tensor<float, 204, 204, 26>, si::tensor<float, 204, 204, 26>, si::tensor<float, 26>>(
                   [](auto sa, auto ct, auto p) {
                     auto t15 = ct * 1.5f;
                     auto t19 = ct * (t15 + 3.f) + sa * 4.f + 2.f;
                     return 1.f / t19 + t19 * p;
                   }));
constexpr auto TT02 = si::fuse<si::tensor<float, 204, 204, 26>, si::tensor<float, 204, 204, 26>, si::tensor<float, 26>>(
    [](auto sa, auto ct, auto p) {
      auto t15 = si::realize(ct * 1.5f);
      auto t19 = si::realize(ct * (t15 + 3.f) + sa * 4.f + 2.f);
      return si::realize(1.f / t19) + si::realize(t19 * p);
    });
static_assert(TT02.plan().fusion.state.list.nodes.size() == 5, "TT02: nodes before fusion");
static_assert(TT02.kernel_count() == 1, "TT02: kernels");
static_assert(TT02.numel_accessed() == TT01.numel_accessed(), "TT02: what is realised in one kernel is not stored");
// A concat of one changes nothing, and a result that is an input is copied.
SINTER_ROW(NO08, 1, 2 * 8, si::fuse<V8>([](auto x) { return si::concat<0>(si::concat<0>(x)); }));

// ---- 6 and 14: what shares nothing stays apart, with combo kernels off
SINTER_KERNELS(CK01, 3, si::fuse<M, si::tensor<float, 20, 20>, M>([](auto a, auto b, auto c) {
                 return tuple(si::relu(a), si::sigmoid(b), si::tanh(c));
               }));

// No indirect index remains: none of the lowered kernels gathers.
template <class Kernel>
constexpr bool gathers() {
  for (const auto& i : Kernel::value.code)
    if (i.code == si::detail::opcode::gather_load) return true;
  return false;
}
template <class F>
constexpr bool is_direct(F) {
  return []<int... I>(std::integer_sequence<int, I...>) {
    return !(gathers<typename F::program::template kernel<I>>() || ...);
  }(std::make_integer_sequence<int, F::kernel_count()>{});
}
using X8 = si::tensor<float, 8, 16>;
#define SINTER_DIRECT(ID, ELEMENTS, T, ...)                                       \
  constexpr auto ID = si::fuse<T>(__VA_ARGS__);                                   \
  static_assert(ID.kernel_count() == 1 && is_direct(ID), #ID ": no indirect index"); \
  static_assert(ID.numel_accessed() == ELEMENTS, #ID ": elements moved")
SINTER_DIRECT(TT04_identity, 16, V8, [](auto x) { return si::gather<0>(x, si::iota<0>(x)); });
SINTER_DIRECT(TT04_reverse, 16, V8, [](auto x) { return si::gather<0>(x, si::c<7> - si::iota<0>(x)); });
SINTER_DIRECT(TT04_flipped, 16, V8, [](auto x) { return si::gather<0>(x, si::flip<0>(si::iota<0>(x))); });
SINTER_DIRECT(TT04_from_end, 16, V8, [](auto x) { return si::gather<0>(x, -(si::iota<0>(x) + si::c<1>)); });
SINTER_DIRECT(TT04_divided, 16, V8, [](auto x) { return si::gather<0>(x, si::floor_divide(si::iota<0>(x), si::c<3>)); });
SINTER_DIRECT(TT04_rest, 16, V8, [](auto x) { return si::gather<0>(x, si::iota<0>(x) % si::c<5>); });
SINTER_DIRECT(TT04_rows, 256, X8, [](auto x) { return si::embedding(x, si::iota<0>(si::slice<1, 0, 1>(x)) % si::c<4>); });
SINTER_DIRECT(TT04_columns, 256, X8, [](auto x) { return si::gather<1>(x, si::floor_divide(si::iota<1>(x), si::c<4>)); });
SINTER_DIRECT(TT04_absolute, 16, V8, [](auto x) { return si::gather<0>(x, si::abs(si::iota<0>(x) - si::c<3>)); });
// A result that loads nothing is computed again by whoever reads it.
constexpr auto TT05 = si::fuse<V8>([](auto x) {
  auto reversed = si::c<7> - si::iota<0>(x);
  return tuple(si::gather<0>(x, reversed), reversed);
});
static_assert(TT05.kernel_count() == 2 && TT05.numel_accessed() == 16 + 2 * 8, "TT05: nothing reads the index");
static_assert(is_direct(TT05), "TT05: no indirect index");
static_assert(!is_direct(si::fuse<V8, si::tensor<long, 8>>([](auto x, auto i) { return si::gather<0>(x, i); })));
