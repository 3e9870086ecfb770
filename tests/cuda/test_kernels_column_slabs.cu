// Columns around a middle axis whose slabs wait in shared memory, over bodies written by hand, against plain loops in
// double: as they are shared out by themselves, and in all forms.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_columns.cuh"

using namespace kernel_tests;

namespace {

using cuda::detail::column_slab_choice;
using cuda::detail::slab_columns;

/// [batch, rows, inner], of which only the launch knows sizes and strides.
using at_slab = at<0, x_term<d1, d0>, x_term<1, 1, d0>, r_term<d2>>;
/// The same for all of a batch.
using at_shared = at<0, x_term<1, 1, d0>, r_term<d0>>;

struct extents {
  std::int64_t batch, rows, inner;
  std::int64_t beside = 0, between = 0;  // elements between rows, and between slabs, that are none
  std::size_t shift = 0;                 // of the first
  std::int64_t pitch() const { return inner + beside; }
  std::int64_t apart() const { return rows * pitch() + between; }
  std::int64_t columns() const { return batch * inner; }
  std::size_t in_memory() const { return static_cast<std::size_t>(batch * apart()); }
  std::size_t at(std::int64_t x, std::int64_t r) const {
    return static_cast<std::size_t>(x / inner * apart() + r * pitch() + x % inner);
  }
  std::string label(const std::string& name) const {
    return name + " " + std::to_string(batch) + " x " + std::to_string(rows) + " x " + std::to_string(inner) +
           (beside + between > 0 ? ", apart" : "") + (shift > 0 ? ", misaligned" : "");
  }
};

/// A form: blocks of a cluster, columns of a stripe or of several slabs (0: of a slab), threads of a column, threads of a
/// block.
struct form {
  int blocks, columns, deep, threads;
  form of(std::int64_t inner) const { return {blocks, columns > 0 ? columns : static_cast<int>(inner), deep, threads}; }
};
constexpr form chosen{0, 0, 0, 0};

/// False: there is no such form. What is chosen must be there.
template <class Body, class Args>
bool launch_slabs(const std::string& what, const Args& args, const form& f) {
  using slab = cuda::detail::slab_body<Body, -1>;
  using facts = cuda::detail::column_slab_facts<slab>;
  static_assert(facts::can);
  bool launched = false;
  if constexpr (cuda::detail::kernels_overlap)
    run(what, [&] {
      const std::int64_t inner = facts::inner(args);
      if (inner == 0 || f.blocks > args.rnumel) return;
      const auto limits = cuda::detail::limits_of_device("red_test");
      const slab_columns all = cuda::detail::find_slabs<slab>(args, inner, args.rnumel, limits);
      column_slab_choice choice;
      if (f.blocks == 0) {
        choice = cuda::detail::choose_slabs(facts{}, all);
        if (!choice) return;
      } else {
        if (f.columns > inner && (f.blocks > 1 || !all.adjoin)) return;
        auto& s = choice.share;
        s.inner = static_cast<int>(inner);
        s.columns = f.columns > inner ? f.columns / s.inner * s.inner : f.columns;
        s.stripes = (s.inner + s.columns - 1) / s.columns;
        s.rows = static_cast<int>((args.rnumel + f.blocks - 1) / f.blocks);
        s.blocks = static_cast<int>((args.rnumel + s.rows - 1) / s.rows);
        s.deep = f.deep < s.rows ? f.deep : s.rows;
        choice.threads = std::min(f.threads, all.most_threads);
        cuda::detail::place_slab(choice, facts{}, all);
        if (choice.bytes > all.shared_bytes) return;
      }
      cuda::detail::launch_slabs_as<slab>(choice, all, args, nullptr, "red_test");
      launched = true;
    });
  if (cuda::detail::kernels_overlap) CHECK_MESSAGE((launched || f.blocks > 0), what, ": not launched");
  return launched;
}

template <class T>
using softmax = body<load<0, T, at_slab>, reduce<ops::amax, T, float, 0>, reduce<ops::sumexp, T, float, 0>,
                     compute<ops::sub, T, float, 0, 1>, compute<ops::exp, T, float, 3>,
                     compute<ops::div, T, float, 4, 2>, store<1, T, 5, at_slab>>;

template <class T>
void test_softmax(const extents& e, const form& f = chosen) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(e.in_memory(), 1);
  device_array<T> da(a, e.shift), out(a, e.shift);
  auto args = make_args<2, 0, 3>(e.columns(), e.rows);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  args.sizes[0] = e.inner, args.sizes[1] = e.apart(), args.sizes[2] = e.pitch();
  const std::string what = e.label("slabs, softmax");
  if (!launch_slabs<softmax<T>>(what, args, f)) return;
  std::vector<double> want(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) want[k] = number(a[k]);
  for (std::int64_t x = 0; x < e.columns(); ++x) {
    double most = -1e300, sum = 0;
    for (std::int64_t r = 0; r < e.rows; ++r) most = std::max(most, number(a[e.at(x, r)]));
    for (std::int64_t r = 0; r < e.rows; ++r) sum += std::exp(number(a[e.at(x, r)]) - most);
    for (std::int64_t r = 0; r < e.rows; ++r) want[e.at(x, r)] = std::exp(number(a[e.at(x, r)]) - most) / sum;
  }
  check_close(
      what, out.host(), [&](std::size_t k) { return want[k]; }, 4 * step_of<T>() + 2e-6, 1e-30);
  out.check_guards(what);
}

