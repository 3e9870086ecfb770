// The graph that a function becomes: common subexpressions, rewriting, inferred shapes and element types, names.
#include <cstdint>
#include <string_view>
#include <tuple>

#include <sinter/sinter.hpp>

namespace si = sinter;
using si::dtype;
using si::extents;
using si::op;
using std::tuple;

using X = si::tensor<float, 4, 6>;
using V = si::tensor<float, 6>;
using T = si::tensor<float, si::dyn, 6>;

template <class F>
constexpr int count(F f, op what) {
  int n = 0;
  for (const auto& node : f.graph().nodes) n += node.what == what;
  return n;
}
/// Nodes that compute something: neither inputs nor scalars.
template <class F>
constexpr int work(F f) {
  int n = 0;
  for (const auto& node : f.graph().nodes) n += !si::is_leaf(node.what);
  return n;
}
template <class F>
constexpr dtype result_type(F f, int i = 0) {
  return f.graph()[f.graph().outputs[i]].type;
}
template <class F>
constexpr extents result_shape(F f, int i = 0) {
  return f.graph().shape(f.graph().outputs[i]);
}
template <class... Sizes>
constexpr extents shape(Sizes... sizes) {
  return extents{sizeof...(Sizes), {static_cast<si::number>(sizes)...}};
}

// ---- common subexpressions are one node; the order of operands counts
static_assert(work(si::fuse<X>([](auto x) { return si::sin(x) + si::sin(x); })) == 2);
static_assert(work(si::fuse<X>([](auto x) { return si::sum(x * x, si::axis<1>) + si::sum(x * x, si::axis<1>); })) == 3);
static_assert(work(si::fuse<X, X>([](auto x, auto y) { return (x - y) * (y - x); })) == 3);
// Constants are compared, run-time scalars never: their values are the call's.
static_assert(work(si::fuse<X>([](auto x) { return (x + si::c<2>)*(x + si::c<2>); })) == 2);
static_assert(work(si::fuse<X>([](auto x) { return (x + 2.f) * (x + 2.f); })) == 3);
// A literal is no part of the plan.
constexpr auto plus = [](auto x) { return x + 2.f; };
static_assert(count(si::fuse<X>(plus), op::scalar) == 1 && count(si::fuse<X>(plus), op::constant) == 0);

// ---- rewriting: what changes nothing goes
static_assert(work(si::fuse<X>([](auto x) { return si::sin(x * si::c<1> + si::c<0> - si::c<0>) / si::c<1>; })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(x * 1.f); })) == 2);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::reshape<4, 6>(x)); })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::permute<0, 1>(x)); })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::slice<1, 0>(x)); })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::broadcast_to<4, 6>(x)); })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::cast<float>(x)); })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::concat<0>(x)); })) == 1);
// An addition of zero that broadcasts does change something.
static_assert(work(si::fuse<V, X>([](auto v, auto x) { return v + si::full_like(x, si::c<0>); })) >= 1);

// ---- views of views
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::transpose(si::transpose(x))); })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::reshape<24>(si::reshape<2, 12>(x))); })) == 2);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::reshape<4, 6>(si::reshape<24>(x))); })) == 1);
static_assert(work(si::fuse<X>([](auto x) { return si::sin(si::squeeze<1>(si::unsqueeze<1>(x))); })) == 1);
static_assert(count(si::fuse<si::tensor<float, 2, 3, 4>>([](auto x) {
                      return si::sin(si::permute<1, 2, 0>(si::permute<1, 2, 0>(x)));
                    }),
                    op::permute) == 1);

// ---- constants fold
static_assert(count(si::fuse<X>([](auto x) { return x * (si::full_like(si::sum(x), si::c<2>) * si::c<3>); }),
                    op::mul) == 1);

// ---- what nobody asked for is not there
static_assert(work(si::fuse<X>([](auto x) {
                auto unused = si::exp(si::sum(x));
                (void)unused;
                return si::sin(x);
              })) == 1);

