// Long rows that groups of warps share, and blocks of clusters, against plain loops in double: so many of each shape
// that the kernel for them is chosen. SPDX-License-Identifier: BSL-1.0
#include "test_kernels_rows.cuh"

using namespace kernel_tests;

namespace {

/// a + b, which the first phase stores, and what it is more than the row's mean of it.
template <long C>
using sum_and_rest = body<load<0, float, at_row<C>>, load<1, bf16, at_row<C>>, widen_to<bf16, float, 1>,
                          compute<ops::add, float, float, 0, 2>, store<3, float, 3, at_row<C>>,
                          reduce<ops::sum, float, float, 3>, scalar<0, float>, compute<ops::mul, float, float, 5, 6>,
                          compute<ops::sub, float, float, 3, 7>, store<2, float, 8, at_row<C>>>;

template <long C = d0>
void test_sum_and_rest(std::int64_t rows, std::int64_t columns, std::size_t shift) {
  if (!is_sampled()) return;
  const auto a = numbers<float>(rows * columns, 1);
  const auto b = numbers<bf16>(rows * columns, 2);
  device_array<float> da(a, shift), sum(rows * columns, shift), rest(rows * columns, shift);
  device_array<bf16> db(b, shift);
  auto args = make_args<4, 1, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = rest.data();
  args.pointers[3] = sum.data();
  args.scalars[0] = {1.0 / static_cast<double>(columns), 0};
  args.sizes[0] = columns;
  const std::string what = label("sum and rest", rows, columns);
  launch<sum_and_rest<C>, C == d0 ? -1 : C>(what, args);
  const auto value = [&](std::size_t k) { return double(a[k]) + number(b[k]); };
  std::vector<double> means(rows, 0.0);
  for (std::int64_t k = 0; k < rows * columns; ++k) means[k / columns] += value(k) / static_cast<double>(columns);
  check_close(what, sum.host(), value, 1e-6, 1e-6);
  check_close(
      what + ", rest", rest.host(), [&](std::size_t k) { return value(k) - means[k / columns]; }, 1e-5, 1e-5);
  sum.check_guards(what), rest.check_guards(what);
}

/// x less the row's mean, divided by the mean of how far it is from that, times a weight: three phases.
template <class T, long C>
using deviations =
    body<load<0, T, at_row<C>>, scalar<0, float>, reduce<ops::sum, T, float, 0>, compute<ops::mul, float, float, 2, 1>,
         compute<ops::sub, float, float, 0, 3>, compute<ops::abs, float, float, 4>, reduce<ops::sum, float, float, 5>,
         compute<ops::mul, float, float, 6, 1>, compute<ops::div, float, float, 4, 7>, load<1, float, at_r>,
         compute<ops::mul, float, float, 8, 9>, store<2, T, 10, at_row<C>>, store<3, float, 7, at_x>>;

template <class T, long C>
void test_deviations(std::int64_t rows, std::int64_t columns, std::size_t shift, std::size_t shift_weight) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  const auto w = numbers<float>(columns, 2);
  device_array<T> da(a, shift), out(rows * columns, shift);
  device_array<float> dw(w, shift_weight), far_out(rows);
  auto args = make_args<4, 1, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = dw.data(), args.pointers[2] = out.data();
  args.pointers[3] = far_out.data();
  args.scalars[0] = {1.0 / static_cast<double>(columns), 0};
  args.sizes[0] = columns;
  const std::string what = label("deviations", rows, columns);
  launch<deviations<T, C>, is_dynamic(C) ? -1 : C>(what, args);
  std::vector<double> mean(rows, 0.0), far(rows, 0.0);
  for (std::int64_t k = 0; k < rows * columns; ++k) mean[k / columns] += number(a[k]) / static_cast<double>(columns);
  for (std::int64_t k = 0; k < rows * columns; ++k)
    far[k / columns] += std::fabs(number(a[k]) - mean[k / columns]) / static_cast<double>(columns);
  check_close(
      what, out.host(),
      [&](std::size_t k) { return (number(a[k]) - mean[k / columns]) / far[k / columns] * w[k % columns]; },
      4 * step_of<T>() + 1e-5, 4 * step_of<T>() + 1e-5);
  check_close(
      what + ", how far", far_out.host(), [&](std::size_t i) { return far[i]; }, 1e-5, 1e-6);
  out.check_guards(what), far_out.check_guards(what);
}

