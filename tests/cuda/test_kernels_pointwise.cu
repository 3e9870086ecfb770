// The pointwise kernel over bodies written by hand, against plain loops on the host: broadcast, strided, transposed,
// masked, gathered, mixed element types, odd sizes, misaligned pointers, 64-bit indices.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_support.cuh"

#include "sinter/kernels/cuda/pointwise/launch.cuh"

using namespace kernel_tests;

namespace {

const std::int64_t sizes[] = {0, 1, 3, 7, 8, 31, 32, 100, 1000, 1024, 4096, 65537, 1000003};

template <class Body, long StaticNumel = -1, class Args>
void launch(const std::string& what, const Args& args) {
  run(what, [&] { cuda::pointwise<Body, StaticNumel>(args, nullptr, "poi_test"); });  // vectors, however few
}

// ---- chains, mixed types, alignment
// ----------------------------------------------------------------------------------

template <class A, class B, class Out>
using chain = body<load<0, A, at_x>, load<1, B, at_x>, widen_to<A, Out, 0>, widen_to<B, Out, 1>, scalar<0, Out>,
                   compute<ops::mul, Out, Out, 2, 4>, compute<ops::add, Out, Out, 5, 3>,
                   compute<ops::relu, Out, Out, 6>, store<2, Out, 7, at_x>>;

template <class A, class B, class Out>
void test_chain(const char* name, std::size_t shift_a = 0, std::size_t shift_b = 0, std::size_t shift_out = 0) {
  for (const std::int64_t n : sizes) {
    const auto a = numbers<A>(n, 1);
    const auto b = numbers<B>(n, 2);
    device_array<A> da(a, shift_a);
    device_array<B> db(b, shift_b);
    device_array<Out> out(n, shift_out);
    auto args = make_args<3, 1>(n, 1);
    args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
    args.scalars[0] = {3.0, 3};
    const std::string what = label(name, n, 1);
    launch<chain<A, B, Out>>(what, args);
    check_close(
        what, out.host(),
        [&](std::size_t i) {
          const double v = number(a[i]) * 3 + number(b[i]);
          return v > 0 ? v : 0.0;
        },
        step_of<Out>(), step_of<Out>());
    out.check_guards(what);
  }
}

}  // namespace

TEST_CASE("pointwise chain, element types") {
  test_chain<float, float, float>("chain f32");
  test_chain<bf16, bf16, bf16>("chain bf16");
  test_chain<f16, f16, f16>("chain f16");
  test_chain<bf16, float, f16>("chain bf16 + f32 -> f16");
  test_chain<bf16, float, float>("chain bf16 + f32 -> f32");
  test_chain<float, double, double>("chain f32 + f64 -> f64");
  test_chain<std::uint8_t, std::int64_t, std::int64_t>("chain u8 + i64 -> i64");
  test_chain<std::int8_t, std::int32_t, std::int32_t>("chain i8 + i32 -> i32");
  test_chain<std::int8_t, std::int8_t, float>("chain i8 + i8 -> f32");
}

TEST_CASE("pointwise chain, misaligned pointers") {
  test_chain<float, float, float>("chain f32, input off by one", 1, 0, 0);
  test_chain<float, float, float>("chain f32, output off by one", 0, 0, 1);
  test_chain<bf16, bf16, bf16>("chain bf16, all off", 1, 3, 5);
  test_chain<bf16, float, bf16>("chain bf16, off by 8 bytes", 4, 2, 4);
}

TEST_CASE("pointwise, static extent") {
  const auto test = [](auto extent) {
    constexpr long n = decltype(extent)::value;
    const auto a = numbers<bf16>(n, 1);
    device_array<bf16> da(a), db(a), out(n);
    auto args = make_args<3, 1>(n, 1);
    args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
    args.scalars[0] = {1.0, 1};
    const std::string what = label("static extent", n, 1);
    launch<chain<bf16, bf16, bf16>, n>(what, args);
    check_close(
        what, out.host(), [&](std::size_t i) { return number(a[i]) > 0 ? 2 * number(a[i]) : 0.0; }, 0x1p-8, 0);
    out.check_guards(what);
  };
  test(std::integral_constant<long, 4096>{});
  test(std::integral_constant<long, 1002>{});
  test(std::integral_constant<long, 1001>{});
}

