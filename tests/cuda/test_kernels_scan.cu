// Scans over bodies written by hand, against plain loops in double: rows in registers and in tiles, columns, pointers
// that do not allow wide accesses, several scans that need each other, reductions beside them, two walks.
// SPDX-License-Identifier: BSL-1.0
#include "test_kernels_support.cuh"

#include <algorithm>

#include "sinter/kernels/cuda/scan/launch.cuh"

using namespace kernel_tests;

namespace {

template <class Body, orientation O, long StaticRnumel = -1, long StaticNumel = -1, class Args>
void launch(const std::string& what, const Args& args) {
  run_with_memory(what, scan_workspace<Body, O>(args.numel, args.rnumel), [&](cuda::kernel_memory& memory) {
    cuda::scan_kernel<Body, O, StaticRnumel, StaticNumel>(args, memory, nullptr, "per_test");
  });
}

/// Element r of row x of an array that is scanned along one of its axes.
template <orientation O>
struct layout {
  std::int64_t rows, length;
  std::size_t at(std::int64_t x, std::int64_t r) const {
    return static_cast<std::size_t>(O == orientation::row ? x * length + r : r * rows + x);
  }
  std::int64_t row_of(std::size_t k) const {
    return O == orientation::row ? static_cast<std::int64_t>(k) / length : static_cast<std::int64_t>(k) % rows;
  }
};
/// Stride: the extent of the inner axis.
template <orientation O, long Stride>
using at_element = std::conditional_t<O == orientation::row, at_row<Stride>, at_column<Stride>>;

/// y = cumsum(2 x) + x, and, where it is not split, its row sums.
template <class T, orientation O, long N>
using one_scan = body<load<0, T, at_element<O, N>>, compute<ops::add, T, T, 0, 0>, scan<ops::cumsum, T, float, 1>,
                      compute<ops::add, float, float, 2, 0>, store<1, T, 3, at_element<O, N>>>;
template <class T, orientation O, long N>
using scan_and_sum = body<load<0, T, at_element<O, N>>, compute<ops::add, T, T, 0, 0>, scan<ops::cumsum, T, float, 1>,
                          compute<ops::add, float, float, 2, 0>, store<1, T, 3, at_element<O, N>>,
                          reduce<ops::sum, T, float, 3>, store<2, float, 5, at_x>>;

/// An H100 runs so many blocks, or clusters of them, at once.
constexpr int h100_clusters(int blocks) { return blocks == 1 ? 132 : blocks == 2 ? 66 : blocks == 4 ? 30 : 15; }
/// As many clusters share a stripe of these columns there. 0: none is asked for.
template <class Body, class Args>
void check_peers(const std::string& what, const Args& args, int peers) {
  const cuda::detail::device_limits h100{132, 232448, false};
  int found = 0;
  if constexpr (cuda::detail::column_cluster_facts<Body>::can)
    found = cuda::detail::find_column_clusters<Body>(args, h100_clusters, h100).share.peers;
  if (peers > 0) CHECK_MESSAGE(found == peers, what);
}

template <class T, orientation O, long N, long StaticRnumel = -1, long StaticNumel = -1>
void test_one(const char* name, std::int64_t rows, std::int64_t length, std::size_t shift = 0,
              std::size_t out_shift = 0, int peers = 0) {
  if (!is_sampled()) return;
  const layout<O> where{rows, length};
  const auto a = numbers<T>(static_cast<std::size_t>(rows * length), 1);
  device_array<T> da(a, shift), out(a.size(), out_shift), beside(a.size());
  device_array<float> sums(static_cast<std::size_t>(rows));
  auto args = make_args<3, 0, 1>(rows, length);
  args.pointers[0] = da.data(), args.pointers[1] = out.data(), args.pointers[2] = sums.data();
  args.sizes[0] = O == orientation::row ? length : rows;
  const std::string what = label(name, rows, length, shift ? "misaligned" : "");
  check_peers<one_scan<T, O, N>>(what, args, peers);
  launch<one_scan<T, O, N>, O, StaticRnumel, StaticNumel>(what, args);
  args.pointers[1] = beside.data();
  launch<scan_and_sum<T, O, N>, O, StaticRnumel, StaticNumel>(what + " with sums", args);
  std::vector<double> expected(a.size()), total(static_cast<std::size_t>(rows));
  for (std::int64_t x = 0; x < rows; ++x) {
    double so_far = 0;
    for (std::int64_t r = 0; r < length; ++r) {
      so_far += 2 * number(a[where.at(x, r)]);
      expected[where.at(x, r)] = so_far + number(a[where.at(x, r)]);
      total[static_cast<std::size_t>(x)] += expected[where.at(x, r)];
    }
  }
  const double most = 1 + 4 * std::sqrt(static_cast<double>(length));
  const auto wanted = [&](std::size_t k) { return expected[k]; };
  check_close(what, out.host(), wanted, 2 * step_of<T>(), 1e-6 * most * most);
  check_close(what + " beside sums", beside.host(), wanted, 2 * step_of<T>(), 1e-6 * most * most);
  check_close(
      what + " sums", sums.host(), [&](std::size_t x) { return total[x]; }, 1e-4,
      1e-6 * most * static_cast<double>(length));
  out.check_guards(what), beside.check_guards(what), sums.check_guards(what);
}

}  // namespace