/// And where the greatest of each column is.
template <class T>
using norm_in_slabs = norm_at<T, at_slab, reduce<ops::argmax, T, std::int64_t, 0>, store<4, std::int64_t, 18, at_x>>;

/// The same every time.
template <class T>
void test_norm(const extents& e, const form& f = chosen) {
  if (!is_sampled()) return;
  const auto a = numbers<T>(e.in_memory(), 1);
  const auto weight = numbers<float>(e.rows, 2), bias = numbers<float>(e.columns(), 3);
  device_array<float> dw(weight), db(bias), most(e.columns());
  device_array<std::int64_t> places(e.columns());
  auto args = make_args<5, 0, 3>(e.columns(), e.rows);
  args.pointers[1] = dw.data(), args.pointers[2] = db.data(), args.pointers[3] = most.data();
  args.pointers[4] = places.data();
  args.sizes[0] = e.inner, args.sizes[1] = e.apart(), args.sizes[2] = e.pitch();
  const std::string what = e.label("slabs, norm in place");
  std::vector<T> first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    device_array<T> data(a, e.shift);
    args.pointers[0] = data.data();
    if (!launch_slabs<norm_in_slabs<T>>(what, args, f)) return;
    data.check_guards(what);
    const auto now = data.host();
    if (repeat == 0) first = now;
    else
      check_close(
          what + " again", now, [&](std::size_t k) { return number(first[k]); }, 0, 0);
  }
  std::vector<double> want(a.size()), greatest(e.columns()), at(e.columns());
  for (std::size_t k = 0; k < a.size(); ++k) want[k] = number(a[k]);
  for (std::int64_t x = 0; x < e.columns(); ++x) {
    double mean = 0, squares = 0;
    greatest[x] = -1e300;
    for (std::int64_t r = 0; r < e.rows; ++r) {
      const double v = number(a[e.at(x, r)]);
      mean += v / static_cast<double>(e.rows);
      if (v > greatest[x]) greatest[x] = v, at[x] = static_cast<double>(r);
    }
    for (std::int64_t r = 0; r < e.rows; ++r) squares += std::pow(number(a[e.at(x, r)]) - mean, 2);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(e.rows) + 1e-5);
    for (std::int64_t r = 0; r < e.rows; ++r)
      want[e.at(x, r)] = (number(a[e.at(x, r)]) - mean) * scale * weight[r] + bias[x];
  }
  // What passes near zero is rounded beside numbers as large as the scale.
  check_close(
      what, first, [&](std::size_t k) { return want[k]; }, step_of<T>(), 5e-5);
  check_close(
      what + " greatest", most.host(), [&](std::size_t x) { return greatest[x]; }, 0, 0);
  check_close(
      what + " argmax", places.host(), [&](std::size_t x) { return at[x]; }, 0, 0);
  most.check_guards(what), places.check_guards(what);
}