TEST_CASE("pointwise, 64-bit indices and single elements give the same") {
  const std::int64_t n = 10007;
  const auto a = numbers<float>(n, 1), b = numbers<float>(n, 2);
  device_array<float> da(a), db(b), narrow(n), wide(n);
  auto args = make_args<3, 1>(n, 1);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.scalars[0] = {0.5, 0};
  using B = chain<float, float, float>;
  args.pointers[2] = narrow.data();
  run("32-bit", [&] { cuda::detail::launch_pointwise<1, int>(B{}, args, nullptr, "poi_test"); });
  args.pointers[2] = wide.data();
  run("64-bit", [&] { cuda::detail::launch_pointwise<1, std::int64_t>(B{}, args, nullptr, "poi_test"); });
  const auto expected = narrow.host();
  check_close(
      "64-bit = 32-bit", wide.host(), [&](std::size_t i) { return expected[i]; }, 0, 0);
}

// ---- long bodies

namespace {

/// The sine of the sine ...
template <class T, int... I>
body<load<0, T, at_x>, compute<ops::sin, T, T, I>..., store<1, T, static_cast<int>(sizeof...(I)), at_x>> long_chain(
    std::integer_sequence<int, I...>);

template <class T>
void test_long_chain(const char* name, std::size_t shift) {
  constexpr int length = 30;
  using Body = decltype(long_chain<T>(std::make_integer_sequence<int, length>{}));
  static_assert(cuda::detail::access_facts<Body>::waits_for_arithmetic);
  for (const std::int64_t n : sizes) {
    const auto a = numbers<T>(n, 1);
    device_array<T> da(a, shift), out(n, shift);
    auto args = make_args<2, 0>(n, 1);
    args.pointers[0] = da.data(), args.pointers[1] = out.data();
    const std::string what = label(name, n, 1);
    launch<Body>(what, args);
    check_close(
        what, out.host(),
        [&](std::size_t i) {
          double v = number(a[i]);
          for (int k = 0; k < length; ++k) v = std::sin(v);
          return v;
        },
        step_of<T>(), length * step_of<float>());
    out.check_guards(what);
  }
}

}  // namespace

TEST_CASE("pointwise, bodies that wait for their arithmetic") {
  for (const std::size_t shift : {0, 1}) {
    test_long_chain<float>("long chain f32", shift);
    test_long_chain<bf16>("long chain bf16", shift);
  }
}

// ---- broadcast, views
// ----------------------------------------------------------------------------------------------------

namespace {

/// out[i, j] = a[i, j] * column[j] + row[i] + one[0], row-major [n / C, C].
template <class T, long C>
using broadcast =
    body<load<0, T, at_x>, load<1, T, at<0, x_term<1, 1, C>>>, load<2, float, at<0, x_term<1, C>>>,
         load<3, float, at_none>, compute<ops::mul, float, float, 0, 1>, compute<ops::add, float, float, 4, 2>,
         compute<ops::add, float, float, 5, 3>, store<4, T, 6, at_x>>;

template <class T, class Body>
void test_broadcast(const char* name, std::int64_t rows, std::int64_t columns) {
  const std::int64_t n = rows * columns;
  const auto a = numbers<T>(n, 1), column = numbers<T>(columns, 2);
  const auto row = numbers<float>(rows, 3), one = numbers<float>(1, 4);
  device_array<T> da(a), dcolumn(column), out(n);
  device_array<float> drow(row), done(one);
  auto args = make_args<5, 0, 1>(n, 1);
  args.pointers[0] = da.data(), args.pointers[1] = dcolumn.data(), args.pointers[2] = drow.data();
  args.pointers[3] = done.data(), args.pointers[4] = out.data();
  args.sizes[0] = columns;
  const std::string what = label(name, rows, columns);
  launch<Body>(what, args);
  check_close(
      what, out.host(),
      [&](std::size_t i) { return number(a[i]) * number(column[i % columns]) + row[i / columns] + one[0]; },
      step_of<T>(), 4 * step_of<T>());
  out.check_guards(what);
}

}  // namespace

TEST_CASE("pointwise broadcast") {
  test_broadcast<bf16, broadcast<bf16, 4096>>("broadcast bf16", 37, 4096);
  test_broadcast<bf16, broadcast<bf16, 12>>("broadcast bf16", 1001, 12);
  test_broadcast<float, broadcast<float, 100>>("broadcast f32", 1000, 100);
  test_broadcast<float, broadcast<float, 7>>("broadcast f32", 999, 7);
  for (const std::int64_t columns : {1, 2, 5, 8, 12, 16, 1000, 4096})
    for (const std::int64_t rows : {1, 3, 64}) {
      test_broadcast<bf16, broadcast<bf16, d0>>("broadcast bf16, dynamic", rows, columns);
      test_broadcast<float, broadcast<float, d0>>("broadcast f32, dynamic", rows, columns);
    }
}

