// The oracle, section 5: forward and backward passes. Inductor derives the backward pass and what to save for it; here
// both are written down, one fused function each, and their elements add up to the row's figure. Named by row; where
// sinter differs on purpose docs/oracle.md says why.
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/oracle.hpp"

namespace si = sinter;
using std::tuple;

using V = si::tensor<float, 10>;
using V20 = si::tensor<float, 20>;
using M = si::tensor<float, 10, 10>;

// Both passes together.
#define SINTER_BOTH(ID, ELEMENTS) \
  static_assert(ID##_forward.numel_accessed() + ID##_backward.numel_accessed() == ELEMENTS, #ID)

// Nothing is saved but x: the backward pass computes the chain again.
SINTER_ROW(MC01_forward, 1, 20, si::fuse<V>([](auto x) { return si::cos(si::cos(si::cos(x))); }));
SINTER_ROW(MC01_backward, 1, 30, si::fuse<V, V>([](auto g, auto x) {
              auto a = si::cos(x), b = si::cos(a);
              return -(-(-g * si::sin(b)) * si::sin(a)) * si::sin(x);
            }));
SINTER_BOTH(MC01, 50);

// The sum is saved, not its four terms, which have one gradient.
SINTER_ROW(MC02_forward, 1, 60, si::fuse<V, V, V, V>([](auto a, auto b, auto c, auto d) {
              auto s = a + b + c + d;
              return tuple(si::cos(si::cos(s)), s);
            }));
SINTER_ROW(MC02_backward, 1, 30,
            si::fuse<V, V>([](auto g, auto s) { return g * si::sin(si::cos(s)) * si::sin(s); }));
SINTER_BOTH(MC02, 90);

// Inductor stores the ones in each pass, for a matmul to read: 1300 elements. Here a matmul makes a constant operand up.
constexpr auto MC04_gradient = [](auto g, auto y) {
  auto t = si::tanh(y), u = si::tanh(t);
  return g * (1.f - u * u) * (1.f - t * t);
};
SINTER_ROW(MC04_forward, 2, 400, si::fuse<M>([](auto x) {
              auto y = si::matmul(x, si::full_like(x, 1.f));
              return tuple(si::tanh(si::tanh(y)), y);
            }));
SINTER_ROW(MC04_backward, 2, 500, si::fuse<M, M>([](auto g, auto y) {
              return si::matmul(MC04_gradient(g, y), si::transpose(si::full_like(g, 1.f)));
            }));
SINTER_BOTH(MC04, 900);

SINTER_ROW(MC05_forward, 3, 800, si::fuse<M>([](auto a) {
              auto s = si::matmul(a, a) + 1.f, b = s + 2.f;
              return tuple(si::matmul(s, b), s, b);
            }));
SINTER_ROW(MC05_backward, 6, 1800, si::fuse<M, M, M, M>([](auto g, auto a, auto s, auto b) {
              auto gs = si::matmul(g, si::transpose(b)) + si::matmul(si::transpose(s), g);
              return si::matmul(gs, si::transpose(a)) + si::matmul(si::transpose(a), gs);
            }));
SINTER_BOTH(MC05, 2600);

// The gradient of b is a view of g, which the caller takes.
SINTER_ROW(MC07_forward, 1, 40, si::fuse<V, V>([](auto a, auto b) { return si::concat<0>(si::tanh(a), b); }));
SINTER_ROW(MC07_backward, 1, 30, si::fuse<V20, V>([](auto g, auto a) {
              auto t = si::tanh(a);
              return si::slice<0, 0, 10>(g) * (1.f - t * t);
            }));
SINTER_BOTH(MC07, 70);

// What is saved of relu is one byte for each element.
using V16 = si::tensor<float, 16>;
SINTER_ROW(MC08_forward, 1, 16 + 16 + 4, si::fuse<V16>([](auto x) {
              auto y = si::relu(x);
              return tuple(y, y <= 0.f);
            }));
SINTER_ROW(MC08_backward, 1, 4 + 16 + 16, si::fuse<V16, si::tensor<bool, 16>>([](auto g, auto dead) {
              return si::where(dead, 0.f, g);
            }));
SINTER_BOTH(MC08, 72);

// The matmuls' operands and the first product are saved, the sums computed again.
SINTER_ROW(MC10_forward, 5, 1300, si::fuse<M>([](auto x) {
              auto s1 = x * x, m1 = si::matmul(s1, s1);
              auto y = x + m1 * 2.f, s2 = y * y;
              return tuple(y + si::matmul(s2, s2) * 2.f, m1, s1, s2);
            }));
constexpr auto MC10_square = [](auto g, auto s) {
  return si::matmul(g, si::transpose(s)) + si::matmul(si::transpose(s), g);
};
SINTER_ROW(MC10_backward, 7, 2600, si::fuse<M, M, M, M, M>([](auto g, auto x, auto m1, auto s1, auto s2) {
              auto y = x + m1 * 2.f;
              auto gy = g + MC10_square(g * 2.f, s2) * y * 2.f;
              return gy + MC10_square(gy * 2.f, s1) * x * 2.f;
            }));
SINTER_BOTH(MC10, 3900);
