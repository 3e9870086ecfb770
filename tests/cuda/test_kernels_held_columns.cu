// Columns of several phases that the registers of one block hold, over bodies written by hand, against plain loops in
// double.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_columns.cuh"

using namespace kernel_tests;

namespace {

/// As the library chooses.
template <class Body, long StaticRnumel = -1, class Args>
bool launch_chosen(const std::string& what, const Args& args) {
  run_with_memory(what, reduction_workspace<Body, orientation::column>(args.numel, args.rnumel), [&](auto& memory) {
    cuda::reduction<Body, orientation::column, StaticRnumel>(args, memory, nullptr, "red_test");
  });
  return true;
}
/// Held in vectors of Width if these fit, or of one column, whatever the number of columns. False: of so many rows a
/// block does not hold any.
template <class Body, int Width, long StaticRnumel = -1, class Args>
bool launch_held(const std::string& what, const Args& args) {
  using held = typename sinter::detail::held_body<Body, StaticRnumel>::type;
  const bool fits = cuda::detail::access_facts<Body>::template fits<Width, loop_var::x>(args);
  bool launched = false;
  run(what, [&] {
    launched = fits ? cuda::detail::launch_column_held<Width, StaticRnumel>(held{}, args, 0, nullptr, "red_test")
                    : cuda::detail::launch_column_held<1, StaticRnumel>(held{}, args, 0, nullptr, "red_test");
  });
  CHECK_MESSAGE((launched || args.rnumel > 130), what, ": not held");
  return launched;
}

/// [batch, rows, Inner], reduced over the rows.
template <long Inner, long Rows>
using at_middle = at<0, x_term<Inner * Rows, Inner>, x_term<1, 1, Inner>, r_term<Inner>>;

/// The same of sizes that only the launch knows.
using at_any_middle = at<0, x_term<d1, d0>, x_term<1, 1, d0>, r_term<d0>>;

template <long Inner>
inline constexpr int vector_of = Inner % 4 == 0 ? 4 : 1;

template <class T, class At>
using softmax = body<load<0, T, At>, reduce<ops::amax, T, float, 0>, reduce<ops::sumexp, T, float, 0>,
                     compute<ops::sub, T, float, 0, 1>, compute<ops::exp, T, float, 3>,
                     compute<ops::div, T, float, 4, 2>, store<1, T, 5, At>>;

/// Of [batch, rows, inner]; launch(what, args) has `inner` as its first size, and what a batch has as its second.
template <class T, class Launch>
void test_softmax(const char* name, std::int64_t batch, std::int64_t rows, std::int64_t inner, std::size_t shift,
                  const Launch& launch) {
  const std::int64_t columns = batch * inner;
  const auto a = numbers<T>(rows * columns, 1);
  device_array<T> da(a, shift), out(rows * columns, shift);
  auto args = make_args<2, 0, 2>(columns, rows);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.sizes[0] = inner, args.sizes[1] = rows * inner;
  const std::string what = label(name, batch * rows, inner, shift ? "misaligned" : "");
  if (!launch(what, args)) return;
  const auto column_of = [&](std::size_t k) { return k / (rows * inner) * inner + k % inner; };
  std::vector<double> most(columns, -1e300), sums(columns, 0.0);
  for (std::size_t k = 0; k < a.size(); ++k) most[column_of(k)] = std::max(most[column_of(k)], number(a[k]));
  for (std::size_t k = 0; k < a.size(); ++k) sums[column_of(k)] += std::exp(number(a[k]) - most[column_of(k)]);
  check_close(
      what, out.host(), [&](std::size_t k) { return std::exp(number(a[k]) - most[column_of(k)]) / sums[column_of(k)]; },
      4 * step_of<T>() + 2e-6, 1e-30);
  out.check_guards(what);
}

constexpr std::int64_t some_rows[] = {1, 7, 33, 64, 100, 128, 257, 512};

}  // namespace

TEST_CASE("held columns: their shapes") {
  using cuda::detail::hold_columns;
  static_assert(hold_columns(128, 8, 3, 2, 512).threads() == 128 && hold_columns(128, 8, 3, 2, 512).log_along() == 3);
  static_assert(hold_columns(33, 8, 3, 2, 512).threads() == 64 && hold_columns(512, 8, 3, 2, 512).threads() == 512);
  static_assert(hold_columns(513, 8, 3, 2, 512).threads() == 288 && hold_columns(513, 8, 3, 2, 512).log_along() == 2);
  static_assert(hold_columns(1024, 8, 3, 2, 512).threads() == 512 && hold_columns(1025, 8, 3, 2, 512).threads() == 0);
  static_assert(hold_columns(33, 32, 6, 5, 512).threads() == 128 && hold_columns(0, 8, 3, 2, 512).threads() == 0);
  static_assert(hold_columns(8, 8, 3, 2, 512).threads() == 256 && hold_columns(8, 8, 3, 2, 512).log_along() == 8);
  static_assert(hold_columns(8, 8, 3, 2, 128).threads() == 32);
  static_assert(cuda::detail::fills_device(264, 132) && !cuda::detail::fills_device(263, 132));
  using held = typename sinter::detail::held_body<softmax<bf16, at_column<d0>>, -1>::type;
  using facts = cuda::detail::held_column_facts<held, 4, false>;
  static_assert(facts::items == 8 && facts::columns == 256 && facts::choose(33, facts::log_along).threads() == 320 &&
                facts::choose(33, facts::log_line).threads() == 96);
}