TEST_CASE("pointwise views: transposed, strided, reversed") {
  // out[i, j] = a[j, i] + a[i, 2 j] - b[n - 1 - x]; 96 x 128
  constexpr long rows = 96, columns = 128, n = rows * columns;
  using transposed = at<0, x_term<1, columns>, x_term<rows, 1, columns>>;
  using strided = at<1, x_term<2 * columns, columns>, x_term<2, 1, columns>>;
  using reversed = at<n - 1, x_term<-1>>;
  using B =
      body<load<0, float, transposed>, load<1, float, strided>, load<2, float, reversed>,
           compute<ops::add, float, float, 0, 1>, compute<ops::sub, float, float, 3, 2>, store<3, float, 4, at_x>>;
  const auto a = numbers<float>(n, 1), s = numbers<float>(2 * n, 2), b = numbers<float>(n, 3);
  device_array<float> da(a), ds(s), db(b), out(n);
  auto args = make_args<4>(n, 1);
  args.pointers[0] = da.data(), args.pointers[1] = ds.data(), args.pointers[2] = db.data(),
  args.pointers[3] = out.data();
  launch<B>("views", args);
  check_close(
      "views", out.host(),
      [&](std::size_t x) {
        const std::size_t i = x / columns, j = x % columns;
        return static_cast<double>(a[j * rows + i]) + s[1 + i * 2 * columns + 2 * j] - b[n - 1 - x];
      },
      1e-6, 1e-6);
  out.check_guards("views");

  // A store through a transposing index expression, and dynamic strides.
  using T = body<load<0, bf16, at_x>, store<1, bf16, 0, at<0, x_term<1, d0>, x_term<d1, 1, d0>>>>;
  const auto h = numbers<bf16>(n, 5);
  device_array<bf16> dh(h), transposed_out(n);
  auto targs = make_args<2, 0, 2>(n, 1);
  targs.pointers[0] = dh.data(), targs.pointers[1] = transposed_out.data();
  targs.sizes[0] = columns, targs.sizes[1] = rows;
  launch<T>("transposing store", targs);
  check_close(
      "transposing store", transposed_out.host(),
      [&](std::size_t k) { return number(h[k % rows * columns + k / rows]); }, 0, 0);
  transposed_out.check_guards("transposing store");
}

/// out[i, j] = a[j, i] + b[i, j], and the same into a transposed result, of a matrix that is large enough for wide
/// tiles.
template <class T>
void test_large_transposed(const char* what, std::size_t rows, std::size_t columns) {
  using crossing = at<0, x_term<1, d0>, x_term<d1, 1, d0>>;
  using read = body<load<0, T, crossing>, load<1, T, at_x>, compute<ops::add, float, T, 0, 1>, store<2, T, 2, at_x>>;
  using written = body<load<0, T, at_x>, load<1, T, at_x>, compute<ops::add, float, T, 0, 1>, store<2, T, 2, crossing>>;
  const std::size_t n = rows * columns;
  const auto a = numbers<T>(n, 1), b = numbers<T>(n, 2);
  device_array<T> da(a), db(b), out(n);
  auto args = make_args<3, 0, 2>(static_cast<std::int64_t>(n), 1);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
  args.sizes[0] = static_cast<std::int64_t>(columns), args.sizes[1] = static_cast<std::int64_t>(rows);
  const std::string name = label(what, rows, columns);
  launch<read>(name, args);
  const double near = std::is_same_v<T, float> ? 1e-6 : 4e-3;
  check_close(
      name, out.host(), [&](std::size_t x) { return number(a[x % columns * rows + x / columns]) + number(b[x]); }, near,
      near);
  launch<written>(name, args);
  check_close(
      name, out.host(),
      [&](std::size_t k) {
        const std::size_t x = k % rows * columns + k / rows;
        return number(a[x]) + number(b[x]);
      },
      near, near);
  out.check_guards(name);
}

TEST_CASE("pointwise views: large transposed matrices") {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{2111, 2003}, {1030, 4100}, {70, 60001}}) {
    test_large_transposed<float>("transposed f32", rows, columns);
    test_large_transposed<bf16>("transposed bf16", rows, columns);
  }
}