// ---- shapes
static_assert(result_shape(si::fuse<X, V>([](auto x, auto v) { return x + v; })) == shape(4, 6));
static_assert(result_shape(si::fuse<si::tensor<float, 4, 1>, V>([](auto x, auto v) { return x * v; })) == shape(4, 6));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::sum(x, si::axis<0>); })) == shape(6));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::sum(x, si::axis<0>, si::keepdim); })) == shape(1, 6));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::sum(x, si::axis<-1, -2>); })) == shape());
static_assert(result_shape(si::fuse<X>([](auto x) { return si::amax(x, si::keepdim); })) == shape(1, 1));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::transpose(x); })) == shape(6, 4));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::reshape<3, si::infer, 2>(x); })) == shape(3, 4, 2));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::flatten(x); })) == shape(24));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::slice<1, 1, si::end, 2>(x); })) == shape(4, 3));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::slice<1, -2>(x); })) == shape(4, 2));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::slice<0, 3, 1>(x); })) == shape(0, 6));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::unsqueeze<-1>(x); })) == shape(4, 6, 1));
static_assert(result_shape(si::fuse<X, X>([](auto x, auto y) { return si::concat<1>(x, y, x); })) == shape(4, 18));
static_assert(result_shape(si::fuse<X>([](auto x) { return si::pad<-1, 1, 2>(x); })) == shape(4, 9));
static_assert(result_shape(si::fuse<X, si::tensor<std::int32_t, 4, 2>>([](auto x, auto i) {
                return si::gather<1>(x, i);
              })) == shape(4, 2));
static_assert(result_shape(si::fuse<X, si::tensor<std::uint8_t, 2, 5>>([](auto x, auto i) {
                return si::embedding(x, i);
              })) == shape(2, 5, 6));
static_assert(result_shape(si::fuse<si::tensor<float, 2, 1, 3, 4>, si::tensor<float, 5, 4, 7>>([](auto a, auto b) {
                return si::matmul(a, b);
              })) == shape(2, 5, 3, 7));
static_assert(result_shape(si::fuse<si::tensor<float, 2, 3, 4>, si::tensor<float, 8, 4>>([](auto x, auto w) {
                return si::linear(x, w);
              })) == shape(2, 3, 8));
static_assert(result_shape(si::fuse<si::tensor<float, 4>, si::tensor<float, 8, 4>>([](auto x, auto w) {
                return si::linear(x, w);
              })) == shape(8));
static_assert(result_shape(si::fuse<X, si::tensor<std::int64_t, 4>>([](auto x, auto t) {
                return si::cross_entropy(x, t);
              })) == shape());

// Run-time extents: static ones win where both must be equal, and a product divides again.
static_assert(result_shape(si::fuse<T, X>([](auto t, auto x) { return t + x; })) == shape(4, 6));
static_assert(result_shape(si::fuse<T>([](auto t) { return si::reshape<si::infer, 6>(si::flatten(t)); })) ==
              si::fuse<T>([](auto t) { return t; }).graph().shape(0));
using R = si::tensor<float, si::dim<"rows">, 6>;
static_assert(result_shape(si::fuse<R, R>([](auto a, auto b) { return si::concat<1>(a, b); }))[1] == 12);
static_assert(si::is_symbolic(result_shape(si::fuse<R, R>([](auto a, auto b) { return si::concat<0>(a, b); }))[0]));

// ---- element types: PyTorch's promotion
template <class A, class B>
inline constexpr dtype promoted = result_type(si::fuse<si::tensor<A, 4>, si::tensor<B, 4>>([](auto a, auto b) {
  return a + b;
}));
template <class A, class S>
inline constexpr dtype with_scalar = result_type(si::fuse<si::tensor<A, 4>>([](auto a) { return a + S{1}; }));
using i8 = std::int8_t;
using u8 = std::uint8_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
static_assert(promoted<float, double> == dtype::f64 && promoted<si::f16, float> == dtype::f32);
static_assert(promoted<si::f16, si::bf16> == dtype::f32 && promoted<si::bf16, si::bf16> == dtype::bf16);
static_assert(promoted<i64, si::f16> == dtype::f16 && promoted<i32, i64> == dtype::i64 &&
              promoted<bool, u8> == dtype::u8);