constexpr form forms[] = {{1, 0, 1, 128}, {1, 0, 3, 448}, {1, 500, 1, 256}, {1, 100, 4, 256},
                          {2, 0, 1, 256}, {3, 0, 2, 192}, {4, 64, 1, 128},  {8, 0, 1, 448},
                          {8, 50, 5, 256}, {5, 77, 1, 32}, {1, 2000, 1, 448}};

}  // namespace

TEST_CASE("slabs: softmax as the library shares them out") {
  const auto test = [](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t inner : {1, 3, 17, 49, 100, 196, 333, 1001})
      for (const std::int64_t rows : {1, 2, 7, 33, 100, 384})
        for (const std::size_t shift : {0, 1}) test_softmax<T>({5, rows, inner, 0, 0, shift});
    test_softmax<T>({600, 12, 77}), test_softmax<T>({3000, 17, 17, 0, 0, 3}), test_softmax<T>({2, 2000, 33});
    test_softmax<T>({40, 128, 1001, 0, 0, 1}), test_softmax<T>({2, 700, 1001}), test_softmax<T>({3, 3, 5003});
  };
  test(float{}), test(bf16{}), test(f16{});
}

TEST_CASE("slabs: softmax in all forms") {
  const auto test = [](auto zero) {
    using T = decltype(zero);
    for (const form& f : forms)
      for (const std::int64_t inner : {33, 77, 196, 1001})
        for (const std::int64_t rows : {7, 40, 128}) {
          for (const std::size_t shift : {0, 5}) test_softmax<T>({5, rows, inner, 0, 0, shift}, f.of(inner));
        }
  };
  test(float{}), test(bf16{});
}

TEST_CASE("slabs: rows and slabs that lie apart") {
  const auto test = [](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t inner : {64, 77, 300})
      for (const std::int64_t rows : {5, 100, 512})
        for (const std::int64_t beside : {0, 1, 16, 35})
          for (const std::int64_t between : {0, 1, 64}) {
            test_softmax<T>({4, rows, inner, beside, between, 1});
            test_softmax<T>({4, rows, inner, beside, between}, {2, static_cast<int>(inner), 1, 128});
          }
  };
  test(float{}), test(bf16{});
}

TEST_CASE("slabs: a norm in place, with results of columns, the same every time") {
  const auto test = [](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t inner : {17, 49, 77, 501})
      for (const std::int64_t rows : {2, 33, 100, 256})
        for (const std::size_t shift : {0, 1}) test_norm<T>({7, rows, inner, 0, 0, shift});
    for (const form& f : forms)
      for (const std::int64_t inner : {49, 501})
        test_norm<T>({5, 100, inner, 0, 0, 1}, f.of(inner));
    test_norm<T>({700, 17, 17}), test_norm<T>({3, 300, 96, 1, 7});
  };
  test(float{}), test(bf16{}), test(f16{});
}

