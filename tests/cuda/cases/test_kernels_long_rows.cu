// Rows that fill a multiprocessor, or many: odd lengths, one row and hundreds, of any alignment, against plain loops in
// double; blocks that share rows, in several streams at once and in a graph. SPDX-License-Identifier: BSL-1.0
#include "../test_kernels_rows.cuh"

#include <algorithm>
#include <cstring>
#include <initializer_list>

using namespace kernel_tests;

namespace {

constexpr std::int64_t most_elements = 12'000'000;

template <class T, long C = d0>
void test_softmax_rows(const char* name, std::initializer_list<std::int64_t> columns, std::size_t shift = 0,
                       std::size_t shift_out = 0) {
  for (const std::int64_t c : columns)
    for (const std::int64_t rows : {1, 2, 5, 131, 300})
      if (rows * c <= most_elements)
        test_softmax<T, softmax<T, C>, (C == d0 ? -1 : C)>(name, rows, c, shift, shift_out);
}

}  // namespace

TEST_CASE("softmax of long rows, dynamic extent") {
  test_softmax_rows<bf16>("softmax bf16", {32768, 40000, 50257, 65535, 65536, 65537, 120001, 1000003});
  test_softmax_rows<float>("softmax f32", {16384, 20001, 50257, 57344, 57345, 65537, 300007, 1000000});
  test_softmax_rows<double>("softmax f64", {10000, 30001, 100003});
  test_softmax_rows<bf16>("softmax bf16", {50257, 120001}, 3, 3);
  test_softmax_rows<bf16>("softmax bf16", {50257, 65536}, 1, 2);
  test_softmax_rows<float>("softmax f32", {50257, 300007}, 1, 1);
}
TEST_CASE("softmax of long rows, static extent") {
  test_softmax_rows<bf16, 65536>("softmax bf16, static", {65536});
  test_softmax_rows<bf16, 50257>("softmax bf16, static", {50257});
  test_softmax_rows<bf16, 50257>("softmax bf16, static", {50257}, 5, 5);
  test_softmax_rows<float, 65537>("softmax f32, static", {65537});
}
TEST_CASE("a row that no multiprocessors hold together") {
  test_softmax<float, softmax<float, d0>, -1>("softmax f32", 1, 16'000'001);
  test_softmax<float, softmax<float, d0>, -1>("softmax f32", 3, 8'000'000);
}
TEST_CASE("layer norm of long rows") {
  for (const std::int64_t columns : {32768, 50257, 65536, 100'003, 400'000})
    for (const std::int64_t rows : {1, 7, 140}) {
      if (rows * columns > most_elements) continue;
      test_layer_norm<bf16, float, layer_norm<bf16, float, d0>, -1>("layer norm bf16", rows, columns);
      test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", rows, columns);
    }
}

TEST_CASE("softmax of long rows that begin anywhere") {
  for (const std::int64_t columns : {33000, 50257, 57345, 65535, 65536, 65537, 120001})
    for (const std::int64_t rows : {1, 3})
      for (const std::size_t shift : {1, 7})
        test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", rows, columns, shift, shift);
  test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", 137, 65537);
}
TEST_CASE("layer norm of long rows whose weights lie in any other way") {
  for (const std::int64_t columns : {57345, 65536, 65537, 100'003})
    for (const std::int64_t rows : {1, 3})
      for (const auto& [shift, weights] : {std::pair<std::size_t, std::size_t>{0, 0}, {0, 3}, {1, 1}, {7, 2}})
        test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", rows, columns, shift, weights,
                                                                    weights);
  test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 2, 5'000'011, 1, 2, 2);
  test_layer_norm<float, bf16, layer_norm<float, bf16, d0>, -1>("layer norm f32", 3, 65537, 1, 1, 1);
  test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", 3, 65537, 1, 2, 3);
}

namespace {

/// Of two rows the second's mean, and how far it goes above that; of the first, 0 before its fourth element, every
/// deviation from that mean, and where it is greatest.
using deviations =
    body<inside<at_r, 3, d0>, load<0, float, at_row<d0>, 0>, load<1, float, at_row<d0>>,
         reduce<ops::sum, float, float, 2>, row_length<float>, compute<ops::div, float, float, 3, 4>,
         compute<ops::sub, float, float, 1, 5>, reduce<ops::argmax, float, std::int64_t, 6>,
         compute<ops::sub, float, float, 2, 5>, reduce<ops::amax, float, float, 8>, store<2, float, 5, at_x>,
         store<3, std::int64_t, 7, at_x>, store<4, float, 9, at_x>, store<5, float, 6, at_row<d0>>>;

}  // namespace