static_assert(promoted<bool, bool> == dtype::boolean && promoted<i8, i32> == dtype::i32 &&
              promoted<u8, i8> == dtype::i32);
static_assert(with_scalar<si::f16, double> == dtype::f16 && with_scalar<si::bf16, int> == dtype::bf16);
static_assert(with_scalar<i8, int> == dtype::i8 && with_scalar<i32, float> == dtype::f32 &&
              with_scalar<i64, double> == dtype::f32);
static_assert(with_scalar<bool, int> == dtype::i64 && with_scalar<bool, float> == dtype::f32 &&
              with_scalar<bool, bool> == dtype::boolean);
static_assert(result_type(si::fuse<si::tensor<i32, 4>>([](auto a) { return a / a; })) == dtype::f32);
static_assert(result_type(si::fuse<si::tensor<i32, 4>>([](auto a) { return si::exp(a); })) == dtype::f32);
static_assert(result_type(si::fuse<si::tensor<si::bf16, 4>>([](auto a) { return a > 0; })) == dtype::boolean);
static_assert(result_type(si::fuse<si::tensor<si::bf16, 4>>([](auto a) { return si::where(a > 0, a, 0.f); })) ==
              dtype::bf16);
static_assert(result_type(si::fuse<si::tensor<si::bf16, 4>>([](auto a) { return si::sum(a); })) == dtype::bf16);
static_assert(result_type(si::fuse<si::tensor<i8, 4>>([](auto a) { return si::sum(a); })) == dtype::i64);
static_assert(result_type(si::fuse<si::tensor<bool, 4>>([](auto a) { return si::prod(a); })) == dtype::i64);
static_assert(result_type(si::fuse<si::tensor<i8, 4>>([](auto a) { return si::amax(a); })) == dtype::i8);
static_assert(result_type(si::fuse<si::tensor<i8, 4>>([](auto a) { return si::mean(a); })) == dtype::f32);
static_assert(result_type(si::fuse<si::tensor<float, 4>>([](auto a) { return si::argmax(a); })) == dtype::i64);
static_assert(result_type(si::fuse<si::tensor<float, 4>>([](auto a) { return si::any(a); })) == dtype::boolean);
static_assert(result_type(si::fuse<si::tensor<float, 4>>([](auto a) { return si::cast<si::f16>(a); })) == dtype::f16);
static_assert(result_type(si::fuse<si::tensor<float, 4>>([](auto a) { return si::iota<0>(a); })) == dtype::i64);
static_assert(result_type(si::fuse<si::tensor<si::bf16, 4, 4>, si::tensor<float, 4, 4>>([](auto a, auto b) {
                return si::matmul(a, b);
              })) == dtype::f32);

// ---- several results, and results that are inputs
constexpr auto two = si::fuse<X>([](auto x) { return tuple(si::sin(x), tuple(si::cos(x), x)); });
static_assert(two.graph().outputs.size() == 3 && count(two, op::clone) == 1);
constexpr auto same_twice = si::fuse<X>([](auto x) {
  auto y = si::sin(x);
  return tuple(y, y);
});
static_assert(same_twice.graph().outputs.size() == 2 && same_twice.graph().outputs[0] != same_twice.graph().outputs[1]);
static_assert(same_twice.kernel_count() == 1 && same_twice.numel_accessed() == 3 * 24);

// ---- names: kind, user-level ops sorted and once each, position
using Wide = si::tensor<float, 4, 64>;
static_assert(si::fuse<Wide>([](auto x) { return si::softmax(si::exp(x) + si::exp(x * x)); }).kernel(0).name ==
              "per_fused_add_exp_mul_softmax_0");
static_assert(si::fuse<Wide, si::tensor<float, 64>>([](auto x, auto v) {
                return si::gelu(si::layer_norm(x, v, v, 1e-5f));
              })
                  .kernel(0)
                  .name == "per_fused_gelu_layer_norm_0");
constexpr auto batched = si::fuse<si::tensor<float, 2, 4, 4>>([](auto x) { return si::matmul(x, x); });
static_assert(batched.kernel(0).name == "for_fused_bmm_0");
