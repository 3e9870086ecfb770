// Graphs that broke a law of the scheduler once, as the generated graphs of tests/host/test_plan_laws.cpp found them, made
// small: each says what was wrong.
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/with.hpp"

namespace si = sinter;
using std::tuple;

using V = si::tensor<float, 12>;
using M = si::tensor<float, 4, 8>;

// A result that loads nothing, and what is computed from it, were kernels of their own: more than eager has.
constexpr auto filled = [](auto x) {
  auto ones = si::full_like(x, si::c<1>);
  return tuple(ones, ones, ones * si::c<2>, x + ones);
};
static_assert(si::fuse<V>(filled).kernel_count() == 1);
static_assert(si::fuse<V>(filled).bytes_read() == 12 * 4 && si::fuse<V>(filled).bytes_written() == 4 * 12 * 4);
// Where they cannot share one, nothing is read all the same.
constexpr auto filled_apart = [](auto x) {
  auto ones = si::full_like(x, si::c<1>);
  return tuple(ones, si::transpose(x) - si::slice<1, 0, 4>(si::reshape<8, 4>(ones)));
};
static_assert(si::fuse<M>(filled_apart).bytes_read() == 4 * 8 * 4);

// A normalised row was computed again for the view that is assigned, because what it is made of is overwritten: three
// kernels for eager's two.
constexpr auto moved = [](auto x) { return si::assign(si::slice<0, 0, 2>(x), si::slice<0, 2, 4>(si::layer_norm(x, 1e-5f))); };
static_assert(si::fuse<M>(moved).kernel_count() == 2 && si::fuse<si::eager, M>(moved).kernel_count() == 2);
// Without anything to keep below it the view itself is.
constexpr auto reversed = [](auto x) { return si::assign(x, si::flip<0>(x)); };
static_assert(si::fuse<M>(reversed).kernel_count() == 2);

// Negative positions behind a run-time number of elements: the sum of both was no number.
using D = si::tensor<float, si::dyn>;
constexpr auto behind = [](auto x, auto y) {
  auto last = si::gather<0>(y, si::iota<0>(si::slice<0, 0, 3>(y)) - si::c<5>);
  return si::concat<0>(x, last);
};
template <class F>
constexpr bool knows_its_sizes(F) {
  const auto& kernel = F::program::template kernel<0>::value;
  for (si::number n : kernel.sizes)
    if (kernel.numbers.find(n) < 0) return false;
  return true;
}
static_assert(knows_its_sizes(si::fuse<D, si::tensor<float, 5>>(behind)));

// A normalisation of the left operand's rows entered two products of it, though the second has it on the right as well,
// where its columns are what is summed over.
using Q = si::tensor<float, 64, 64>;
constexpr auto both_sides = [](auto x, auto w) {
  auto h = si::layer_norm(x, 1e-5f);
  return si::matmul(h, w) + si::matmul(h, h);
};
static_assert(si::fuse<si::max_fusion, Q, Q>(both_sides).kernel_count() == 2);

// An operand without elements, broadcast along what has none either, was read once for each column: its index had lost
// the sum's variable, which no value is given.
constexpr auto nothing = [](auto x, auto y, auto w) {
  return si::matmul(w, si::transpose(si::reshape<1, 0>(x * y)));
};
template <class F>
constexpr bool reads_in_the_sum(F) {
  const auto& kernel = F::program::template kernel<0>::value;
  for (const auto& i : kernel.code) {
    if (i.code != si::detail::opcode::load) continue;
    bool uses_r = false;
    for (int t = 0; t < kernel.accesses[i.access].size; ++t)
      uses_r = uses_r || kernel.accesses[i.access].terms[t].variable == si::loop_var::r;
    if (!uses_r) return false;
  }
  return true;
}
constexpr auto empty_product =
    si::fuse<si::max_autotune, si::tensor<float, 0, 1, 6>, si::tensor<float, 0, 6>, si::tensor<float, 2, 0>>(nothing);
static_assert(empty_product.kernel_count() == 1);
static_assert(reads_in_the_sum(empty_product));

// A product that a concat joins with others was copied there where rows are as long as the call says, or of no elements.
using R = si::tensor<float, si::dyn, 8>;
constexpr auto beside_input = [](auto x, auto y) { return si::concat<1>(si::matmul(x, si::transpose(x)), y); };
static_assert(si::fuse<R, si::tensor<float, si::dyn, 6>>(beside_input).kernel_count() == 2);
static_assert(si::fuse<R, si::tensor<float, si::dyn, si::dyn>>(beside_input).kernel_count() == 2);
static_assert(si::fuse<si::tensor<float, 0, 5>, si::tensor<float, 0, 5>>(beside_input).kernel_count() == 1);

// Sums of one constant read nothing that they could share a kernel for; they are constants themselves.
constexpr auto of_constants = [](auto x) {
  auto two = si::full_like(x, si::c<2>);
  return x + si::mean(two, si::axis<-1>, si::keepdim) * si::sum(two, si::axis<0>) + si::amax(two);
};
static_assert(si::fuse<M>(of_constants).kernel_count() == 1);
static_assert(si::fuse<M>(of_constants).kernel(0).kind == si::kernel_kind::pointwise);

// The first of two assignments waits for a loop, the second does not and was done before it. So it was where the loop
// has one element.
using Y = si::tensor<float, 12, 64>;
constexpr auto assigned_twice = [](auto x, auto y, auto v) {
  si::assign(x, si::amax(y, si::axis<-1>) + v);
  return si::assign(x, v * 2);
};
static_assert(si::fuse<V, Y, V>(assigned_twice).kernel_count() == 2);
constexpr si::options loops = with<&si::options::unroll_reductions_threshold, 0>;
static_assert(si::fuse<loops, V, si::tensor<float, 12, 1>, V>(assigned_twice).kernel_count() == 2);
static_assert(si::fuse<V, si::tensor<float, 12, 1>, V>(assigned_twice).kernel_count() == 1);

// An operand that loads nothing is computed where a matmul reads it. Below a view that its loops cannot index there is a
// buffer all the same: the matmul did not say that it reads it, and the buffer had no memory.
constexpr auto product_of_filled = [](auto x) {
  auto filled = si::exp(si::reshape<2, 16>(si::full_like(x, 0.5f)));
  return si::matmul(filled, si::transpose(filled));
};
static_assert(si::fuse<si::tensor<float, 4, 2, 4>>(product_of_filled).kernel_count() == 2);
static_assert(si::fuse<si::tensor<float, 4, 2, 4>>(product_of_filled).workspace_bytes() == 256);

// Kernels that compute nothing shared nothing: eager had one less.
constexpr auto padded_nothing = [](auto x) { return si::pad<0, 0, 1>(si::layer_norm(x, 1e-5f)); };
static_assert(si::fuse<si::tensor<float, 4, 0, 8>>(padded_nothing).kernel_count() == 1);

// The maximum of nothing is infinite; folding what is computed of it was no constant expression.
constexpr auto of_nothing = [](auto x) { return si::maximum(si::amax(x) / si::amax(x), si::c<1>); };
static_assert(si::fuse<si::tensor<float, 0>>(of_nothing).kernel_count() == 1);

// The mean inside an unrolled sum of the same rows counted as often as the sum has elements, so that the sum was stored,
// and eager had a kernel less where more followed.
constexpr auto over_spread = [](auto x) {
  auto centred = x - si::mean(x, si::axis<-1>, si::keepdim);
  return x / si::sum(si::square(centred), si::axis<-1>, si::keepdim);
};
static_assert(si::fuse<si::tensor<float, 6, 3>>(over_spread).kernel_count() == 1);
