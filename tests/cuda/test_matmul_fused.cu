// Prologues and epilogues of the matmul template: activations, casts, norms whose statistics run over k, two matmuls of
// one A, masks, gathers, irregular views, several stores; on both tiles, against loops in double precision.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "test_matmul_support.cuh"

namespace {

using namespace matmul_test;

constexpr int a_slot = 0, b_slot = 1, out_slot = 2, extra_slot = 3, second_slot = 4, weight_slot = 5, b2_slot = 6;
using fused_arguments = arguments<7, 3, num_sizes>;

/// The operands of one problem, dense, rounded to their dtypes.
template <class TA, class TB>
struct problem {
  matmul_extents e;
  std::vector<TA> a;
  std::vector<TB> b, b2, weight, bias, residual;
  explicit problem(const matmul_extents& extents)
      : e(extents),
        a(random_values<TA>(offset(e.batch * e.m * e.k), 1)),
        b(random_values<TB>(offset(e.batch * e.k * e.n), 2)),
        b2(random_values<TB>(offset(e.batch * e.k * e.n), 3)),
        weight(random_values<TB>(offset(e.k), 4)),
        bias(random_values<TB>(offset(e.n), 5)),
        residual(random_values<TB>(offset(e.batch * e.m * e.n), 6)) {}