/// The same of x silu(gate), which the first phase leaves in shared memory for the others.
template <class T, long C>
using gated_deviations =
    body<load<0, T, at_row<C>>, load<1, T, at_row<C>>, compute<ops::silu, T, T, 1>, compute<ops::mul, T, T, 0, 2>,
         scalar<0, float>, reduce<ops::sum, T, float, 3>, compute<ops::mul, float, float, 5, 4>,
         compute<ops::sub, float, float, 3, 6>, compute<ops::abs, float, float, 7>, reduce<ops::sum, float, float, 8>,
         compute<ops::mul, float, float, 9, 4>, compute<ops::div, float, float, 7, 10>, load<2, float, at_r>,
         compute<ops::mul, float, float, 11, 12>, store<3, T, 13, at_row<C>>>;
/// x w, which the second of three phases leaves, less how far y is from its mean times the mean of their products.
template <long C>
using less_projection =
    body<load<0, float, at_row<C>>, load<1, float, at_row<C>>, load<2, float, at_r>, scalar<0, float>,
         reduce<ops::sum, float, float, 1>, compute<ops::mul, float, float, 4, 3>, compute<ops::sub, float, float, 1, 5>,
         compute<ops::mul, float, float, 0, 2>, compute<ops::mul, float, float, 6, 7>,
         reduce<ops::sum, float, float, 8>, compute<ops::mul, float, float, 9, 3>,
         compute<ops::mul, float, float, 6, 10>, compute<ops::sub, float, float, 7, 11>,
         store<3, float, 12, at_row<C>>>;
template <class Body>
using kept = cuda::detail::kept_value<Body>;
static_assert(kept<gated_deviations<bf16, d0>>::statement == 3 && kept<gated_deviations<float, 50257>>::statement == 3);
static_assert(kept<less_projection<d0>>::statement == 7 && kept<less_projection<d0>>::phase == 1);
// There must be room for it, and something to gain; doubles would be in vectors of two.
static_assert(!kept<softmax<bf16, d0>>::is && !kept<layer_norm<float, float, d0>>::is && !kept<sum_and_rest<d0>>::is);
static_assert(!kept<gated_deviations<double, d0>>::is);
// Shorter rows that keep two values of 16 bits are grouped where memory is fast, unless registers hold them; so are others
// that begin anywhere.
template <class Body>
constexpr bool grouped_from_39(bool fast_memory, bool anywhere, bool alone) {
  return cuda::detail::least_grouped_bytes<Body>(fast_memory, anywhere, alone) == 39 << 10;
}
static_assert(grouped_from_39<gated_deviations<bf16, d0>>(true, false, true));
static_assert(!grouped_from_39<gated_deviations<bf16, d0>>(true, false, false));
static_assert(!grouped_from_39<gated_deviations<float, d0>>(true, false, true));
static_assert(grouped_from_39<gated_deviations<float, d0>>(true, true, false));
static_assert(!grouped_from_39<gated_deviations<bf16, d0>>(false, true, true));
static_assert(!grouped_from_39<deviations<bf16, d0>>(true, true, true));  // of one input