TEST_CASE("scans: rows") {
  constexpr auto row = orientation::row;
  for (const std::int64_t rows : {1, 3, 33})
    for (const std::int64_t length : {0, 1, 2, 7, 8, 31, 32, 33, 100, 128, 1000, 1024, 4096, 4104, 8192, 20000}) {
      test_one<float, row, d0>("scan f32, dynamic", rows, length);
      test_one<bf16, row, d0>("scan bf16, dynamic", rows, length);
      if (length == 1000 || length == 4096) test_one<float, row, d0>("scan f32, dynamic", rows, length, 1);
    }
  test_one<float, row, 4096, 4096>("scan f32, static", 300, 4096);
  test_one<float, row, 4096, 4096>("scan f32, static", 300, 4096, 1);
  test_one<float, row, 100, 100>("scan f32, static", 300, 100);
  test_one<float, row, 7, 7>("scan f32, static", 300, 7);
  test_one<bf16, row, 16384, 16384>("scan bf16, static", 5, 16384);
  test_one<bf16, row, 50000, 50000>("scan bf16, static", 5, 50000);
  test_one<float, row, d0>("scan f32, dynamic", 0, 100);
  test_one<float, row, d0>("scan f32, dynamic", 1, 3000000);
  test_one<float, row, d0>("scan f32, dynamic", 1, 4100001);
  test_one<bf16, row, d0>("scan bf16, dynamic", 2, 2200000);
  test_one<float, row, d0>("scan f32, dynamic", 600, 9000);
}

// Blocks whose number is a multiple of a row's parts always had its ends, unless there are none.
static_assert(cuda::detail::ring_blocks(132, 3300, 33, false) == 131);
static_assert(cuda::detail::ring_blocks(132, 3300, 33, true) == 132);
static_assert(cuda::detail::ring_blocks(132, 3200, 32, false) == 132);
static_assert(cuda::detail::ring_blocks(132, 50, 5, false) == 50);

TEST_CASE("scans: long rows in parts, wherever they begin") {
  constexpr auto row = orientation::row;
  // The last part of some of these rows is beside them.
  test_one<float, row, d0>("long scan f32, an empty part", 40, 24575);
  test_one<bf16, row, d0>("long scan bf16, an empty part", 40, 24575);
  test_one<bf16, row, d0>("long scan bf16, nearly an empty part", 12, 262145);
  for (const std::size_t shift : {0, 1, 3}) {
    for (const std::int64_t length : {16385, 20479, 20480, 20481, 24577})
      for (const std::int64_t rows : {1, 2, 37}) test_one<float, row, d0>("long scan f32", rows, length, shift, shift);
    test_one<float, row, d0>("long scan f32, short parts", 100, 16390, shift, shift);
    for (const std::int64_t length : {17001, 65536, 1000004})
      test_one<bf16, row, d0>("long scan bf16", 3, length, shift, shift);
    test_one<float, row, d0>("long scan f32", 1, 4 << 20, shift, shift);
    test_one<float, row, d0>("long scan f32, otherwise", 3, 100001, shift, 2);
  }
}