TEST_CASE("held columns: softmax") {
  const auto test = [](auto zero, const char* name) {
    using T = decltype(zero);
    using B = softmax<T, at_column<d0>>;
    const auto held = [](const std::string& what, const auto& args) { return launch_held<B, 4>(what, args); };
    for (const std::int64_t columns : {1, 4, 31, 64, 100, 128, 1001, 1028})
      for (const std::int64_t rows : some_rows)
        for (const std::size_t shift : {0, 1}) {
          if (!is_sampled()) continue;
          test_softmax<T>(name, 1, rows, columns, shift, held);
        }
    test_softmax<T>(name, 1, 750, 260, 0, held);
    const auto chosen = [](const std::string& what, const auto& args) { return launch_chosen<B>(what, args); };
    test_softmax<T>(name, 1, 100, 40000, 0, chosen);
    test_softmax<T>(name, 1, 70, 40001, 1, chosen);
  };
  test(float{}, "held softmax f32");
  test(bf16{}, "held softmax bf16");
  test(f16{}, "held softmax f16");
}

TEST_CASE("held columns: softmax around an axis of static length in the middle") {
  const auto test = [](auto zero, auto rows, auto inner) {
    using T = decltype(zero);
    constexpr long length = decltype(rows)::value, width = decltype(inner)::value;
    using B = softmax<T, at_middle<width, length>>;
    for (const std::size_t shift : {0, 1}) {
      constexpr const char* name = "held softmax, static";
      test_softmax<T>(name, 3, length, width, shift, [](const std::string& what, const auto& args) {
        return launch_held<B, vector_of<width>, length>(what, args);
      });
      test_softmax<T>(name, 40000 / width, length, width, shift,
                      [](const std::string& what, const auto& args) { return launch_chosen<B, length>(what, args); });
    }
  };
  const auto test_all = [&]<long Rows, long Inner>() {
    using rows = std::integral_constant<long, Rows>;
    using inner = std::integral_constant<long, Inner>;
    test(float{}, rows{}, inner{}), test(bf16{}, rows{}, inner{}), test(f16{}, rows{}, inner{});
  };
  test_all.operator()<128, 96>(), test_all.operator()<100, 100>(), test_all.operator()<33, 77>();
  // Few enough that a thread has all rows of its columns.
  test_all.operator()<3, 1000>(), test_all.operator()<7, 99>(), test_all.operator()<16, 36>();
  test(float{}, std::integral_constant<long, 1000>{}, std::integral_constant<long, 64>{});
  test(bf16{}, std::integral_constant<long, 1000>{}, std::integral_constant<long, 64>{});
}

TEST_CASE("held columns: softmax around an axis in the middle of run-time width") {
  const auto test = [](auto zero) {
    using T = decltype(zero);
    using B = softmax<T, at_any_middle>;
    for (const std::int64_t inner : {3, 64, 77, 100, 1001})
      for (const std::int64_t rows : {1, 7, 33, 100})
        for (const std::size_t shift : {0, 1}) {
          if (!is_sampled()) continue;
          test_softmax<T>("held softmax, run-time width", 5, rows, inner, shift,
                          [](const std::string& what, const auto& args) { return launch_held<B, 4>(what, args); });
          if (rows == 100)
            test_softmax<T>(
                "held softmax, run-time width, static rows", 5, rows, inner, shift,
                [](const std::string& what, const auto& args) { return launch_held<B, 4, 100>(what, args); });
        }
  };
  test(float{}), test(bf16{}), test(f16{});
}

TEST_CASE("held columns: a norm in place, with results of columns, the same every time") {
  // And where the greatest of each column is.
  const auto test = [](auto zero, std::int64_t columns, std::int64_t rows, std::size_t shift) {
    if (!is_sampled()) return;
    using T = decltype(zero);
    using B = norm_in_place<T, reduce<ops::argmax, T, std::int64_t, 0>, store<4, std::int64_t, 18, at_x>>;
    device_array<std::int64_t> places(columns);
    const auto a =
        test_norm_in_place<T>("held norm in place", columns, rows, shift, places.data(),
                              [](const auto& what, const auto& args) { return launch_held<B, 4>(what, args); });
    if (a.empty()) return;
    std::vector<double> greatest(columns, -1e300), at(columns, 0.0);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const std::size_t x = k % columns;
      if (number(a[k]) > greatest[x]) greatest[x] = number(a[k]), at[x] = static_cast<double>(k / columns);
    }
    const std::string what = label("held argmax", rows, columns, shift ? "misaligned" : "");
    check_close(
        what, places.host(), [&](std::size_t x) { return at[x]; }, 0, 0);
    places.check_guards(what);
  };
  for (const std::int64_t columns : {4, 63, 100, 520, 1001})
    for (const std::int64_t rows : {2, 33, 64, 100, 128, 256})
      for (const std::size_t shift : {0, 1}) {
        test(float{}, columns, rows, shift);
        test(bf16{}, columns, rows, shift);
        test(f16{}, columns, rows, shift);
      }
}