// ---- tiles
// -------------------------------------------------------------------------------------------------------------

namespace {

/// out[g, i, j] = across[g, j, i] = a[g, j, i] + b[g, i, j] * c[g, j, i]; sizes: rows, columns, rows * columns.
template <class A, class B, class Out, bool Batched>
void test_tiles(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::size_t shift = 0) {
  using crossing = std::conditional_t<Batched, at<0, x_term<d2, d2>, x_term<1, d1, d0>, x_term<d0, 1, d1>>,
                                      at<0, x_term<1, d1>, x_term<d0, 1, d1>>>;
  using body_type = body<load<0, A, crossing>, load<1, B, at_x>, load<2, A, crossing>, widen_to<A, Out, 0>,
                         widen_to<B, Out, 1>, widen_to<A, Out, 2>, compute<ops::mul, Out, Out, 4, 5>,
                         compute<ops::add, Out, Out, 3, 6>, store<3, Out, 7, at_x>, store<4, Out, 7, crossing>>;
  const std::int64_t n = batch * rows * columns;
  const auto a = numbers<A>(n, 1), c = numbers<A>(n, 3);
  const auto b = numbers<B>(n, 2);
  device_array<A> da(a, shift), dc(c);
  device_array<B> db(b, shift);
  device_array<Out> out(n, shift), across_out(n, shift);
  auto args = make_args<5, 0, 3>(n, 1);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = dc.data(),
  args.pointers[3] = out.data(), args.pointers[4] = across_out.data();
  args.sizes[0] = rows, args.sizes[1] = columns, args.sizes[2] = rows * columns;
  const std::string what = label("tiles", rows, columns);
  launch<body_type>(what, args);
  const auto value = [&](std::size_t x) {
    const auto matrix = static_cast<std::size_t>(rows * columns);
    const std::size_t g = x / matrix, i = x % matrix / static_cast<std::size_t>(columns),
                      j = x % static_cast<std::size_t>(columns);
    const std::size_t across = g * matrix + j * static_cast<std::size_t>(rows) + i;
    return number(a[across]) + number(b[x]) * number(c[across]);
  };
  check_close(what, out.host(), value, step_of<Out>(), step_of<Out>());
  check_close(
      what + ", result across", across_out.host(),
      [&](std::size_t y) {
        const auto matrix = static_cast<std::size_t>(rows * columns);
        const std::size_t j = y % matrix / static_cast<std::size_t>(rows), i = y % static_cast<std::size_t>(rows);
        return value(y / matrix * matrix + i * static_cast<std::size_t>(columns) + j);
      },
      step_of<Out>(), step_of<Out>());
  out.check_guards(what);
  across_out.check_guards(what);
}

}  // namespace

TEST_CASE("pointwise tiles: transposed operands of every shape and type") {
  for (const std::int64_t rows : {1, 2, 3, 8, 15, 16, 17, 63, 64, 65, 130, 300})
    for (const std::int64_t columns : {1, 16, 20, 33, 64, 72, 129, 256, 513, 1000}) {
      test_tiles<float, float, float, false>(1, rows, columns);
      test_tiles<bf16, bf16, bf16, false>(1, rows, columns);
      test_tiles<float, float, float, true>(3, rows, columns);
    }
  for (const std::size_t shift : {0, 1, 2, 4}) {
    test_tiles<float, float, float, false>(1, 128, 192, shift);
    test_tiles<f16, float, float, false>(1, 96, 200, shift);
    test_tiles<double, float, double, true>(2, 70, 64, shift);
    test_tiles<std::uint8_t, std::int32_t, std::int64_t, false>(1, 200, 100, shift);
    test_tiles<std::int8_t, float, float, true>(2, 64, 48, shift);
  }
}