TEST_CASE("scans: many rows, wherever they begin") {
  constexpr auto row = orientation::row;
  for (const std::int64_t length :
       {1, 3, 7, 17, 34, 35, 65, 255, 1001, 1055, 1057, 1089, 2175, 4223, 4225, 4351, 4353, 10007})
    for (const std::int64_t rows : {1, 2, 130, 700}) {
      test_one<float, row, d0>("loose scan f32", rows, length);
      test_one<bf16, row, d0>("loose scan bf16", rows, length);
      if (rows != 130) continue;
      for (const std::size_t shift : {1, 3}) {
        test_one<float, row, d0>("loose scan f32", rows, length, shift, shift);
        test_one<bf16, row, d0>("loose scan bf16, otherwise", rows, length, shift, 2);
      }
    }
  test_one<float, row, d0>("loose scan f32", 513, 65537);
  test_one<float, row, 65, 65>("loose scan f32, static", 300, 65);
  test_one<float, row, 1001, 1001>("loose scan f32, static", 300, 1001);
  test_one<bf16, row, 1001, 1001>("loose scan bf16, static", 300, 1001);
  test_one<bf16, row, 5003, 5003>("loose scan bf16, static", 300, 5003, 1);
}

TEST_CASE("scans: columns") {
  constexpr auto column = orientation::column;
  for (const std::int64_t rows : {1, 2, 3, 8, 31, 32, 33, 100, 256, 1000})
    for (const std::int64_t length : {0, 1, 7, 32, 33, 255, 256, 1000}) {
      test_one<float, column, d0>("column scan f32, dynamic", rows, length);
      if (rows == 1000) test_one<bf16, column, d0>("column scan bf16, dynamic", rows, length);
      if (rows == 256) test_one<float, column, d0>("column scan f32, dynamic", rows, length, 1);
    }
  test_one<float, column, 512, -1, 512>("column scan f32, static", 512, 3000);
  test_one<bf16, column, 1024, -1, 1024>("column scan bf16, static", 1024, 777);
  test_one<bf16, column, 100, -1, 100>("column scan bf16, static", 100, 777);
  test_one<float, column, d0>("column scan f32, dynamic", 4096, 2500);
  test_one<float, column, d0>("column scan f32, dynamic", 3, 700000);
  test_one<float, column, 4096, -1, 4096>("long column scan f32, static", 4096, 2500);
  test_one<float, column, d0>("long column scan f32, some shared", 2100, 3001);
  test_one<float, column, d0>("long column scan f32, in rounds", 20004, 1501);
  test_one<float, column, d0>("long column scan f32, each alone", 16644, 1450);
  test_one<bf16, column, d0>("long column scan bf16", 8200, 1500);
  test_one<float, column, d0>("column scan f32, dynamic", 70000, 100);
  // Rows that are multiples of 16 bytes only, and of 8.
  test_one<float, column, 20004, -1, 20004>("long column scan f32, static", 20004, 301);
  test_one<float, column, 20002, -1, 20002>("long column scan f32, static", 20002, 301);
  test_one<float, column, d0>("long column scan f32, wide stripes", 3008, 2001);
}

TEST_CASE("scans: columns so many that threads have their own") {
  constexpr auto column = orientation::column;
  for (const std::int64_t length : {1, 3, 8, 9, 33}) {
    test_one<float, column, d0>("own columns f32", 200000, length);
    test_one<float, column, d0>("own columns f32", 200001, length, 1);
    test_one<bf16, column, d0>("own columns bf16", 300008, length, 0, 1);
  }
  test_one<float, column, 200000, 3, 200000>("own columns f32, static", 200000, 3);
  test_one<bf16, column, 300001, 7, 300001>("own columns bf16, static", 300001, 7);
}

TEST_CASE("scans: long columns, wherever rows begin") {
  constexpr auto column = orientation::column;
  for (const auto& [columns, length] : {std::pair{1001, 3600}, {333, 12000}, {30522, 115}, {17000, 260}})
    for (const std::size_t shift : {0, 1, 3}) {
      test_one<float, column, d0>("loose column scan f32", columns, length, shift, 3 - shift);
      test_one<bf16, column, d0>("loose column scan bf16", columns, 2 * length, shift, shift);
    }
  test_one<float, column, 1002, -1, 1002>("loose column scan f32, static", 1002, 3600);
  test_one<bf16, column, 1002, -1, 1002>("loose column scan bf16, static", 1002, 7000);
  test_one<bf16, column, 1004, -1, 1004>("loose column scan bf16, static", 1004, 7000);
  test_one<bf16, column, 30522, -1, 30522>("loose column scan bf16, static, pairs", 30522, 230);
}