  double a_row(std::int64_t g, std::int64_t m, std::int64_t k) const {
    return to_double(a[offset((g * e.m + m) * e.k + k)]);
  }
  double a_column(std::int64_t g, std::int64_t m, std::int64_t k) const {
    return to_double(a[offset((g * e.k + k) * e.m + m)]);
  }
  static double row(const std::vector<TB>& v, const matmul_extents& e, std::int64_t g, std::int64_t k, std::int64_t n) {
    return to_double(v[offset((g * e.k + k) * e.n + n)]);
  }
  static double column(const std::vector<TB>& v, const matmul_extents& e, std::int64_t g, std::int64_t k,
                       std::int64_t n) {
    return to_double(v[offset((g * e.n + n) * e.k + k)]);
  }
};

fused_arguments arguments_for(const matmul_extents& e) {
  fused_arguments args{};
  set_sizes(args, e);
  return args;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }
double silu(double x) { return x / (1 + std::exp(-x)); }
constexpr long bits(double value) { return __builtin_bit_cast(long, value); }

// ---- relu(a) with a shifted pointer, bias and gelu at the end
// -----------------------------------------------------------

template <class T>
using relu_a = body<load<a_slot, T, a_row_major>, compute<ops::relu, T, T, 0>, yield_value<T, 1>>;
template <class T>
using bias_gelu = body<accumulator<0, T>, load<extra_slot, T, along_n>, compute<ops::add, T, T, 0, 1>,
                       compute<ops::gelu, T, T, 2>, store<out_slot, T, 3, out_row_major>>;

template <class T>
void check_relu_bias_gelu(const matmul_extents& e, int shift) {
  const problem<T, T> p(e);
  const buffer<T> a(p.a, shift), b(p.b), bias(p.bias, shift);
  auto out = buffer<T>::output(p.residual.size(), shift);
  auto reference = multiply(
      e, [&](auto g, auto m, auto k) { return std::max(0.0, p.a_row(g, m, k)); },
      [&](auto g, auto k, auto n) { return p.row(p.b, e, g, k, n); });
  for (std::size_t i = 0; i < reference.size(); ++i)
    reference[i] = gelu(reference[i] + to_double(p.bias[i % offset(e.n)]));
  auto args = arguments_for(e);
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  args.pointers[extra_slot] = bias.data();
  args.pointers[out_slot] = out.data();
  check_tiles<relu_a<T>, bias_gelu<T>>(
      bodies<plain<T, b_slot, b_row_major>>{}, args, out, reference, tolerance<T>(), e, "relu, bias, gelu");
}

// ---- a is float and cast, b is scaled by a run-time scalar
// ----------------------------------------------------------------

using cast_a = body<load<a_slot, float, a_row_major>, cast_to<float, bf16, 0>, yield_value<bf16, 1>>;
using scaled_b = body<load<b_slot, bf16, b_transposed>, scalar<0, float>, compute<ops::mul, float, float, 0, 1>,
                      cast_to<float, bf16, 2>, yield_value<bf16, 3>>;

void check_cast_and_scale(const matmul_extents& e, int shift) {
  const problem<float, bf16> p(e);
  const buffer<float> a(p.a, shift);
  const buffer<bf16> b(p.b, shift);
  auto out = buffer<bf16>::output(p.residual.size());
  const auto reference = multiply(
      e, [&](auto g, auto m, auto k) { return rounded<bf16>(p.a_row(g, m, k)); },
      [&](auto g, auto k, auto n) { return rounded<bf16>(p.column(p.b, e, g, k, n) * 0.375); });
  auto args = arguments_for(e);
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  args.pointers[out_slot] = out.data();
  args.scalars[0].d = 0.375;
  check_tiles<cast_a, store_result<bf16>>(
      bodies<scaled_b>{}, args, out, reference, tolerance<bf16>(), e, "cast a, scaled b");
}

// ---- silu(a * b) * (a * b2), each b with a layout of its own
// ------------------------------------------------------------------

template <class T>
using gate_up = body<accumulator<0, T>, accumulator<1, T>, compute<ops::silu, T, T, 0>, compute<ops::mul, T, T, 2, 1>,
                     store<out_slot, T, 3, out_row_major>>;

template <class T, class AtB, class AtB2>
void check_gate_up(const matmul_extents& e) {
  constexpr bool column = std::is_same_v<AtB, b_transposed>, column2 = std::is_same_v<AtB2, b_transposed>;
  const problem<T, T> p(e);
  const buffer<T> a(p.a), b(p.b), b2(p.b2);
  auto out = buffer<T>::output(p.residual.size());
  const auto a_of = [&](auto g, auto m, auto k) { return p.a_row(g, m, k); };
  auto reference = multiply(
      e, a_of, [&](auto g, auto k, auto n) { return column ? p.column(p.b, e, g, k, n) : p.row(p.b, e, g, k, n); });
  const auto up = multiply(
      e, a_of, [&](auto g, auto k, auto n) { return column2 ? p.column(p.b2, e, g, k, n) : p.row(p.b2, e, g, k, n); });
  for (std::size_t i = 0; i < reference.size(); ++i) reference[i] = silu(reference[i]) * up[i];
  auto args = arguments_for(e);
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  args.pointers[b2_slot] = b2.data();
  args.pointers[out_slot] = out.data();
  check_tiles<plain<T, a_slot, a_row_major>, gate_up<T>>(
      bodies<plain<T, b_slot, AtB>, plain<T, b2_slot, AtB2>>{}, args, out, reference, tolerance<T>(), e, "gate and up");
}

// ---- rms_norm(a, weight), residual at the end, the sum also as float
// -----------------------------------------------------------

// 0 a, 1 a^2, 2 sum, 3 1/K, 4 mean, 5 eps, 6 + eps, 7 rsqrt, 8 a * rsqrt, 9 weight[k], 10 * weight
template <class T, class At>
using rms_norm_a = body<load<a_slot, T, At>, compute<ops::square, float, float, 0>, reduce<ops::sum, float, float, 1>,
                        scalar<0, float>, compute<ops::mul, float, float, 2, 3>, constant<float, bits(1e-6)>,
                        compute<ops::add, float, float, 4, 5>, compute<ops::rsqrt, float, float, 6>,
                        compute<ops::mul, float, float, 0, 7>, load<weight_slot, T, at<0, term<loop_var::r, 1, 0, 1>>>,
                        compute<ops::mul, float, float, 8, 9>, yield_value<T, 10>>;
template <class T>
using add_residual = body<accumulator<0, T>, load<extra_slot, T, out_row_major>, compute<ops::add, float, float, 0, 1>,
                          store<out_slot, T, 2, out_row_major>, store<second_slot, float, 2, out_row_major>>;

template <class T, class At>
void check_rms_norm(const matmul_extents& e, int shift) {
  constexpr bool transposed = std::is_same_v<At, a_transposed>;
  const problem<T, T> p(e);
  const buffer<T> a(p.a, shift), b(p.b), weight(p.weight, shift), residual(p.residual, shift);
  auto out = buffer<T>::output(p.residual.size());
  auto second = buffer<float>::output(p.residual.size(), shift);
  const auto a_of = [&](auto g, auto m, auto k) { return transposed ? p.a_column(g, m, k) : p.a_row(g, m, k); };
  std::vector<double> scale(offset(e.batch * e.m));
  for (std::int64_t g = 0; g < e.batch; ++g)
    for (std::int64_t m = 0; m < e.m; ++m) {
      double sum = 0;
      for (std::int64_t k = 0; k < e.k; ++k) sum += a_of(g, m, k) * a_of(g, m, k);
      scale[offset(g * e.m + m)] = 1 / std::sqrt(sum / static_cast<double>(e.k) + 1e-6);
    }
  auto reference = multiply(
      e,
      [&](auto g, auto m, auto k) {
        return rounded<T>(a_of(g, m, k) * scale[offset(g * e.m + m)] * to_double(p.weight[offset(k)]));
      },
      [&](auto g, auto k, auto n) { return p.row(p.b, e, g, k, n); });
  for (std::size_t i = 0; i < reference.size(); ++i) reference[i] += to_double(p.residual[i]);
  auto args = arguments_for(e);
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  args.pointers[weight_slot] = weight.data();
  args.pointers[extra_slot] = residual.data();
  args.pointers[out_slot] = out.data();
  args.pointers[second_slot] = second.data();
  args.scalars[0].d = e.k > 0 ? 1.0 / static_cast<double>(e.k) : 0;
  for (const auto tile : every_tile) {
    out.poison();
    second.poison();
    run<rms_norm_a<T, At>, add_residual<T>>(tile, bodies<plain<T, b_slot, b_row_major>>{}, args, e);
    compare(out, reference, tolerance<T>(), e, std::string("rms_norm, residual, ") + name_of(tile));
    compare(second, reference, tolerance<T>(), e, std::string("rms_norm, second store, ") + name_of(tile));
  }
}

// ---- layer_norm(a) in two loops over k: mean, then squared deviations
// ------------------------------------------------------------

// 0 a, 1 sum, 2 1/K, 3 mean, 4 a - mean, 5 squared, 6 sum, 7 variance, 8 eps, 9 + eps, 10 rsqrt, 11 normalised
template <class T>
using layer_norm_a =
    body<load<a_slot, T, a_row_major>, reduce<ops::sum, T, T, 0>, scalar<0, T>, compute<ops::mul, T, T, 1, 2>,
         compute<ops::sub, T, T, 0, 3>, compute<ops::square, T, T, 4>, reduce<ops::sum, T, T, 5>,
         compute<ops::mul, T, T, 6, 2>, constant<T, bits(1e-5)>, compute<ops::add, T, T, 7, 8>,
         compute<ops::rsqrt, T, T, 9>, compute<ops::mul, T, T, 4, 10>, yield_value<T, 11>>;

template <class T>
void check_layer_norm(const matmul_extents& e, int shift) {
  const problem<T, T> p(e);
  const buffer<T> a(p.a, shift), b(p.b);
  auto out = buffer<T>::output(p.residual.size());
  std::vector<double> mean(offset(e.batch * e.m)), scale(mean.size());
  for (std::int64_t row = 0; row < e.batch * e.m; ++row) {
    const double depth = static_cast<double>(e.k);
    double sum = 0, squares = 0;
    for (std::int64_t k = 0; k < e.k; ++k) sum += to_double(p.a[offset(row * e.k + k)]);
    for (std::int64_t k = 0; k < e.k; ++k) squares += std::pow(to_double(p.a[offset(row * e.k + k)]) - sum / depth, 2);
    mean[offset(row)] = sum / depth;
    scale[offset(row)] = 1 / std::sqrt(squares / depth + 1e-5);
  }
  const auto reference = multiply(
      e,
      [&](auto g, auto m, auto k) {
        return rounded<T>((p.a_row(g, m, k) - mean[offset(g * e.m + m)]) * scale[offset(g * e.m + m)]);
      },
      [&](auto g, auto k, auto n) { return p.column(p.b, e, g, k, n); });
  auto args = arguments_for(e);
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  args.pointers[out_slot] = out.data();
  args.scalars[0].d = e.k > 0 ? 1.0 / static_cast<double>(e.k) : 0;
  // k = 1 normalises to zero exactly; the reference's norm is then zero as well.
  check_tiles<layer_norm_a<T>, store_result<T>>(
      bodies<plain<T, b_slot, b_transposed>>{}, args, out, reference, tolerance<T>() * 10, e, "layer_norm");
}

// ---- b divided by its column's greatest absolute value: statistics on the other operand
// ----------------------------------------------

template <class T, class At>
using scaled_to_one = body<load<b_slot, T, At>, compute<ops::abs, float, float, 0>, reduce<ops::amax, float, float, 1>,
                           compute<ops::div, float, float, 0, 2>, yield_value<T, 3>>;

template <class T, class AtB>
void check_column_statistics(const matmul_extents& e) {
  constexpr bool column = std::is_same_v<AtB, b_transposed>;
  const problem<T, T> p(e);
  const buffer<T> a(p.a), b(p.b);
  auto out = buffer<T>::output(p.residual.size());
  const auto b_of = [&](auto g, auto k, auto n) { return column ? p.column(p.b, e, g, k, n) : p.row(p.b, e, g, k, n); };
  std::vector<double> greatest(offset(e.batch * e.n));
  for (std::int64_t g = 0; g < e.batch; ++g)
    for (std::int64_t n = 0; n < e.n; ++n)
      for (std::int64_t k = 0; k < e.k; ++k)
        greatest[offset(g * e.n + n)] = std::max(greatest[offset(g * e.n + n)], std::abs(b_of(g, k, n)));
  const auto reference = multiply(
      e, [&](auto g, auto m, auto k) { return p.a_row(g, m, k); },
      [&](auto g, auto k, auto n) { return rounded<T>(b_of(g, k, n) / greatest[offset(g * e.n + n)]); });
  auto args = arguments_for(e);
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  args.pointers[out_slot] = out.data();
  check_tiles<plain<T, a_slot, a_row_major>, store_result<T>>(
      bodies<scaled_to_one<T, AtB>>{}, args, out, reference, tolerance<T>(), e, "columns scaled to one");
}

// ---- rows of a gathered by index, k beyond a bound masked, the index a value too
// ----------------------------------------------------------

// 0 k < 20, 1 row index, 2 gathered a where 0, 3 k as float, 4 sum
template <class T>
using gathered_a = body<inside<at<0, term<loop_var::r, 1, 0, 1>>, 0, 20>,
                        load<extra_slot, std::int32_t, at<0, term<loop_var::x, 1, 0, 1>>>,
                        gather_load<a_slot, T, at<0, term<loop_var::r, 1, 0, 1>>, 1, depth_, rows_, 0>,
                        index_value<at<1, term<loop_var::r, 1, 0, 2>>>, widen_to<std::int64_t, float, 3>,
                        compute<ops::add, float, float, 2, 4>, yield_value<T, 5>>;
// where n < 10: b, else 0
template <class T>
using masked_b =
    body<inside<at<0, term<loop_var::x, 1, columns_, 1>>, 0, 10>, load<b_slot, T, b_row_major, 0>, yield_value<T, 1>>;

template <class T>
void check_gather_and_mask(const matmul_extents& e) {
  const problem<T, T> p(e);
  std::vector<std::int32_t> rows(offset(e.m));
  for (std::int64_t m = 0; m < e.m; ++m)
    rows[offset(m)] = static_cast<std::int32_t>(m % 2 ? -1 - m * 7 % e.m : m * 5 % e.m);
  const buffer<T> a(p.a), b(p.b);
  const buffer<std::int32_t> rows_device(rows);
  auto out = buffer<T>::output(p.residual.size());
  const auto reference = multiply(
      e,
      [&](auto, auto m, auto k) {
        const std::int64_t row = rows[offset(m)] < 0 ? rows[offset(m)] + e.m : rows[offset(m)];
        return rounded<T>((k < 20 ? to_double(p.a[offset(row * e.k + k)]) : 0) + 1.0 + 2.0 * static_cast<double>(k));
      },
      [&](auto g, auto k, auto n) { return n < 10 ? p.row(p.b, e, g, k, n) : 0.0; });
  auto args = arguments_for(e);
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  args.pointers[extra_slot] = rows_device.data();
  args.pointers[out_slot] = out.data();
  check_tiles<gathered_a<T>, store_result<T>>(
      bodies<masked_b<T>>{}, args, out, reference, tolerance<T>(), e, "gather and mask");
}

// ---- views no wide access fits: triples with gaps in a, a permuted and masked result
// ------------------------------------------------------

using gaps_in_a = at<1, term<loop_var::x, 1, 0, stride_a_>, term<loop_var::r, 3, 0, 4>, term<loop_var::r, 1, 3, 1>>;
using permuted_out = at<0, term<loop_var::x, columns_, 0, columns_>, term<loop_var::x, 5, dynamic_number(6), 1>,
                        term<loop_var::x, 1, 5, dynamic_number(6)>>;
template <class T>
using abs_a = body<load<a_slot, T, gaps_in_a>, compute<ops::abs, T, T, 0>, yield_value<T, 1>>;
// n is a multiple of 5: (n / 5, n % 5) -> (n % 5, n / 5); negative results are not stored
template <class T>
using store_permuted = body<accumulator<0, T>, constant<T, bits(0.0)>, compute<ops::ge, T, bool, 0, 1>,
                            store<out_slot, T, 0, permuted_out, 2>>;

template <class T>
void check_irregular(const matmul_extents& e) {
  const problem<T, T> p(e);
  const std::int64_t stride = (e.k + 2) / 3 * 4 + 1;
  std::vector<T> gaps(offset(e.m * stride + 1), element_of<T>(NAN));
  for (std::int64_t m = 0; m < e.m; ++m)
    for (std::int64_t k = 0; k < e.k; ++k) gaps[offset(1 + m * stride + k / 3 * 4 + k % 3)] = p.a[offset(m * e.k + k)];
  const buffer<T> a(gaps), b(p.b);
  const auto product = multiply(
      e, [&](auto g, auto m, auto k) { return std::abs(p.a_row(g, m, k)); },
      [&](auto g, auto k, auto n) { return p.row(p.b, e, g, k, n); });
  // A result near zero may have either sign, and is then stored or not: shift them all away from it.
  std::vector<double> reference(product.size());
  const std::vector<T> marks(product.size(), element_of<T>(-1.0));
  double smallest = 0;
  for (std::int64_t m = 0; m < e.m; ++m)
    for (std::int64_t n = 0; n < e.n; ++n) {
      const double value = product[offset(m * e.n + n)];
      reference[offset(m * e.n + n % 5 * (e.n / 5) + n / 5)] = value < 0 ? -1.0 : value;
      if (std::abs(value) < 1e-3) smallest += 1;
    }
  auto args = arguments_for(e);
  args.sizes[5] = stride;
  args.sizes[6] = e.n / 5;
  args.pointers[a_slot] = a.data();
  args.pointers[b_slot] = b.data();
  for (const auto tile : every_tile) {
    const buffer<T> out(marks, 0, 64);
    args.pointers[out_slot] = out.data();
    run<abs_a<T>, store_permuted<T>>(tile, bodies<plain<T, b_slot, b_row_major>>{}, args, e);
    std::vector<double> allowed = reference;
    const auto got = out.download();
    for (std::size_t i = 0; i < got.size(); ++i)  // the sign of what is almost zero is not the point
      if (std::abs(reference[i]) < 1e-3 || reference[i] == -1.0) {
        if (to_double(static_cast<T>(got[i])) >= 0 && to_double(static_cast<T>(got[i])) < 1e-3)
          allowed[i] = to_double(static_cast<T>(got[i]));
        else if (to_double(static_cast<T>(got[i])) == -1.0 && std::abs(reference[i]) < 1e-3) allowed[i] = -1.0;
      }
    compare(out, allowed, tolerance<T>(), e, std::string("irregular views, ") + name_of(tile));
  }
}

}  // namespace