namespace {

/// y[c, b, a] = 2 x[a, b, c]; extents are body numbers.
template <class T, long A, long B, long C>
void test_reversed(std::int64_t a, std::int64_t b, std::int64_t c) {
  constexpr bool fixed = !sinter::is_dynamic(A);
  constexpr long bc = fixed ? B * C : dynamic_base + 3, ab = fixed ? A * B : dynamic_base + 4;
  using body_type = body<load<0, T, at<0, x_term<bc, 1, A>, x_term<C, A, B>, x_term<1, ab>>>,
                         compute<ops::add, T, T, 0, 0>, store<1, T, 1, at_x>>;
  const std::int64_t n = a * b * c;
  const auto x = numbers<T>(n, 1);
  device_array<T> dx(x), out(n);
  auto args = make_args<2, 0, 5>(n, 1);
  args.pointers[0] = dx.data(), args.pointers[1] = out.data();
  args.sizes[0] = a, args.sizes[1] = b, args.sizes[2] = c, args.sizes[3] = b * c, args.sizes[4] = a * b;
  const std::string what = label("reversed axes", a, c);
  launch<body_type, fixed ? A * B * C : -1>(what, args);
  check_close(
      what, out.host(),
      [&](std::size_t y) {
        const auto i = static_cast<std::int64_t>(y);
        return 2 * number(x[static_cast<std::size_t>(i % a * b * c + i / a % b * c + i / (a * b))]);
      },
      step_of<T>(), 0);
  out.check_guards(what);
}

}  // namespace

TEST_CASE("pointwise tiles: axes that change places around others") {
  for (const std::int64_t a : {1, 16, 20, 65, 600})
    for (const std::int64_t b : {1, 3, 17})
      for (const std::int64_t c : {1, 2, 9, 16, 70}) {
        test_reversed<float, d0, d1, d2>(a, b, c);
        test_reversed<bf16, d0, d1, d2>(a, b, c);
      }
  test_reversed<float, 64, 5, 96>(64, 5, 96);
  test_reversed<bf16, 1001, 7, 3>(1001, 7, 3);
}

// ---- masks
// -------------------------------------------------------------------------------------------------------------

namespace {

/// Pads each row of [n / C, C - Low - High] to C; where nothing is, zero. Low and High are chosen so that reading the
/// masked places would leave the buffer.
template <class T, long C, long Low, long High>
using pad = body<inside<at<0, x_term<1, 1, C>>, Low, C - High>,
                 load<0, T, at<-Low, x_term<C - Low - High, C>, x_term<1, 1, C>>, 0>, store<1, T, 1, at_x>>;

template <class T, long C, long Low, long High>
void test_pad(std::int64_t rows) {
  const std::int64_t inner = C - Low - High, n = rows * C;
  const auto a = numbers<T>(rows * inner, 1);
  device_array<T> da(a), out(n);
  auto args = make_args<2>(n, 1);
  args.pointers[0] = da.data(), args.pointers[1] = out.data();
  const std::string what = label("pad", rows, C);
  launch<pad<T, C, Low, High>>(what, args);
  check_close(
      what, out.host(),
      [&](std::size_t x) {
        const std::int64_t i = x / C, j = static_cast<std::int64_t>(x % C) - Low;
        return j < 0 || j >= inner ? 0.0 : number(a[i * inner + j]);
      },
      0, 0);
  out.check_guards(what);
}

}  // namespace

TEST_CASE("pointwise masks") {
  test_pad<float, 64, 8, 8>(33);
  test_pad<float, 64, 3, 2>(33);
  test_pad<bf16, 128, 16, 8>(21);
  test_pad<bf16, 10, 1, 1>(100);

  // A store where x % 24 is in [5, 20), through a run-time bound.
  const std::int64_t n = 24 * 100;
  using B = body<load<0, float, at_x>, inside<at<0, x_term<1, 1, 24>>, 5, d0>, store<1, float, 0, at_x, 1>>;
  const auto a = numbers<float>(n, 1);
  std::vector<float> before(n, -7.0f);
  device_array<float> da(a), out(before);
  auto args = make_args<2, 0, 1>(n, 1);
  args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.sizes[0] = 20;
  launch<B>("masked store", args);
  check_close(
      "masked store", out.host(), [&](std::size_t x) { return x % 24 >= 5 && x % 24 < 20 ? a[x] : -7.0f; }, 0, 0);
  out.check_guards("masked store");

  // concat along columns: [rows, 40] and [rows, 24].
  using C = body<inside<at<0, x_term<1, 1, 64>>, 0, 40>, inside<at<0, x_term<1, 1, 64>>, 40, 64>,
                 load<0, bf16, at<0, x_term<40, 64>, x_term<1, 1, 64>>, 0>,
                 load<1, bf16, at<-40, x_term<24, 64>, x_term<1, 1, 64>>, 1>,
                 compute<ops::where, float, float, 0, 2, 3>, store<2, bf16, 4, at_x>>;
  const std::int64_t rows = 50;
  const auto left = numbers<bf16>(rows * 40, 1), right = numbers<bf16>(rows * 24, 2);
  device_array<bf16> dl(left), dr(right), joined(rows * 64);
  auto cargs = make_args<3>(rows * 64, 1);
  cargs.pointers[0] = dl.data(), cargs.pointers[1] = dr.data(), cargs.pointers[2] = joined.data();
  launch<C>("concat", cargs);
  check_close(
      "concat", joined.host(),
      [&](std::size_t x) {
        const std::size_t i = x / 64, j = x % 64;
        return number(j < 40 ? left[i * 40 + j] : right[i * 24 + j - 40]);
      },
      0, 0);
  joined.check_guards("concat");
}