namespace {

/// x = cumsum(x), over itself.
template <class T>
void test_in_place(const char* name, std::int64_t columns, std::int64_t length, std::size_t shift, int peers = 0) {
  if (!is_sampled()) return;
  using B = body<load<0, T, at_column<d0>>, scan<ops::cumsum, T, float, 0>, store<1, T, 1, at_column<d0>>>;
  const auto a = numbers<T>(static_cast<std::size_t>(columns * length), 1);
  device_array<T> data(a, shift);
  auto args = make_args<2, 0, 1>(columns, length);
  args.pointers[0] = data.data(), args.pointers[1] = data.data(), args.sizes[0] = columns;
  const std::string what = label(name, columns, length, shift ? "misaligned" : "");
  check_peers<B>(what, args, peers);
  launch<B, orientation::column>(what, args);
  std::vector<double> expected(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    const auto above = static_cast<std::size_t>(columns);
    expected[k] = number(a[k]) + (k < above ? 0 : expected[k - above]);
  }
  const double most = 1 + 4 * std::sqrt(static_cast<double>(length));
  check_close(what, data.host(), [&](std::size_t k) { return expected[k]; }, 2 * step_of<T>(), 1e-6 * most * most);
  data.check_guards(what);
}

/// How a scan of columns is shared on an H100, or a device with faster memory.
template <class T>
constexpr cuda::column_cluster_share chosen_share(std::int64_t columns, std::int64_t rows, bool fast_memory = false) {
  using facts = cuda::detail::column_cluster_facts<one_scan<T, orientation::column, d0>>;
  constexpr int in_sector = 32 / facts::smallest;
  const bool aligned = columns % in_sector == 0;
  const cuda::detail::device_limits limits{132, 232448, fast_memory};
  const cuda::detail::scanned_columns all{columns,
                                          1,
                                          rows,
                                          aligned ? in_sector : 1,
                                          aligned ? 0 : in_sector - 1,
                                          columns * rows / 32,
                                          limits.microseconds(2.0 * sizeof(T) * double(columns * rows))};
  return cuda::detail::choose_column_clusters(facts{}, all, h100_clusters, limits).share;
}

}  // namespace

// More blocks share a stripe of columns where there are fewer columns.
static_assert(chosen_share<float>(30522, 300).blocks == 1);
static_assert(chosen_share<float>(7001, 1501).blocks == 4);
static_assert(chosen_share<float>(3001, 2005).blocks == 8);
static_assert(chosen_share<bf16>(100001, 150).blocks == 1);
static_assert(chosen_share<bf16>(12001, 1001).blocks == 2);
static_assert(chosen_share<bf16>(7001, 3001).blocks == 4);
static_assert(chosen_share<bf16>(4096, 2500).blocks == 8);
// A stripe for each multiprocessor would be too wide: two.
constexpr auto rounds = chosen_share<float>(120001, 130);
static_assert(rounds.blocks == 1);
static_assert(rounds.stripes == 264);
// Stripes for each cluster would be too narrow: several share one, more where memory leaves less time for copies.
static_assert(chosen_share<float>(523, 17000).peers == 5);
static_assert(chosen_share<float>(1001, 33000).peers == 1);
static_assert(chosen_share<float>(1001, 33000, true).peers == 5);
static_assert(chosen_share<bf16>(1001, 33000, true).peers == 3);
static_assert(chosen_share<bf16>(1001, 8000).peers == 2);
// Too few rows for the places of all blocks; stripes narrower than what is read beside them.
static_assert(chosen_share<float>(100001, 10).stripes == 0);
static_assert(chosen_share<float>(7, 1000000).stripes == 0);

