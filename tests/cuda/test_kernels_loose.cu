// Pointwise bodies whose rows end anywhere and whose data lie anywhere: the same bits as element by element, for every
// width, alignment and element type, and nothing beside the results is written.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_support.cuh"

#include "sinter/kernels/cuda/pointwise/launch.cuh"

using namespace kernel_tests;

namespace {

struct shape {
  std::int64_t rows, columns;
};
constexpr shape shapes[] = {{1, 1},    {1, 5},    {3, 7},    {100, 7},   {5, 8},    {40, 9},   {64, 15}, {33, 31},
                            {17, 100}, {9, 1001}, {300, 65}, {2, 10007}, {1, 4099}, {1000, 3}, {7, 767}, {7, 768}};
constexpr int shifts[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 3, 0}, {0, 0, 1}, {3, 5, 7}, {8, 1, 2}};

/// Words that a load may read lie in x or in y.
template <int N, class X, class Y>
void check_ranges(const std::string& what, const cuda::detail::loose_range (&ranges)[N], const X* x,
                  std::int64_t x_size, const Y* y, std::int64_t y_size) {
  const auto holds = [](const auto* data, std::int64_t size, const auto& range) {
    return reinterpret_cast<std::uintptr_t>(data) <= range.first &&
           range.end <= reinterpret_cast<std::uintptr_t>(data + size);
  };
  INFO(what);
  for (const auto& range : ranges)
    CHECK((range.first >= range.end || holds(x, x_size, range) || holds(y, y_size, range)));
}

/// Runs Body on x (slot 0), y (slot 1) and the result (slot 2) and compares it with the kernel of single elements.
/// Sizes: the columns of the result, then those of a row of x.
template <class Body, class X, class Y, class Out>
void compare(const char* name, const shape& s, std::int64_t x_size, std::int64_t y_size, std::int64_t pitch) {
  if (!is_sampled()) return;
  const std::int64_t n = s.rows * s.columns;
  const auto x = numbers<X>(x_size, 1);
  const auto y = numbers<Y>(y_size, 2);
  for (const auto& shift : shifts) {
    device_array<X> dx(x, shift[0]);
    device_array<Y> dy(y, shift[1]);
    device_array<Out> out(n, shift[2]), expected(n, shift[2]);
    auto args = make_args<3, 1, 2>(n, 1);
    args.sizes[0] = s.columns, args.sizes[1] = pitch;
    args.scalars[0] = {2.0, 2};
    args.pointers[0] = dx.data(), args.pointers[1] = dy.data(), args.pointers[2] = expected.data();
    const std::string what = label(name, s.rows, s.columns) + " off by " + std::to_string(shift[0]) + ", " +
                             std::to_string(shift[1]) + ", " + std::to_string(shift[2]);
    run(what, [&] { cuda::detail::launch_pointwise<1, std::int64_t>(Body{}, args, nullptr, "loose_test"); });
    args.pointers[2] = out.data();
    if constexpr (cuda::detail::goes_loosely<Body>)
      check_ranges(what, cuda::detail::loose_facts<Body>::plan(args).ranges, dx.data(), x_size, dy.data(), y_size);
    run(what, [&] { cuda::detail::launch_loose(Body{}, args, nullptr, "loose_test"); });
    const auto want = expected.host();
    check_close(
        what, out.host(), [&](std::size_t i) { return number(want[i]); }, 0, 0);
    out.check_guards(what);
    dx.check_guards(what), dy.check_guards(what);
  }
}

/// x[i, j] * 2 + row[j], x / column[i], and column[i] * row[j].
template <class X, class Y, class Out, long C>
using add_row =
    body<load<0, X, at_x>, load<1, Y, at<0, x_term<1, 1, C>>>, widen_to<X, Out, 0>, widen_to<Y, Out, 1>, scalar<0, Out>,
         compute<ops::mul, Out, Out, 2, 4>, compute<ops::add, Out, Out, 5, 3>, store<2, Out, 6, at_x>>;
template <class T, long C>
using scale_column =
    body<load<0, T, at_x>, load<1, T, at<0, x_term<1, C>>>, compute<ops::mul, T, T, 0, 1>, store<2, T, 2, at_x>>;