TEST_CASE("matmul prologue and epilogue: relu, bias, gelu") {
  for (const auto& e : all_shapes(5)) check_relu_bias_gelu<sinter::f16>(e, 0);
  for (const auto& e : all_shapes(11, 2)) check_relu_bias_gelu<sinter::bf16>(e, 3);
  for (const auto& e : all_shapes(7)) check_relu_bias_gelu<float>(e, 1);
  for (const auto& e : all_shapes(13)) check_relu_bias_gelu<double>(e, 0);
}

TEST_CASE("matmul prologues on both operands: cast and scale") {
  for (const auto& e : all_shapes(5)) check_cast_and_scale(e, 0);
  for (const auto& e : all_shapes(11, 2)) check_cast_and_scale(e, 1);
}

TEST_CASE("two matmuls of one a: silu(gate) * up") {
  for (const auto& e : all_shapes(5)) check_gate_up<sinter::bf16, b_transposed, b_transposed>(e);
  for (const auto& e : all_shapes(11, 2)) check_gate_up<sinter::f16, b_row_major, b_transposed>(e);
  for (const auto& e : all_shapes(13)) check_gate_up<float, b_row_major, b_row_major>(e);
  for (const auto& e : all_shapes(17)) check_gate_up<double, b_row_major, b_transposed>(e);
  check_gate_up<sinter::bf16, b_transposed, b_transposed>({1, 1000, 1000, 64});
}