TEST_CASE("scans: long columns in stripes of any width, by one block, two, four, eight") {
  constexpr auto column = orientation::column;
  for (const std::size_t shift : {0, 1, 5}) {
    test_one<float, column, d0>("stripes f32, by one", 30522, 300, shift, shift);
    test_one<float, column, d0>("stripes f32, by four", 7001, 1501, shift, shift);
    test_one<float, column, d0>("stripes f32, by eight", 3001, 2005, shift, shift);
    test_one<bf16, column, d0>("stripes bf16, by one", 100001, 150, shift, shift);
    test_one<bf16, column, d0>("stripes bf16, by two", 12001, 1001, shift, shift);
    test_one<bf16, column, d0>("stripes bf16, by four", 7001, 3001, shift, shift);
  }
  test_one<bf16, column, d0>("stripes bf16, of whole sectors", 4096, 2500);
  test_one<float, column, d0>("stripes f32, in rounds", 100001, 130);
}

namespace {

/// z = cumsum(x y) around the middle axis of [batches, length, inner], or, broadcast, with one x for all batches.
template <class T, long Inner, bool Broadcast>
void test_middle(const char* name, std::int64_t batches, std::int64_t length, std::int64_t inner, std::size_t shift,
                 int peers = 0) {
  if (!is_sampled()) return;
  using every = at<0, x_term<d1, Inner>, x_term<1, 1, Inner>, r_term<Inner>>;
  using same = std::conditional_t<Broadcast, at<0, x_term<1, 1, Inner>, r_term<Inner>>, every>;
  using B = body<load<0, T, same>, load<1, T, every>, compute<ops::mul, T, T, 0, 1>, scan<ops::cumsum, T, float, 2>,
                 store<2, T, 3, every>>;
  const auto size = static_cast<std::size_t>(batches * length * inner);
  const auto a = numbers<T>(Broadcast ? size / static_cast<std::size_t>(batches) : size, 1), b = numbers<T>(size, 2);
  device_array<T> da(a, shift), db(b, 2 * shift), out(size, shift);
  auto args = make_args<3, 0, 2>(batches * inner, length);
  args.pointers[0] = da.data(), args.pointers[1] = db.data(), args.pointers[2] = out.data();
  args.sizes[0] = inner, args.sizes[1] = length * inner;
  const std::string what = label(name, batches * inner, length, shift ? "misaligned" : "");
  check_peers<B>(what, args, peers);
  launch<B, orientation::column>(what, args);
  std::vector<double> expected(size);
  for (std::size_t k = 0; k < size; ++k) {
    const std::size_t row = k / static_cast<std::size_t>(inner);
    const bool first = row % static_cast<std::size_t>(length) == 0;
    expected[k] = number(a[k % a.size()]) * number(b[k]) +
                  (first ? 0 : expected[k - static_cast<std::size_t>(inner)]);
  }
  const double most = 1 + 4 * std::sqrt(static_cast<double>(length));
  check_close(what, out.host(), [&](std::size_t k) { return expected[k]; }, 2 * step_of<T>(), 1e-6 * most * most);
  out.check_guards(what);
}

}  // namespace

TEST_CASE("scans: long columns that clusters of blocks share") {
  constexpr auto column = orientation::column;
  for (const std::size_t shift : {0, 1, 5}) {
    test_one<float, column, d0>("stripes f32, by clusters", 523, 17000, shift, shift, 5);
    test_one<float, column, d0>("stripes f32, by clusters", 131, 40003, shift, shift, 5);
    test_one<bf16, column, d0>("stripes bf16, by clusters", 1001, 8000, shift, shift, 2);
    test_one<bf16, column, d0>("stripes bf16, by clusters", 257, 60001, shift, shift, 5);
    test_one<bf16, column, d0>("stripes bf16, by clusters, in rounds", 2500, 3000, shift, shift, 3);
  }
  test_one<bf16, column, d0>("stripes bf16, by clusters, of whole sectors", 624, 20000, 0, 0, 5);
  test_in_place<bf16>("scan in place bf16, by clusters", 624, 20000, 0, 5);
  test_middle<bf16, d0, false>("middle scan bf16, by clusters", 2, 20000, 301, 1, 5);
  test_middle<float, d0, false>("middle scan f32, by clusters", 4, 12000, 131, 3, 3);
}