TEST_CASE("masks, several states and outputs") {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, 1000000}, {3, 200003}, {150, 40001}, {140, 30000}, {2, 57345}}) {
    const auto a = numbers<float>(rows * columns, 1), b = numbers<float>(rows * columns, 2);
    device_array<float> da(a), db(b), mean(rows), most(rows), out(rows * columns);
    device_array<std::int64_t> where(rows);
    auto args = make_args<6, 0, 1>(rows, columns);
    void* pointers[] = {da.data(), db.data(), mean.data(), where.data(), most.data(), out.data()};
    for (int i = 0; i < 6; ++i) args.pointers[i] = pointers[i];
    args.sizes[0] = columns;
    const std::string what = label("deviations", rows, columns);
    launch<deviations>(what, args);
    std::vector<double> expected_mean(rows, 0.0), expected_most(rows, -10.0);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) expected_mean[i] += double(b[i * columns + j]) / columns;
      for (std::int64_t j = 0; j < columns; ++j)
        expected_most[i] = std::max(expected_most[i], double(b[i * columns + j]) - expected_mean[i]);
    }
    const auto masked = [&, c = columns](std::size_t k) { return k % c >= 3 ? double(a[k]) : 0.0; };
    check_close(
        what + " mean", mean.host(), [&](std::size_t i) { return expected_mean[i]; }, 1e-5, 1e-5);
    check_close(
        what + " most", most.host(), [&](std::size_t i) { return expected_most[i]; }, 1e-5, 1e-5);
    const auto device_mean = mean.host();
    check_close(
        what + " argmax", where.host(),
        [&, c = columns](std::size_t i) {
          std::int64_t best = 0;
          const auto value = [&](std::int64_t j) { return static_cast<float>(masked(i * c + j)) - device_mean[i]; };
          for (std::int64_t j = 1; j < c; ++j)
            if (value(j) > value(best)) best = j;
          return best;
        },
        0, 0);
    check_close(
        what, out.host(), [&, c = columns](std::size_t k) { return masked(k) - expected_mean[k / c]; }, 1e-5, 2e-5);
    mean.check_guards(what), most.check_guards(what), where.check_guards(what), out.check_guards(what);
  }
}

namespace {

void share_in_streams(std::int64_t rows, std::int64_t columns) {
  using B = softmax<float, d0>;
  constexpr int streams = 4;
  const auto a = numbers<float>(rows * columns, 1);
  const device_array<float> da(a);
  std::vector<float> first;
  cudaStream_t stream[streams];
  std::vector<device_array<float>*> outs;
  std::vector<device_array<unsigned char>*> workspaces;
  for (auto& s : stream) {
    cuda_ok(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate");
    outs.push_back(new device_array<float>(rows * columns));
    workspaces.push_back(new device_array<unsigned char>(
        static_cast<std::size_t>(reduction_workspace<B, orientation::row>(rows, columns).total())));
  }
  const auto call = [&](int i) {
    auto args = make_args<2, 0, 1>(rows, columns);
    args.pointers[0] = da.data(), args.pointers[1] = outs[i]->data(), args.sizes[0] = columns;
    cuda::kernel_memory memory(workspaces[i]->data(), reduction_workspace<B, orientation::row>(rows, columns));
    cuda::reduction<B, orientation::row>(args, memory, stream[i], "per_test");
  };
  const auto compare = [&](const std::string& what) {
    for (const auto* out : outs) {
      const auto now = out->host();
      if (first.empty()) first = now;
      CHECK_MESSAGE(std::memcmp(now.data(), first.data(), now.size() * sizeof(float)) == 0, what, ": other bits");
      cuda_ok(cudaMemset(out->data(), 0xff, now.size() * sizeof(float)), "cudaMemset");
    }
  };
  cuda_ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  run("streams", [&] {
    for (int repeat = 0; repeat < 20; ++repeat)
      for (int i = 0; i < streams; ++i) call(i);
  });
  compare("streams");
  cudaGraph_t graphs[streams];
  cudaGraphExec_t ready[streams];
  for (int i = 0; i < streams; ++i) {
    cuda_ok(cudaStreamBeginCapture(stream[i], cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    call(i);
    cuda_ok(cudaStreamEndCapture(stream[i], &graphs[i]), "cudaStreamEndCapture");
    cuda_ok(cudaGraphInstantiate(&ready[i], graphs[i], 0), "cudaGraphInstantiate");
  }
  run("graphs", [&] {
    for (int repeat = 0; repeat < 20; ++repeat)
      for (int i = 0; i < streams; ++i) cuda_ok(cudaGraphLaunch(ready[i], stream[i]), "cudaGraphLaunch");
  });
  compare("graphs");
  for (int i = 0; i < streams; ++i) {
    workspaces[i]->check_guards("workspace");
    delete outs[i], delete workspaces[i];
    (void)cudaGraphExecDestroy(ready[i]), (void)cudaGraphDestroy(graphs[i]), (void)cudaStreamDestroy(stream[i]);
  }
}

}  // namespace

TEST_CASE("blocks that share rows run in several streams at once, and in a graph") {
  share_in_streams(7, 400'003);
  share_in_streams(67, 65'537);  // in clusters, where there are any
}
TEST_CASE("rows that two to nine blocks share") {
  for (const std::int64_t columns : {65'536, 100'001, 150'000, 200'003, 250'000, 300'007, 350'000, 400'001})
    for (const std::int64_t rows : {14, 29})
      if (rows * columns <= most_elements) {
        test_softmax<float, softmax<float, d0>, -1>("softmax f32", rows, columns, 1, 1);
        test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", rows, columns);
      }
}
TEST_CASE("rows of which the blocks of a team hold a part, and walk the rest") {
  test_softmax<float, softmax<float, d0>, -1>("softmax f32", 11, 1'000'003);
  test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", 5, 2'300'001, 3, 3);
  test_softmax<bf16, softmax<bf16, d0>, -1>("softmax bf16", 16, 750'000);
  for (const auto& [rows, columns] : {std::pair{5, 2'300'000}, {39, 300'001}, {66, 175'000}, {132, 65'600}})
    test_layer_norm<float, float, layer_norm<float, float, d0>, -1>("layer norm f32", rows, columns);
  test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 6, 2'000'000);
  test_layer_norm<bf16, bf16, layer_norm<bf16, bf16, d0>, -1>("layer norm bf16", 40, 299'999, 1, 2, 2);
}