TEST_CASE("slabs: two operands of different types, one of which all slabs share, and one that comes late") {
  // exp(a * b - most) / sum + c.
  const auto test = [](const extents& e, const form& f) {
    if (!is_sampled()) return;
    using B = body<load<0, bf16, at_slab>, load<1, float, at_shared>, compute<ops::mul, float, float, 0, 1>,
                   reduce<ops::amax, float, float, 2>, compute<ops::sub, float, float, 2, 3>,
                   compute<ops::exp, float, float, 4>, reduce<ops::sum, float, float, 5>,
                   compute<ops::div, float, float, 5, 6>, load<3, float, at_slab>,
                   compute<ops::add, float, float, 7, 8>, store<2, float, 9, at_slab>>;
    const auto a = numbers<bf16>(e.in_memory(), 1);
    const auto b = numbers<float>(e.rows * e.inner, 2), c = numbers<float>(e.in_memory(), 3);
    device_array<bf16> da(a, e.shift);
    device_array<float> db(b, e.shift), dc(c, e.shift), out(c, e.shift);
    auto args = make_args<4, 0, 3>(e.columns(), e.rows);
    args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
    args.pointers[3] = dc.data();
    args.sizes[0] = e.inner, args.sizes[1] = e.apart(), args.sizes[2] = e.pitch();
    const std::string what = e.label("slabs, two operands");
    // The result takes the place of `c`, not of `b`, which comes first but lies otherwise.
    if (!launch_slabs<B>(what, args, f)) return;
    std::vector<double> want(c.size());
    for (std::size_t k = 0; k < c.size(); ++k) want[k] = c[k];
    for (std::int64_t x = 0; x < e.columns(); ++x) {
      double most = -1e300, sum = 0;
      const auto value = [&](std::int64_t r) {
        return static_cast<double>(widen(a[e.at(x, r)]) * b[r * e.inner + x % e.inner]);
      };
      for (std::int64_t r = 0; r < e.rows; ++r) most = std::max(most, value(r));
      for (std::int64_t r = 0; r < e.rows; ++r) sum += std::exp(value(r) - most);
      for (std::int64_t r = 0; r < e.rows; ++r) want[e.at(x, r)] += std::exp(value(r) - most) / sum;
    }
    check_close(
        what, out.host(), [&](std::size_t k) { return want[k]; }, 2e-5, 2e-6);
    out.check_guards(what);
  };
  for (const std::int64_t inner : {33, 100, 333})
    for (const std::int64_t rows : {7, 64, 100})
      for (const std::size_t shift : {0, 1}) {
        test({6, rows, inner, 0, 0, shift}, chosen);
        test({6, rows, inner, 0, 0, shift}, {4, static_cast<int>(inner), 1, 192});
        test({6, rows, inner, 4, 0, shift}, {2, static_cast<int>(inner + 1) / 2, 2, 256});
      }
}

TEST_CASE("slabs: integers") {
  // How far each is from the least, where they are farthest, and their sum.
  const auto test = [](auto zero, const char* name, const extents& e, const form& f) {
    if (!is_sampled()) return;
    using T = decltype(zero);
    using B = body<load<0, T, at_slab>, reduce<ops::amin, T, T, 0>, compute<ops::sub, T, T, 0, 1>,
                   reduce<ops::argmax, T, std::int64_t, 2>, reduce<ops::sum, T, std::int64_t, 2>,
                   store<1, T, 2, at_slab>, store<2, std::int64_t, 3, at_x>, store<3, std::int64_t, 4, at_x>>;
    const auto a = numbers<T>(e.in_memory(), 1);
    device_array<T> da(a, e.shift), out(a, e.shift);
    device_array<std::int64_t> places(e.columns()), sums(e.columns());
    auto args = make_args<4, 0, 3>(e.columns(), e.rows);
    args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.pointers[2] = places.data();
    args.pointers[3] = sums.data();
    args.sizes[0] = e.inner, args.sizes[1] = e.apart(), args.sizes[2] = e.pitch();
    const std::string what = e.label(name);
    if (!launch_slabs<B>(what, args, f)) return;
    std::vector<double> want(a.size()), at(e.columns()), total(e.columns());
    for (std::int64_t x = 0; x < e.columns(); ++x) {
      double least = 1e300, most = -1;
      for (std::int64_t r = 0; r < e.rows; ++r) least = std::min(least, number(a[e.at(x, r)]));
      for (std::int64_t r = 0; r < e.rows; ++r) {
        const double far = number(a[e.at(x, r)]) - least;
        want[e.at(x, r)] = far, total[x] += far;
        if (far > most) most = far, at[x] = static_cast<double>(r);
      }
    }
    check_close(
        what, out.host(), [&](std::size_t k) { return want[k]; }, 0, 0);
    check_close(
        what + " argmax", places.host(), [&](std::size_t x) { return at[x]; }, 0, 0);
    check_close(
        what + " sum", sums.host(), [&](std::size_t x) { return total[x]; }, 0, 0);
    out.check_guards(what), places.check_guards(what), sums.check_guards(what);
  };
  for (const std::int64_t inner : {33, 100, 257})
    for (const std::int64_t rows : {7, 64, 100})
      for (const std::size_t shift : {0, 1})
        for (const form& f : {chosen, form{3, 33, 2, 256}}) {
          test(std::int32_t{}, "slabs, i32", {6, rows, inner, 0, 0, shift}, f);
          test(std::int64_t{}, "slabs, i64", {6, rows, inner, 0, 0, shift}, f);
        }
}