TEST_CASE("scans: what clusters have told in a launch before is not taken for this one's") {
  constexpr std::int64_t columns = 523, length = 17000;
  using B = one_scan<float, orientation::column, d0>;
  const auto a = numbers<float>(columns * length, 1), b = numbers<float>(columns * length, 2);
  device_array<float> da(a), db(b), out(a.size()), again(a.size());
  auto args = make_args<2, 0, 1>(columns, length);
  args.sizes[0] = columns;
  const auto scan = [&](device_array<float>& in, device_array<float>& to, cuda::kernel_memory& memory) {
    args.pointers[0] = in.data(), args.pointers[1] = to.data();
    cuda::scan_kernel<B, orientation::column>(args, memory, nullptr, "per_test");
  };
  const auto size = scan_workspace<B, orientation::column>(columns, length);
  run_with_memory("alone", size, [&](cuda::kernel_memory& memory) { scan(db, out, memory); });
  check_peers<B>("by clusters", args, 5);
  run_with_memory("behind another", size, [&](cuda::kernel_memory& memory) {
    scan(da, again, memory), scan(db, again, memory);
  });
  const auto expected = out.host();
  check_close("behind another", again.host(), [&](std::size_t k) { return expected[k]; }, 0, 0);
}

TEST_CASE("scans: columns over what they are of") {
  for (const std::size_t shift : {0, 3}) {
    test_in_place<float>("scan in place f32", 7001, 1501, shift);
    test_in_place<bf16>("scan in place bf16", 7001, 2003, shift);
    test_in_place<bf16>("scan in place bf16, whole sectors", 8192, 1200, shift);
  }
}

TEST_CASE("scans: long columns around an axis in the middle") {
  for (const std::size_t shift : {0, 1}) {
    test_middle<float, d0, false>("middle scan f32", 8, 1000, 512, shift);
    test_middle<float, d0, false>("middle scan f32", 16, 500, 501, shift);
    test_middle<float, d0, false>("middle scan f32, in stripes", 32, 300, 1001, shift);
    test_middle<bf16, d0, false>("middle scan bf16, in stripes", 32, 500, 1001, shift);
    test_middle<bf16, 1001, true>("middle scan bf16, in stripes, one factor for all", 33, 400, 1001, shift);
    test_middle<float, d0, false>("middle scan f32, one stripe each", 132, 200, 301, shift);
    test_middle<float, 768, true>("middle scan f32, one factor for all", 9, 600, 768, shift);
    test_middle<bf16, d0, false>("middle scan bf16", 8, 2000, 510, shift);
    test_middle<bf16, 777, true>("middle scan bf16, one factor for all", 33, 300, 777, shift);
    test_middle<bf16, d0, false>("middle scan bf16, many short", 1000, 100, 96, shift);
  }
}