// ---- gather
// ------------------------------------------------------------------------------------------------------------

namespace {

/// out[t, c] = table[index[t], c]
template <class T, class Index, long C>
using embedding = body<load<0, Index, at<0, x_term<1, C>>>, gather_load<1, T, at<0, x_term<1, 1, C>>, 0, C, d1>,
                       store<2, T, 1, at_x>>;

template <class T, class Index, class Body>
void test_embedding(const char* name, std::int64_t tokens, std::int64_t columns) {
  const std::int64_t vocabulary = 50, n = tokens * columns;
  std::vector<Index> index(tokens);
  for (std::int64_t i = 0; i < tokens; ++i)
    index[i] = static_cast<Index>((i * 17) % vocabulary - (i % 3 == 0 ? vocabulary : 0));
  const auto table = numbers<T>(vocabulary * columns, 1);
  device_array<Index> di(index);
  device_array<T> dt(table), out(n);
  auto args = make_args<3, 0, 2>(n, 1);
  args.pointers[0] = di.data(), args.pointers[1] = dt.data(), args.pointers[2] = out.data();
  args.sizes[0] = columns, args.sizes[1] = vocabulary;
  const std::string what = label(name, tokens, columns);
  launch<Body>(what, args);
  check_close(
      what, out.host(),
      [&](std::size_t x) {
        std::int64_t row = static_cast<std::int64_t>(index[x / columns]);
        if (row < 0) row += vocabulary;
        return number(table[row * columns + x % columns]);
      },
      0, 0);
  out.check_guards(what);
}

}  // namespace

TEST_CASE("pointwise gather") {
  test_embedding<bf16, std::int64_t, embedding<bf16, std::int64_t, 256>>("embedding bf16", 77, 256);
  test_embedding<float, std::int32_t, embedding<float, std::int32_t, 10>>("embedding f32", 77, 10);
  test_embedding<float, std::int64_t, embedding<float, std::int64_t, d0>>("embedding f32, dynamic", 13, 64);
  test_embedding<float, std::int64_t, embedding<float, std::int64_t, d0>>("embedding f32, dynamic", 13, 9);

  // Element-wise: out[x] = a[index[x]], masked by index >= 0 (memory is not touched elsewhere).
  const std::int64_t n = 1000;
  using B = body<load<0, std::int32_t, at_x>, constant<std::int32_t, 0>, compute<ops::ge, std::int32_t, bool, 0, 1>,
                 gather_load<1, float, at_none, 0, 1, 64, 2>, store<2, float, 3, at_x>>;
  std::vector<std::int32_t> index(n);
  for (std::int64_t i = 0; i < n; ++i) index[i] = i % 5 == 0 ? -1000000000 : static_cast<std::int32_t>(i * 7 % 64);
  const auto a = numbers<float>(64, 1);
  device_array<std::int32_t> di(index);
  device_array<float> da(a), out(n);
  auto args = make_args<3>(n, 1);
  args.pointers[0] = di.data(), args.pointers[1] = da.data(), args.pointers[2] = out.data();
  launch<B>("masked gather", args);
  check_close(
      "masked gather", out.host(), [&](std::size_t x) { return index[x] < 0 ? 0.0f : a[index[x]]; }, 0, 0);
  out.check_guards("masked gather");
}

// ---- constants, iota, casts, several outputs
// --------------------------------------------------------------------------