/// Either of them.
template <class T, long C>
void test_kept(std::int64_t rows, std::int64_t columns, std::size_t shift, std::size_t shift_weight,
               bool projects = false) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1), b = numbers<T>(rows * columns, 2);
  const auto w = numbers<float>(columns, 3);
  device_array<T> da(a, shift), db(b, shift), out(rows * columns, shift);
  device_array<float> dw(w, shift_weight);
  auto args = make_args<4, 1, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = dw.data();
  args.pointers[3] = out.data();
  args.scalars[0] = {1.0 / static_cast<double>(columns), 0};
  args.sizes[0] = columns;
  const std::string what = label(projects ? "less projection" : "gated deviations", rows, columns);
  if constexpr (std::is_same_v<T, float>)
    if (projects) launch<less_projection<C>, is_dynamic(C) ? -1 : C>(what, args);
  if (!projects) launch<gated_deviations<T, C>, is_dynamic(C) ? -1 : C>(what, args);
  const auto value = [&](std::size_t k) {
    const double x = number(a[k]), y = number(b[k]);
    return projects ? x * w[k % columns] : x * y / (1 + std::exp(-y));
  };
  const auto of_mean = [&](std::size_t k) { return projects ? number(b[k]) : value(k); };
  const double each = 1.0 / static_cast<double>(columns);
  std::vector<double> mean(rows, 0.0), second(rows, 0.0);
  for (std::size_t k = 0; k < a.size(); ++k) mean[k / columns] += each * of_mean(k);
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double rest = of_mean(k) - mean[k / columns];
    second[k / columns] += each * (projects ? rest * value(k) : std::fabs(rest));
  }
  check_close(
      what, out.host(),
      [&](std::size_t k) {
        const double rest = of_mean(k) - mean[k / columns], of_row = second[k / columns];
        return projects ? value(k) - rest * of_row : rest / of_row * w[k % columns];
      },
      4 * step_of<T>() + 1e-5, 4 * step_of<T>() + 1e-5);
  out.check_guards(what);
}

/// x w less the row's mean of it: what all rows share is read in two phases, for a value of 16 bits has no room for that.
template <class T, class W, long C>
using weighted_rest = body<load<0, T, at_row<C>>, load<1, W, at_r>, compute<ops::mul, float, float, 0, 1>,
                           scalar<0, float>, reduce<ops::sum, float, float, 2>, compute<ops::mul, float, float, 4, 3>,
                           compute<ops::sub, float, float, 2, 5>, store<2, T, 6, at_row<C>>>;
static_assert(cuda::detail::few_loops<weighted_rest<bf16, bf16, d0>> && !kept<weighted_rest<f16, f16, d0>>::is);
static_assert(!cuda::detail::few_loops<layer_norm<bf16, bf16, d0>>);

template <class T, class W>
void test_weighted_rest(std::int64_t rows, std::int64_t columns, std::size_t shift, std::size_t shift_weight) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(rows * columns, 1);
  const auto w = numbers<W>(columns, 2);
  device_array<T> da(a, shift), out(rows * columns, shift);
  device_array<W> dw(w, shift_weight);
  auto args = make_args<3, 1, 1>(rows, columns);
  args.pointers[0] = da.data(), args.pointers[1] = dw.data(), args.pointers[2] = out.data();
  args.scalars[0] = {1.0 / static_cast<double>(columns), 0};
  args.sizes[0] = columns;
  const std::string what = label("weighted rest", rows, columns);
  launch<weighted_rest<T, W, d0>, -1>(what, args);
  const auto value = [&](std::size_t k) { return number(a[k]) * number(w[k % columns]); };
  std::vector<double> mean(rows, 0.0);
  for (std::size_t k = 0; k < a.size(); ++k) mean[k / columns] += value(k) / static_cast<double>(columns);
  check_close(
      what, out.host(), [&](std::size_t k) { return value(k) - mean[k / columns]; }, 2 * step_of<T>() + 1e-6,
      2 * step_of<T>() + 1e-6);
  out.check_guards(what);
}

/// moments with weights that have to be cast.
template <class T, class W, long C>
requires std::is_integral_v<W>
struct cast_moments {
  using F = compute_t<T>;
  using type = body<load<0, T, at_row<C>>, scalar<0, F>, scalar<1, F>, reduce<ops::sum, T, F, 0>,
                    reduce<ops::m2, T, F, 0>, compute<ops::mul, F, F, 3, 1>, compute<ops::mul, F, F, 4, 1>,
                    compute<ops::add, F, F, 6, 2>, compute<ops::rsqrt, F, F, 7>, compute<ops::sub, F, F, 0, 5>,
                    compute<ops::mul, F, F, 9, 8>, load<1, W, at_r>, cast_to<W, F, 11>, compute<ops::mul, F, F, 10, 12>,
                    compute<ops::add, F, F, 13, 12>, store<2, T, 14, at_row<C>>, store<3, F, 5, at_x>>;
};

}  // namespace