TEST_CASE("scans: columns of a view whose rows overlap, up to the end of its memory") {
  // z[r, x] is the sum of a[x], ..., a[x + r]. memcheck sees what is read past the last element.
  constexpr std::int64_t columns = 1024, length = 3600;
  using B = body<load<0, float, at<0, x_term<>, r_term<>>>, scan<ops::cumsum, float, float, 0>,
                 store<1, float, 1, at_column<d0>>>;
  const auto a = numbers<float>(columns + length - 1, 1);
  float* data = nullptr;
  cuda_ok(cudaMalloc(&data, a.size() * sizeof(float)), "cudaMalloc");
  cuda_ok(cudaMemcpy(data, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
  device_array<float> out(columns * length);
  auto args = make_args<2, 0, 1>(columns, length);
  args.pointers[0] = data, args.pointers[1] = out.data(), args.sizes[0] = columns;
  const std::string what = label("scan of overlapping rows", columns, length);
  launch<B, orientation::column>(what, args);
  cudaFree(data);
  std::vector<double> expected(columns * length);
  for (std::int64_t k = 0; k < columns * length; ++k)
    expected[k] = number(a[k % columns + k / columns]) + (k < columns ? 0 : expected[k - columns]);
  const double most = 1 + 4 * std::sqrt(static_cast<double>(length));
  check_close(what, out.host(), [&](std::size_t k) { return expected[k]; }, 2 * step_of<float>(), 1e-6 * most * most);
  out.check_guards(what);
}

TEST_CASE("scans: parts give the same bits every time") {
  const auto test = [](auto b, auto o, std::int64_t rows, std::int64_t length) {
    constexpr orientation O = decltype(o)::value;
    const auto a = numbers<float>(static_cast<std::size_t>(rows * length), 1);
    device_array<float> da(a), out(a.size());
    auto args = make_args<2, 0, 1>(rows, length);
    args.pointers[0] = da.data(), args.pointers[1] = out.data();
    args.sizes[0] = O == orientation::row ? length : rows;
    launch<decltype(b), O>("parts", args);
    const auto first = out.host();
    for (int repeat = 0; repeat < 20; ++repeat) {
      launch<decltype(b), O>("parts again", args);
      check_close("parts are deterministic", out.host(), [&](std::size_t k) { return first[k]; }, 0, 0);
    }
  };
  using row = std::integral_constant<orientation, orientation::row>;
  using column = std::integral_constant<orientation, orientation::column>;
  test(one_scan<float, orientation::row, d0>{}, row{}, 1, 5000000);
  test(one_scan<float, orientation::column, d0>{}, column{}, 512, 10000);
  test(one_scan<float, orientation::column, d0>{}, column{}, 7001, 1501);
  test(one_scan<float, orientation::column, d0>{}, column{}, 523, 17000);
}

// ---- scans of scans, each with parts of its own ------------------------------------------------------------------------

TEST_CASE("scans: of scans, in parts") {
  const auto test = [](auto o, std::int64_t rows, std::int64_t length) {
    constexpr orientation O = decltype(o)::value;
    using B = body<load<0, std::int32_t, at_element<O, d0>>, scan<ops::cumsum, std::int32_t, std::int64_t, 0>,
                   scan<ops::cummax, std::int64_t, std::int64_t, 1>, scan<ops::cummin, std::int32_t, std::int32_t, 0>,
                   store<1, std::int64_t, 2, at_element<O, d0>>, store<2, std::int32_t, 3, at_element<O, d0>>>;
    const layout<O> where{rows, length};
    const auto a = numbers<std::int32_t>(static_cast<std::size_t>(rows * length), 5);
    device_array<std::int32_t> da(a), least(a.size());
    device_array<std::int64_t> most(a.size());
    auto args = make_args<3, 0, 1>(rows, length);
    args.pointers[0] = da.data(), args.pointers[1] = most.data(), args.pointers[2] = least.data();
    args.sizes[0] = O == orientation::row ? length : rows;
    const std::string what = label("scans in parts", rows, length);
    launch<B, O>(what, args);
    std::vector<double> high(a.size()), low(a.size());
    for (std::int64_t x = 0; x < rows; ++x) {
      double sum = 0, greatest = -1e300, smallest = 1e300;
      for (std::int64_t r = 0; r < length; ++r) {
        const std::size_t k = where.at(x, r);
        high[k] = greatest = std::max(greatest, sum += number(a[k]));
        low[k] = smallest = std::min(smallest, number(a[k]));
      }
    }
    check_close(what, most.host(), [&](std::size_t k) { return high[k]; }, 0, 0);
    check_close(what + " least", least.host(), [&](std::size_t k) { return low[k]; }, 0, 0);
    most.check_guards(what), least.check_guards(what);
  };
  using row = std::integral_constant<orientation, orientation::row>;
  using column = std::integral_constant<orientation, orientation::column>;
  test(row{}, 1, 3000001);
  test(row{}, 7, 100000);
  test(row{}, 600, 1001);
  test(row{}, 600, 5003);
  test(column{}, 5, 200000);
  test(column{}, 300, 20000);
}

// ---- scans of scans, and a walk after the first one --------------------------------------------------------------------

namespace {

/// c = cummax(cumsum(x)), e = exp(c - amax(c)) / sum: every stage needs the one before, and two reductions follow.
template <orientation O, long N>
using chain = body<load<0, float, at_element<O, N>>, scan<ops::cumsum, float, float, 0>,
                   scan<ops::cummax, float, float, 1>, scan<ops::cumsum, float, float, 2>,
                   reduce<ops::amax, float, float, 2>, compute<ops::sub, float, float, 2, 4>,
                   compute<ops::exp, float, float, 5>, scan<ops::cumsum, float, float, 6>,
                   store<1, float, 3, at_element<O, N>>, store<2, float, 7, at_element<O, N>>>;

template <orientation O, long N, long StaticRnumel = -1>
void test_chain(const char* name, std::int64_t rows, std::int64_t length, std::size_t shift = 0) {
  if (!is_sampled()) return;
  const layout<O> where{rows, length};
  const auto a = numbers<float>(static_cast<std::size_t>(rows * length), 3);
  device_array<float> da(a, shift), first(a.size()), second(a.size());
  auto args = make_args<3, 0, 1>(rows, length);
  args.pointers[0] = da.data(), args.pointers[1] = first.data(), args.pointers[2] = second.data();
  args.sizes[0] = O == orientation::row ? length : rows;
  const std::string what = label(name, rows, length, shift ? "misaligned" : "");
  launch<chain<O, N>, O, StaticRnumel>(what, args);
  std::vector<double> sums(a.size()), shares(a.size());
  for (std::int64_t x = 0; x < rows; ++x) {
    double sum = 0, most = -1e300, total = 0;
    std::vector<double> c;
    for (std::int64_t r = 0; r < length; ++r) {
      sum += number(a[where.at(x, r)]);
      most = std::max(most, sum);
      c.push_back(most);
      total += most;
      sums[where.at(x, r)] = total;
    }
    total = 0;
    for (std::int64_t r = 0; r < length; ++r) shares[where.at(x, r)] = total += std::exp(c[static_cast<std::size_t>(r)] - most);
  }
  const double n = static_cast<double>(length);
  check_close(what, first.host(), [&](std::size_t k) { return sums[k]; }, 1e-4, 1e-5 * n);
  check_close(what + ", second walk", second.host(), [&](std::size_t k) { return shares[k]; }, 1e-3, 1e-5 * n);
  first.check_guards(what), second.check_guards(what);
}

}  // namespace

TEST_CASE("scans: of scans, and after a reduction") {
  for (const std::int64_t rows : {1, 5, 40})
    for (const std::int64_t length : {0, 1, 3, 32, 100, 1000, 1001, 4096, 8191, 9001, 20000}) {
      test_chain<orientation::row, d0>("chain, dynamic", rows, length);
      if (length <= 1000) test_chain<orientation::column, d0>("column chain, dynamic", rows, length);
    }
  test_chain<orientation::row, 4096, 4096>("chain, static", 40, 4096);
  test_chain<orientation::row, 1000, 1000>("chain, static", 40, 1000, 1);
  test_chain<orientation::row, 50000, 50000>("chain, static", 4, 50000);
}

TEST_CASE("scans: wide states and integers") {
  const auto test = [](auto zero, auto result_zero, const char* name, std::int64_t length, std::int64_t rows) {
    using T = decltype(zero);
    using R = decltype(result_zero);
    using B = body<load<0, T, at_row<d0>>, scan<ops::cumsum, T, R, 0>, scan<ops::cummin, T, T, 0>,
                   store<1, R, 1, at_row<d0>>, store<2, T, 2, at_row<d0>>>;
    const auto a = numbers<T>(static_cast<std::size_t>(rows * length), 1);
    device_array<T> da(a), least(a.size());
    device_array<R> sums(a.size());
    auto args = make_args<3, 0, 1>(rows, length);
    args.pointers[0] = da.data(), args.pointers[1] = sums.data(), args.pointers[2] = least.data();
    args.sizes[0] = length;
    launch<B, orientation::row>(name, args);
    std::vector<double> sum(a.size()), low(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
      const bool first = k % static_cast<std::size_t>(length) == 0;
      sum[k] = number(a[k]) + (first ? 0 : sum[k - 1]);
      low[k] = first ? number(a[k]) : std::min(low[k - 1], number(a[k]));
    }
    check_close(name, sums.host(), [&](std::size_t k) { return sum[k]; }, 1e-12, 1e-9);
    check_close(std::string(name) + " least", least.host(), [&](std::size_t k) { return low[k]; }, 0, 0);
    sums.check_guards(name), least.check_guards(name);
  };
  for (const std::int64_t length : {16, 1000, 1001, 5000, 5003, 100002}) {
    const std::int64_t rows = length % 2 == 0 ? 5 : 130;
    test(std::uint8_t{}, std::int64_t{}, "scan u8", length, rows);
    test(std::int8_t{}, std::int64_t{}, "scan i8", length, rows);
    test(double{}, double{}, "scan f64", length, rows);
    test(std::int64_t{}, std::int64_t{}, "scan i64", length, rows);
    test(std::int32_t{}, std::int64_t{}, "scan i32", length, rows);
  }
}