TEST_CASE("pointwise iota, constants, rounding casts, several outputs") {
  // i64: x % 10 * 2 + 3; bool: a > 0.5; f32: a rounded to bf16, plus a constant; u8: where(a > 0.5, 1, 0)
  constexpr long half = __builtin_bit_cast(long, 0.5);
  using B = body<load<0, float, at_x>, index_value<at<3, x_term<2, 1, 10>>>, store<1, std::int64_t, 1, at_x>,
                 constant<float, half>, compute<ops::gt, float, bool, 0, 3>, store<2, bool, 4, at_x>,
                 cast_to<float, bf16, 0>, compute<ops::add, float, float, 6, 3>, store<3, float, 7, at_x>,
                 constant<std::uint8_t, 1>, constant<std::uint8_t, 0>,
                 compute<ops::where, std::uint8_t, std::uint8_t, 4, 9, 10>, store<4, std::uint8_t, 11, at_x>>;
  for (const std::int64_t n : sizes) {
    const auto a = numbers<float>(n, 1);
    device_array<float> da(a), rounded(n);
    device_array<std::int64_t> iota(n);
    device_array<boolean> greater(n);
    device_array<std::uint8_t> bytes(n);
    auto args = make_args<5>(n, 1);
    args.pointers[0] = da.data(), args.pointers[1] = iota.data(), args.pointers[2] = greater.data();
    args.pointers[3] = rounded.data(), args.pointers[4] = bytes.data();
    const std::string what = label("several outputs", n, 1);
    launch<B>(what, args);
    check_close(
        what + " iota", iota.host(), [](std::size_t x) { return static_cast<double>(x % 10 * 2 + 3); }, 0, 0);
    check_close(
        what + " bool", greater.host(), [&](std::size_t x) { return a[x] > 0.5f; }, 0, 0);
    check_close(
        what + " cast", rounded.host(), [&](std::size_t x) { return number(bf16(a[x])) + 0.5; }, 1e-6, 0);
    check_close(
        what + " u8", bytes.host(), [&](std::size_t x) { return a[x] > 0.5f; }, 0, 0);
    iota.check_guards(what), greater.check_guards(what), rounded.check_guards(what), bytes.check_guards(what);
  }
}

TEST_CASE("pointwise in place") {
  using B = body<load<0, bf16, at_x>, compute<ops::add, float, float, 0, 0>, store<0, bf16, 1, at_x>>;
  for (const std::int64_t n : sizes) {
    const auto a = numbers<bf16>(n, 1);
    device_array<bf16> da(a);
    auto args = make_args<1>(n, 1);
    args.pointers[0] = da.data();
    const std::string what = label("in place", n, 1);
    launch<B>(what, args);
    check_close(
        what, da.host(), [&](std::size_t i) { return 2 * number(a[i]); }, 0, 0);
    da.check_guards(what);
  }
}

// ---- more than 2^31 elements; errors
// -----------------------------------------------------------------------------------

TEST_CASE("pointwise beyond 2^31 elements") {
  const std::int64_t n = (std::int64_t(1) << 31) + 1234567;
  using B = body<index_value<at_x>, widen_to<std::int64_t, std::uint8_t, 0>, store<0, std::uint8_t, 1, at_x>>;
  unsigned char* out = nullptr;
  if (cudaMalloc(&out, n) != cudaSuccess) {
    (void)cudaGetLastError();
    MESSAGE("skipped: there is no memory for 2^31 elements");
    return;
  }
  auto args = make_args<1>(n, 1);
  args.pointers[0] = out;
  launch<B>("2^31", args);
  for (const std::int64_t start : {std::int64_t(0), n / 2, (std::int64_t(1) << 31) - 500, n - 1000}) {
    std::vector<unsigned char> part(1000);
    cuda_ok(cudaMemcpy(part.data(), out + start, part.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    check_close(
        "2^31 from " + std::to_string(start), part,
        [&](std::size_t i) { return static_cast<double>((start + static_cast<std::int64_t>(i)) & 255); }, 0, 0);
  }
  cudaFree(out);
}

TEST_CASE("a CUDA error names call and kernel") {
  bool thrown = false;
  try {
    cuda::detail::check(cudaErrorInvalidValue, "cudaLaunchKernel", "poi_fused_add_0");
  } catch (const cuda_error& e) {
    thrown = true;
    CHECK(e.code() == cudaErrorInvalidValue);
    const std::string text = e.what();
    CHECK(text.find("cudaLaunchKernel") != std::string::npos);
    CHECK(text.find("poi_fused_add_0") != std::string::npos);
    CHECK(text.find(cudaGetErrorString(cudaErrorInvalidValue)) != std::string::npos);
  }
  CHECK(thrown);
}