TEST_CASE("slabs: bytes, and results that take no load's place") {
  // How far each is from the mean.
  using B = body<load<0, std::int8_t, at_slab>, cast_to<std::int8_t, float, 0>, reduce<ops::sum, float, float, 1>,
                 row_length<float>, compute<ops::div, float, float, 2, 3>, compute<ops::sub, float, float, 1, 4>,
                 store<1, float, 5, at_slab>>;
  for (const std::int64_t inner : {33, 100, 257})
    for (const std::int64_t rows : {7, 64, 100})
      for (const std::size_t shift : {0, 1, 3})
        for (const form& f : {chosen, form{2, 40, 2, 256}}) {
          if (!is_sampled()) continue;
          const extents e{6, rows, inner, 0, 0, shift};
          const auto a = numbers<std::int8_t>(e.in_memory(), 1);
          device_array<std::int8_t> da(a, e.shift);
          device_array<float> out(a.size(), e.shift);
          auto args = make_args<2, 0, 3>(e.columns(), e.rows);
          args.pointers[0] = da.data(), args.pointers[1] = out.data();
          args.sizes[0] = e.inner, args.sizes[1] = e.apart(), args.sizes[2] = e.pitch();
          const std::string what = e.label("slabs, bytes");
          if (!launch_slabs<B>(what, args, f)) continue;
          std::vector<double> want(a.size());
          for (std::int64_t x = 0; x < e.columns(); ++x) {
            double mean = 0;
            for (std::int64_t r = 0; r < e.rows; ++r) mean += number(a[e.at(x, r)]) / static_cast<double>(e.rows);
            for (std::int64_t r = 0; r < e.rows; ++r) want[e.at(x, r)] = number(a[e.at(x, r)]) - mean;
          }
          check_close(
              what, out.host(), [&](std::size_t k) { return want[k]; }, 1e-6, 1e-4);
          out.check_guards(what);
        }
}

TEST_CASE("slabs: how they are shared out") {
  // All that is chosen fits, and has every row and column once.
  using facts = cuda::detail::column_slab_facts<cuda::detail::slab_body<softmax<bf16>, -1>>;
  for (const std::int64_t inner : {1, 7, 49, 100, 1001, 4097, 65537})
    for (const std::int64_t rows : {1, 3, 30, 128, 1000, 5000})
      for (const std::int64_t slabs : {1, 30, 1000})
        for (const bool adjoin : {false, true}) {
          const std::int64_t pitch = 2 * inner + (adjoin ? 0 : 6);
          const slab_columns all{inner, slabs, rows, {pitch}, 132, 232448, 1344, 448, adjoin};
          const column_slab_choice choice = cuda::detail::choose_slabs(facts{}, all);
          const auto& s = choice.share;
          if (!choice) {
            CHECK(rows >= 1000);  // rows of a stripe would be too short
            continue;
          }
          CHECK((choice.bytes <= all.shared_bytes && choice.threads <= all.most_threads));
          CHECK((s.blocks * s.rows >= rows && (s.blocks - 1) * s.rows < rows));
          CHECK((s.stripes == 1 ? s.columns % inner == 0 && (s.columns == inner || (adjoin && s.blocks == 1))
                                : s.stripes * s.columns >= inner && (s.stripes - 1) * s.columns < inner));
          CHECK((s.deep >= 1 && s.deep <= s.rows));
          const int bytes = s.stripes == 1 && adjoin ? s.rows * s.columns * 2 : (s.rows - 1) * s.pitch[0] + s.columns * 2;
          CHECK(cuda::detail::slab_header + s.place[0] + bytes + 30 <= choice.bytes);
          CHECK((adjoin && s.stripes == 1 ? s.pitch[0] == pitch : (s.pitch[0] - pitch) % 16 == 0));
        }
}