template <class T, long C>
using outer = body<load<0, T, at<0, x_term<1, C>>>, load<1, T, at<0, x_term<1, 1, C>>>, compute<ops::mul, T, T, 0, 1>,
                   store<2, T, 2, at_x>>;

/// Columns of a wider matrix: every Step-th from the Offset-th on, and backwards.
template <class T, long C, long Pitch, long Offset, long Step>
using columns_of = body<load<0, T, at<Offset, x_term<Pitch, C>, x_term<Step, 1, C>>>, scalar<0, T>,
                        compute<ops::mul, T, T, 0, 1>, store<2, T, 2, at_x>>;
/// Every Step-th value as an Out.
template <class T, class Out, long C, long Step>
using strided_cast =
    body<load<0, T, at<1, x_term<Step * C, C>, x_term<Step, 1, C>>>, cast_to<T, Out, 0>, store<2, Out, 1, at_x>>;
/// [x, 2 * y] of rows of First and C - First columns.
template <class T, long C, long First>
using joined = body<inside<at<0, x_term<1, 1, C>>, 0, First>, compute<ops::logical_not, bool, bool, 0>,
                    load<0, T, at<0, x_term<First, C>, x_term<1, 1, C>>, 0>,
                    load<1, T, at<-First, x_term<C - First, C>, x_term<1, 1, C>>, 1>, scalar<0, T>,
                    compute<ops::mul, T, T, 3, 4>, compute<ops::where, T, T, 0, 2, 5>, store<2, T, 6, at_x>>;
/// x between two columns of zeros, and between two rows of them.
template <class T, long C>
using padded = body<inside<at<-1, x_term<1, 1, C>>, 0, C - 2>, load<0, T, at<-1, x_term<C - 2, C>, x_term<1, 1, C>>, 0>,
                    store<2, T, 1, at_x>>;
template <class T, long C, long Rows>
using padded_rows =
    body<inside<at<-1, x_term<1, C>>, 0, Rows - 2>, load<0, T, at<-C, x_term<1>>, 0>, store<2, T, 1, at_x>>;
/// x * y[j] - or + x of the other half of its row of 2 * Half columns.
template <class T, long Half>
using rotated =
    body<load<0, T, at_x>, load<1, T, at<0, x_term<1, 1, 2 * Half>>>, compute<ops::mul, T, T, 0, 1>,
         inside<at<0, x_term<1, 1, 2 * Half>>, 0, Half>, compute<ops::logical_not, bool, bool, 3>,
         load<0, T, at<Half, x_term<1>>, 3>, compute<ops::neg, T, T, 5>, load<0, T, at<-Half, x_term<1>>, 4>,
         compute<ops::where, T, T, 3, 6, 7>, compute<ops::add, T, T, 2, 8>, store<2, T, 9, at_x>>;
/// Of images of Rows rows of C columns: a point's four neighbours, as far as there are any, and the one above to the left.
template <class T, long C, long Rows>
using neighbours =
    body<inside<at<0, x_term<1, 1, C>>, 1, C>, inside<at<1, x_term<1, 1, C>>, 1, C>,
         inside<at<0, x_term<1, C, Rows>>, 1, Rows>, inside<at<1, x_term<1, C, Rows>>, 1, Rows>,
         compute<ops::logical_and, bool, bool, 0, 2>, load<0, T, at<-1, x_term<1>>, 0>, load<0, T, at<1, x_term<1>>, 1>,
         load<0, T, at<-C, x_term<1>>, 2>, load<0, T, at<C, x_term<1>>, 3>, load<0, T, at<-C - 1, x_term<1>>, 4>,
         load<0, T, at_x>, compute<ops::add, T, T, 5, 6>, compute<ops::add, T, T, 7, 8>,
         compute<ops::sub, T, T, 9, 10>, compute<ops::add, T, T, 11, 12>, compute<ops::add, T, T, 13, 14>,
         store<2, T, 15, at_x>>;
/// One mask.
template <class T, long C>
using left = body<inside<at<0, x_term<1, 1, C>>, 1, C>, load<0, T, at<-1, x_term<1>>, 0>, load<0, T, at_x>,
                  compute<ops::sub, T, T, 2, 1>, store<2, T, 3, at_x>>;