TEST_CASE("grouped rows of every alignment") {
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::int64_t columns = 50257 + static_cast<std::int64_t>(shift);
    test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", 256, columns, shift, shift);
    test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 256, columns, shift, 7 - shift,
                                                                7 - shift);
    test_layer_norm<f16, float, layer_norm<f16, float, d0>, -1>("layer norm f16, f32", 256, columns, shift, shift % 3,
                                                                shift % 3);
    test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", 400, 16385, shift % 4, shift / 2,
                                                                    shift / 2);
  }
  for (const std::size_t shift : {0, 1})
    test_softmax<double, softmax<double, d0>, -1>("softmax f64", 260, 12289, shift);
}

TEST_CASE("grouped rows whose weights lie differently") {
  test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 256, 50257, 0, 1, 2);
  test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", 300, 30522, 1, 2, 3);
}

TEST_CASE("grouped rows of any number and length") {
  for (const std::int64_t columns : {30522, 32768, 40001, 65536, 65537, 100003, 131072, 200001}) {
    const std::int64_t rows = std::max<std::int64_t>(96, (13 << 20) / columns);
    for (const std::int64_t more : {0, 1}) {
      test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", rows + more, columns, 1, 1);
      test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", rows + more, columns, more);
    }
    test_softmax<float, softmax<float, d0>, -1>("softmax f32", rows, columns);
    test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", rows, columns);
  }
}

TEST_CASE("grouped rows of several phases, types and outputs") {
  for (const std::size_t shift : {0, 1, 3}) {
    test_sum_and_rest(260, 20001, shift);
    test_sum_and_rest(260, 20000, shift);
    test_deviations<bf16, d0>(256, 50257, shift, 0);
    test_deviations<float, d0>(300, 30522, shift, 1);
  }
  test_deviations<bf16, 50257>(256, 50257, 2, 3);
  test_deviations<float, 50257>(130, 50257, 1, 1);
}

TEST_CASE("grouped rows that keep what their first phase computed") {
  for (const std::size_t shift : {0, 1, 3, 6}) {
    test_kept<bf16, d0>(256, 50257, shift, 0);
    test_kept<bf16, d0>(300, 40000 + static_cast<std::int64_t>(shift), 0, shift);
    test_kept<f16, d0>(256, 30522, shift, 1);
    test_kept<float, d0>(200, 30522, shift % 4, 1);
    test_kept<float, d0>(200, 20001, shift % 4, shift % 3, true);
  }
  test_kept<bf16, 50257>(256, 50257, 2, 3);
  test_kept<float, 40000>(161, 40000, 0, 0);
}

TEST_CASE("grouped rows whose weights several phases read") {
  for (std::size_t shift = 0; shift < 8; ++shift) {
    test_weighted_rest<bf16, bf16>(256, 50257 - static_cast<std::int64_t>(shift), shift, 7 - shift);
    test_weighted_rest<f16, f16>(300, 40000 + static_cast<std::int64_t>(shift % 2), 0, shift);
    test_weighted_rest<bf16, float>(256, 50257, shift, shift % 3);
  }
  test_weighted_rest<float, float>(300, 30522, 1, 3);
}

TEST_CASE("grouped rows of whole vectors, of static length, of which a multiprocessor holds one") {
  test_softmax<bf16, softmax<bf16, 80000>, 80000>("softmax bf16", 170, 80000);
  test_softmax<float, softmax<float, 40000>, 40000>("softmax f32", 161, 40000);
  test_deviations<bf16, 66048>(200, 66048, 0, 1);
  test_deviations<float, 100000>(97, 100000, 0, 0);
  test_sum_and_rest<20000>(260, 20000, 0);
}

TEST_CASE("grouped rows' means and variances as one fold") {
  for (const std::size_t shift : {0, 1, 2, 3}) {
    test_moments<moments<bf16, bf16, d0>, bf16, bf16, d0>(256, 50257, shift, 5, 0);
    test_moments<moments<float, float, d0>, float, float, d0>(300, 30522, shift, 1, 1000);
    test_moments<cast_moments<bf16, std::int8_t, 50259>::type, bf16, std::int8_t, 50259>(256, 50259, shift, 3, 0);
    test_moments<cast_moments<double, std::uint8_t, 12289>::type, double, std::uint8_t, 12289>(260, 12289, shift % 2, 3,
                                                                                               100);
  }
  test_moments<moments<f16, float, 65536>, f16, float, 65536>(256, 65536, 0, 0, 0);
}
