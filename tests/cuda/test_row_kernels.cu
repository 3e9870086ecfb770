// options.row_kernel: each kind of kernel that reduces rows, asked for by name, runs where it can take the rows and
// gives what the host gives; elsewhere rows are walked. SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "on_cuda.cuh"

namespace si = sinter;

namespace {

constexpr auto softmax = [](auto x) { return si::softmax(x); };
constexpr auto squares = [](auto x) { return si::sum(x * x, si::axis<-1>); };
constexpr auto variance = [](auto x) { return si::var(x, si::axis<-1>); };

template <si::row_kernel Kind>
inline constexpr si::options pinned = [] {
  si::options o = si::standard;
  o.row_kernel = Kind;
  return o;
}();

std::vector<float> waves(std::int64_t size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 3 * std::sin(0.37f * static_cast<float>(i));
  return values;
}

/// The mangled name of the one kernel that `launch` launches.
template <class Launch>
std::string kernel_of(const Launch& launch) {
  cudaGraph_t graph = nullptr;
  place::check(cudaStreamBeginCapture(place::executor(), cudaStreamCaptureModeThreadLocal));
  launch();
  place::check(cudaStreamEndCapture(place::executor(), &graph));
  std::size_t count = 8;
  cudaGraphNode_t nodes[8];
  place::check(cudaGraphGetNodes(graph, nodes, &count));
  std::string found;
  for (std::size_t i = 0; i < count; ++i) {
    cudaGraphNodeType type;
    place::check(cudaGraphNodeGetType(nodes[i], &type));
    if (type != cudaGraphNodeTypeKernel) continue;
    cudaKernelNodeParams params{};
    const char* name = nullptr;
    place::check(cudaGraphKernelNodeGetParams(nodes[i], &params));
    place::check(cudaFuncGetName(&name, params.func));
    found += name;
  }
  cudaGraphDestroy(graph);
  return found;
}

/// `f` of `size` values, by the kernel of which `kernel` is part of the name, gives `results` values as on the host.
template <class Fused, class Call>
void check_kind(const char* kernel, const Fused& f, std::int64_t size, std::int64_t results, const Call& call) {
  const std::vector<float> in = waves(size);
  std::vector<float> expected(static_cast<std::size_t>(results)), found(expected.size());
  const place::memory from(in.size() * 4), to(found.size() * 4), room(1 << 24), counters(1 << 16);
  from.upload(in.data());
  place::check(cudaMemset(counters.data(), 0, 1 << 16));
  const si::cuda_executor executor{place::executor(), room.data(), 1 << 24, counters.data(), 1 << 16};
  const auto on_device = [&] { call(f, executor, static_cast<float*>(from.data()), static_cast<float*>(to.data())); };
  const std::string name = kernel_of(on_device);
  CAPTURE(name);
  CHECK(name.find(kernel) != std::string::npos);
  call(f, si::host, const_cast<float*>(in.data()), expected.data());
  on_device();
  place::finish();
  to.download(found.data());
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, static_cast<double>(std::fabs(found[i] - expected[i])) / (std::fabs(expected[i]) + 1e-6));
  CHECK(worst < 2e-5);
}

template <si::row_kernel Kind>
void check_softmax(const char* kernel, std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<float, si::dyn, si::dim<"columns">>;
  check_kind(kernel, si::fuse<pinned<Kind>, X>(softmax), rows * columns, rows * columns,
             [=](const auto& f, const auto& executor, float* x, float* y) {
               f(executor, X(x, rows, columns), X(y, rows, columns));
             });
}
template <si::row_kernel Kind, long Columns>
void check_static_softmax(const char* kernel, std::int64_t rows) {
  using X = si::tensor<float, si::dyn, Columns>;
  check_kind(kernel, si::fuse<pinned<Kind>, X>(softmax), rows * Columns, rows * Columns,
             [=](const auto& f, const auto& executor, float* x, float* y) { f(executor, X(x, rows), X(y, rows)); });
}
template <si::row_kernel Kind, class Fn>
void check_rows(const char* kernel, const Fn& fn, std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<float, si::dyn, si::dim<"columns">>;
  using Y = si::tensor<float, si::dyn>;
  check_kind(
      kernel, si::fuse<pinned<Kind>, X>(fn), rows * columns, rows,
      [=](const auto& f, const auto& executor, float* x, float* y) { f(executor, X(x, rows, columns), Y(y, rows)); });
}

using enum si::row_kernel;

}  // namespace

TEST_CASE("rows of run-time length are reduced as options.row_kernel says") {
  check_softmax<looped>("reduction_looped", 100, 4096);
  check_softmax<looped>("reduction_looped", 100, 1001);
  check_softmax<held>("reduction_persistent", 100, 4096);
  check_rows<held>("reduction_persistent", squares, 100, 1032);
  check_rows<looped>("reduction_looped", squares, 100, 1032);
  check_softmax<runs>("reduction_short", 100, 101);
  check_softmax<staged>("reduction_staged", 100, 3001);
  check_softmax<streamed>("reduction_vectors", 300, 40001);
  check_softmax<grouped>(si::cuda::detail::kernels_overlap ? "reduction_grouped" : "reduction_looped", 100, 65537);
  check_rows<swept>("reduction_swept", variance, 100, 1001);
  check_rows<swept>("reduction_swept", variance, 100, 4096);
  check_rows<looped>("reduction_looped", variance, 100, 65537);
}