/// The neighbours to the left and above, of images of eight rows of d0 columns; d1 is -d0.
template <class T>
using left_and_above = body<inside<at<0, x_term<1, 1, d0>>, 1, d0>, inside<at<0, x_term<1, d0, 8>>, 1, 8>,
                            load<0, T, at<-1, x_term<1>>, 0>, load<0, T, at<d1, x_term<1>>, 1>, load<0, T, at_x>,
                            compute<ops::add, T, T, 2, 3>, compute<ops::sub, T, T, 5, 4>, store<2, T, 6, at_x>>;
/// Rows of C - 1 columns beside themselves by one: under both masks indices begin anew.
template <class T, long C>
using widened = body<inside<at<0, x_term<1, 1, C>>, 1, C>, inside<at<0, x_term<1, 1, C>>, 0, C - 1>,
                     load<0, T, at<-1, x_term<C - 1, C>, x_term<1, 1, C>>, 0>,
                     load<0, T, at<0, x_term<C - 1, C>, x_term<1, 1, C>>, 1>, compute<ops::add, T, T, 2, 3>,
                     store<2, T, 4, at_x>>;
/// Written backwards by rows: no store is aligned.
template <class T, long C>
using into_rows = body<load<0, T, at_x>, scalar<0, T>, compute<ops::mul, T, T, 0, 1>,
                       store<2, T, 2, at<0, x_term<C, C>, x_term<1, 1, C>>>>;

template <class X, class Y, class Out>
void test_broadcasts(const char* name) {
  for (const shape& s : shapes) {
    const std::int64_t n = s.rows * s.columns;
    compare<add_row<X, Y, Out, d0>, X, Y, Out>(name, s, n, s.columns, 0);
    if constexpr (std::is_same_v<X, Y> && std::is_same_v<X, Out>) {
      compare<scale_column<X, d0>, X, X, X>(name, s, n, s.rows, 0);
      compare<outer<X, d0>, X, X, X>(name, s, s.rows, s.columns, 0);
      compare<into_rows<X, d0>, X, X, X>(name, s, n, 1, 0);
      compare<columns_of<X, d0, d1, 1, 1>, X, X, X>(name, s, s.rows * (s.columns + 3) + 1, 1, s.columns + 3);
    }
  }
}

template <class T>
void test_views(const char* name) {
  for (const std::int64_t rows : {1, 2, 37, 300}) {
    compare<columns_of<T, 1000, 1001, 1, 1>, T, T, T>(name, {rows, 1000}, rows * 1001, 1, 0);
    compare<columns_of<T, 501, 1001, 0, 2>, T, T, T>(name, {rows, 501}, rows * 1001, 1, 0);
    compare<columns_of<T, 33, 99, 1, 3>, T, T, T>(name, {rows, 33}, rows * 99, 1, 0);
    compare<columns_of<T, 99, 99, 98, -1>, T, T, T>(name, {rows, 99}, rows * 99, 1, 0);
    compare<columns_of<T, 50, 99, 98, -2>, T, T, T>(name, {rows, 50}, rows * 99, 1, 0);
    compare<joined<T, 1000, 501>, T, T, T>(name, {rows, 1000}, rows * 501, rows * 499, 0);
    compare<joined<T, 63, 1>, T, T, T>(name, {rows, 63}, rows, rows * 62, 0);
    compare<padded<T, 101>, T, T, T>(name, {rows, 101}, rows * 99, 1, 0);
    compare<rotated<T, 65>, T, T, T>(name, {rows, 130}, rows * 130, 130, 0);
    compare<rotated<T, 50>, T, T, T>(name, {rows, 100}, rows * 100, 100, 0);
  }
  compare<padded_rows<T, 65, 40>, T, T, T>(name, {40, 65}, 38 * 65, 1, 0);
}

template <class T, long C, long Rows>
void test_neighbours(const char* name) {
  for (const std::int64_t images : {1, 2, 37})
    compare<neighbours<T, C, Rows>, T, T, T>(name, {images * Rows, C}, images * Rows * C, 1, 0);
  for (const std::int64_t rows : {1, 37}) compare<left<T, C>, T, T, T>(name, {rows, C}, rows * C, 1, 0);
  for (const std::int64_t rows : {1, 37}) compare<widened<T, C>, T, T, T>(name, {rows, C}, rows * (C - 1), 1, 0);
}
template <class T>
void test_images(const char* name) {
  test_neighbours<T, 3, 5>(name), test_neighbours<T, 14, 14>(name), test_neighbours<T, 56, 8>(name);
  test_neighbours<T, 130, 3>(name);
  for (const shape& s : shapes)
    compare<left_and_above<T>, T, T, T>(name, {s.rows * 8, s.columns}, s.rows * 8 * s.columns, 1, -s.columns);
}