TEST_CASE("held columns: two operands of different types, and one that comes late") {
  // exp(a * b - most) / sum + c.
  const auto test = [](std::int64_t columns, std::int64_t rows, std::size_t shift) {
    if (!is_sampled()) return;
    using B = body<load<0, bf16, at_column<d0>>, load<1, float, at_column<d0>>, compute<ops::mul, float, float, 0, 1>,
                   reduce<ops::amax, float, float, 2>, compute<ops::sub, float, float, 2, 3>,
                   compute<ops::exp, float, float, 4>, reduce<ops::sum, float, float, 5>,
                   compute<ops::div, float, float, 5, 6>, load<3, float, at_column<d0>>,
                   compute<ops::add, float, float, 7, 8>, store<2, float, 9, at_column<d0>>>;
    const auto a = numbers<bf16>(rows * columns, 1);
    const auto b = numbers<float>(rows * columns, 2), c = numbers<float>(rows * columns, 3);
    device_array<bf16> da(a, shift);
    device_array<float> db(b, shift), dc(c), out(rows * columns);
    auto args = make_args<4, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
    args.pointers[3] = dc.data(), args.sizes[0] = columns;
    const std::string what = label("held, two operands", rows, columns, shift ? "misaligned" : "");
    if (!launch_held<B, 4>(what, args)) return;
    std::vector<double> most(columns, -1e300), sums(columns, 0.0);
    const auto value = [&](std::size_t k) { return static_cast<double>(widen(a[k]) * b[k]); };
    for (std::size_t k = 0; k < a.size(); ++k) most[k % columns] = std::max(most[k % columns], value(k));
    for (std::size_t k = 0; k < a.size(); ++k) sums[k % columns] += std::exp(value(k) - most[k % columns]);
    check_close(
        what, out.host(),
        [&](std::size_t k) { return std::exp(value(k) - most[k % columns]) / sums[k % columns] + c[k]; }, 2e-5, 2e-6);
    out.check_guards(what);
  };
  for (const std::int64_t columns : {4, 33, 64, 100, 1001})
    for (const std::int64_t rows : {1, 33, 100, 128, 256})
      for (const std::size_t shift : {0, 1}) test(columns, rows, shift);
}

TEST_CASE("held columns: integers and doubles") {
  // How far each is from the least, where they are farthest, and their sum.
  const auto test = [](auto zero, auto sum_zero, const char* name, std::int64_t columns, std::int64_t rows) {
    if (!is_sampled()) return;
    using T = decltype(zero);
    using R = decltype(sum_zero);
    using B = body<load<0, T, at_column<d0>>, reduce<ops::amin, T, T, 0>, compute<ops::sub, T, T, 0, 1>,
                   reduce<ops::argmax, T, std::int64_t, 2>, reduce<ops::sum, T, R, 2>, store<1, T, 2, at_column<d0>>,
                   store<2, std::int64_t, 3, at_x>, store<3, R, 4, at_x>>;
    const auto a = numbers<T>(rows * columns, 1);
    device_array<T> da(a), out(rows * columns);
    device_array<std::int64_t> places(columns);
    device_array<R> sums(columns);
    auto args = make_args<4, 0, 1>(columns, rows);
    args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.pointers[2] = places.data();
    args.pointers[3] = sums.data(), args.sizes[0] = columns;
    const std::string what = label(name, rows, columns);
    if (!launch_held<B, 2>(what, args)) return;
    std::vector<double> least(columns, 1e300), most(columns, -1), at(columns, 0.0), total(columns, 0.0);
    for (std::size_t k = 0; k < a.size(); ++k) least[k % columns] = std::min(least[k % columns], number(a[k]));
    for (std::size_t k = 0; k < a.size(); ++k) {
      const std::size_t x = k % columns;
      const double far = number(a[k]) - least[x];
      total[x] += far;
      if (far > most[x]) most[x] = far, at[x] = static_cast<double>(k / columns);
    }
    check_close(
        what, out.host(), [&](std::size_t k) { return number(a[k]) - least[k % columns]; }, 1e-14, 0);
    check_close(
        what + " argmax", places.host(), [&](std::size_t x) { return at[x]; }, 0, 0);
    check_close(
        what + " sum", sums.host(), [&](std::size_t x) { return total[x]; }, 1e-12, 0);
    out.check_guards(what), places.check_guards(what), sums.check_guards(what);
  };
  for (const std::int64_t columns : {2, 31, 64, 258})
    for (const std::int64_t rows : {1, 33, 100, 128}) {
      test(std::int32_t{}, std::int64_t{}, "held i32", columns, rows);
      test(std::int64_t{}, std::int64_t{}, "held i64", columns, rows);
      test(double{}, double{}, "held f64", columns, rows);
    }
}