TEST_CASE("a norm in the prologue: statistics over k") {
  for (const auto& e : all_shapes(5)) check_rms_norm<sinter::bf16, a_row_major>(e, 0);
  for (const auto& e : all_shapes(11, 2)) check_rms_norm<sinter::f16, a_row_major>(e, 1);
  for (const auto& e : all_shapes(11, 2)) check_rms_norm<sinter::bf16, a_transposed>(e, 0);
  for (const auto& e : all_shapes(13)) check_rms_norm<float, a_row_major>(e, 0);
  for (const auto& e : all_shapes(7)) check_layer_norm<float>(e, 0);
  for (const auto& e : all_shapes(11, 2)) check_layer_norm<sinter::f16>(e, 1);
}

TEST_CASE("statistics on the other operand") {
  for (const auto& e : all_shapes(11, 2)) check_column_statistics<sinter::bf16, b_transposed>(e);
  for (const auto& e : all_shapes(13, 2)) check_column_statistics<sinter::f16, b_row_major>(e);
}

TEST_CASE("gathers and masks in prologues") {
  for (const auto& e : all_shapes(11)) check_gather_and_mask<float>(e);
  for (const auto& e : all_shapes(13)) check_gather_and_mask<sinter::bf16>(e);
}

TEST_CASE("views that no wide access fits") {
  for (const std::int64_t m : {1, 17, 65, 130})
    for (const std::int64_t n : {5, 40, 135})
      for (const std::int64_t k : {1, 24, 33, 100}) {
        check_irregular<float>({1, m, n, k});
        check_irregular<sinter::f16>({1, m, n, k});
      }
}