/// What is planned of 100 rows where all data lie at multiples of 16 bytes, but x by `shift` elements.
template <class Body>
auto plan_of(std::int64_t columns, int shift) {
  auto args = make_args<3, 1, 2>(100 * columns, 1);
  for (int slot = 0; slot < 3; ++slot) args.pointers[slot] = reinterpret_cast<void*>((slot + 1) * (1 << 20) + 16);
  args.pointers[0] = static_cast<bf16*>(args.pointers[0]) + shift;
  return cuda::detail::loose_facts<Body>::plan(args);
}

/// One value, to the rows of eight that an index names: nothing goes in chunks.
using scattered = body<scalar<0, float>, load<0, std::int64_t, at<0, x_term<1, 8>>>,
                       scatter_store<1, float, 0, at<0, x_term<1, 1, 8>>, 1, 8, 6, -1>>;
static_assert(cuda::detail::loose_facts<scattered>::width == 0);

/// Do the launches of so many rows of 2 * Half columns go in chunks, wherever they lie in memory?
template <class T, long Half>
bool rotates_in_chunks(std::int64_t rows) {
  auto args = make_args<3, 1, 2>(rows * 2 * Half, 1);
  for (int slot = 0; slot < 3; ++slot) args.pointers[slot] = reinterpret_cast<void*>((slot + 1) * (1 << 20) + 16);
  return cuda::detail::loose_facts<rotated<T, Half>>::plan(args).possible;
}

}  // namespace

TEST_CASE("loose chunks, broadcasts of any width") {
  test_broadcasts<float, float, float>("f32");
  test_broadcasts<bf16, bf16, bf16>("bf16");
  test_broadcasts<f16, f16, f16>("f16");
  test_broadcasts<std::int8_t, std::int8_t, std::int8_t>("i8");
  test_broadcasts<double, double, double>("f64");
  test_broadcasts<bf16, float, float>("bf16 + f32 -> f32");
  test_broadcasts<float, bf16, bf16>("f32 + bf16 -> bf16");
  test_broadcasts<std::uint8_t, float, float>("u8 + f32 -> f32");
}

TEST_CASE("loose chunks, slices, strides, concatenations and padding") {
  test_views<float>("f32");
  test_views<bf16>("bf16");
  test_views<std::int8_t>("i8");
  test_views<double>("f64");
  for (const std::int64_t rows : {1, 2, 37, 300})
    compare<strided_cast<std::uint8_t, float, 1001, 3>, std::uint8_t, float, float>("every third u8 -> f32",
                                                                                    {rows, 1001}, rows * 3003, 1, 0);
}

TEST_CASE("loose chunks, neighbours in images") {
  test_images<float>("f32");
  test_images<bf16>("bf16");
  test_images<std::int8_t>("i8");
}

TEST_CASE("loose chunks, whose shifts are known where data lie alike, and which are walked where rows are short") {
  CHECK(plan_of<neighbours<bf16, 56, 8>>(56, 0).knows_shifts);
  CHECK(!plan_of<neighbours<bf16, 56, 8>>(56, 1).knows_shifts);
  CHECK(!plan_of<rotated<bf16, 65>>(130, 0).knows_shifts);
  CHECK(!plan_of<neighbours<bf16, 56, 8>>(56, 0).walks);
  CHECK(!plan_of<neighbours<bf16, 57, 8>>(57, 0).walks);
  CHECK(plan_of<left<bf16, 57>>(57, 0).walks);
  CHECK(plan_of<neighbours<bf16, 14, 8>>(14, 0).walks);
  CHECK(!plan_of<rotated<bf16, 65>>(130, 0).walks);
}

TEST_CASE("loose chunks, where a mask keeps halves of rows apart") {
  for (const std::int64_t rows : {2, 37, 300})
    CHECK(
        (rotates_in_chunks<bf16, 65>(rows) && rotates_in_chunks<bf16, 50>(rows) && rotates_in_chunks<float, 65>(rows)));
}