TEST_CASE("rows of static length are reduced as options.row_kernel says") {
  check_static_softmax<held, 4096>("reduction_persistent", 100);
  check_static_softmax<held, 3001>("reduction_shifted", 100);
  check_static_softmax<looped, 4096>("reduction_looped", 100);
  check_static_softmax<streamed, 40000>("reduction_streamed", 300);
  check_static_softmax<streamed, 36864>("reduction_streamed", 100);  // whole tiles, of which warps have not as many
}

TEST_CASE("rows that a kind of kernel cannot take are walked") {
  check_softmax<held>("reduction_looped", 3, 200001);
  check_softmax<runs>("reduction_looped", 3, 50000);
  check_softmax<grouped>("reduction_looped", 3, 1000);
  check_softmax<swept>("reduction_looped", 30, 1000);  // two phases
}

namespace {

template <class Loss>
void expect_host_loss(const Loss& loss, std::int64_t rows) {
  CAPTURE(rows);
  using X = si::tensor<float, si::dyn, 9>;
  using T = si::tensor<std::int64_t, si::dyn>;
  using S = si::tensor<float>;
  std::vector<float> in = waves(rows * 9);
  std::vector<std::int64_t> targets(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = static_cast<std::int64_t>(i * 7 % 9);
  float expected = 0, found = 0;
  loss(si::host, X(in.data(), rows), T(targets.data(), rows), S(&expected));
  const place::memory x(in.size() * 4), t(targets.size() * 8), out(4);
  x.upload(in.data()), t.upload(targets.data());
  loss(place::executor(), X(static_cast<float*>(x.data()), rows), T(static_cast<std::int64_t*>(t.data()), rows),
       S(static_cast<float*>(out.data())));
  place::finish();
  out.download(&found);
  CHECK(found == doctest::Approx(expected).epsilon(1e-5));
}

}  // namespace

TEST_CASE("a mean of what is gathered from rows, by one block, by several, and by several that walk on") {
  using X = si::tensor<float, si::dyn, 9>;
  using T = si::tensor<std::int64_t, si::dyn>;
  constexpr auto alone = si::fuse<X, T>([](auto x, auto targets) { return si::nll_loss(x, targets); });
  constexpr auto ahead = si::fuse<X, T>([](auto x, auto targets) { return si::cross_entropy(x, targets); });
  for (const std::int64_t rows : {1, 600, 2048, 2049, 4096, 4097, 300001}) {
    expect_host_loss(alone, rows);
    expect_host_loss(ahead, rows);
  }
}

namespace {

/// The kernel of a gradient by input and weight, which reduces rows and columns.
template <class T>
std::string kernel_of_gradients(std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dim<"rows", 65536>, si::dim<"columns">>;
  using W = si::tensor<float, si::dim<"columns">>;
  constexpr auto gradients = si::fuse<X, X>([](auto x, auto dy) {
    const auto gradient = si::cast<float>(dy);
    const auto values = si::cast<float>(x);
    const auto both = gradient * values;
    return std::tuple(si::cast<T>(gradient - values * si::sum(both, si::axis<-1>, si::keepdim)),
                      si::sum(both, si::axis<0>));
  });
  static_assert(gradients.kernel_count() == 1);
  const std::size_t bytes = static_cast<std::size_t>(rows * columns) * sizeof(T);
  const place::memory x(bytes), dy(bytes), dx(bytes), dw(static_cast<std::size_t>(columns) * 4), room(1 << 24),
      counters(1 << 16);
  place::check(cudaMemset(counters.data(), 0, 1 << 16));
  const si::cuda_executor executor{place::executor(), room.data(), 1 << 24, counters.data(), 1 << 16};
  const auto tensor = [&](const place::memory& of) { return X(static_cast<T*>(of.data()), rows, columns); };
  return kernel_of(
      [&] { gradients(executor, tensor(x), tensor(dy), tensor(dx), W(static_cast<float*>(dw.data()), columns)); });
}

}  // namespace

TEST_CASE("rows that begin anywhere are walked in vectors where those of 16 bits are reduced both ways") {
  const auto walks = [](const std::string& name, const char* kernel) {
    CAPTURE(name);
    CHECK(name.find(kernel) != std::string::npos);
  };
  walks(kernel_of_gradients<si::bf16>(600, 1001), "mix_order_shifted");
  walks(kernel_of_gradients<si::bf16>(600, 1000), "mix_order_persistent");
  walks(kernel_of_gradients<float>(600, 1001), "mix_order_persistent");
}

TEST_CASE("a kind of kernel changes neither plan nor names") {
  using X = si::tensor<float, si::dyn, 4096>;
  constexpr auto usual = si::fuse<X>(softmax);
  constexpr auto walked = si::fuse<pinned<looped>, X>(softmax);
  static_assert(usual.kernel_count() == walked.kernel_count());
  static_assert(usual.kernel(0).name == walked.kernel(0).name);
}
