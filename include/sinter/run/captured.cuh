// captured: a plan as one CUDA graph, recorded once and replayed by one launch. It owns the graph and the workspace;
// calls with other arguments record again and update the graph in place, which is made anew only where kernels come,
// go or start by other rules. How kernels are launched is run/cuda.cuh's matter. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include "sinter/base/list.hpp"
#include "sinter/base/owned.hpp"
#include "sinter/run/cuda.cuh"
#include "sinter/run/fuse.hpp"

namespace sinter {
namespace detail {

struct cuda_deleter {
  void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
  void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }  // when it has run
  void operator()(void* memory) const { (void)cudaFree(memory); }                      // waits for the device
};
template <class Handle>
using cuda_handle = owned<Handle, cuda_deleter>;

/// What `launch` puts into the stream, as a graph.
template <class Launch>
cuda_handle<cudaGraph_t> capture(cudaStream_t stream, const Launch& launch) {
  cudaGraph_t graph = nullptr;
  cuda::detail::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture",
                      "captured");
  try {
    launch();
  } catch (...) {
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) (void)cudaGetLastError();
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    throw;
  }
  cuda::detail::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture", "captured");
  return cuda_handle<cudaGraph_t>(graph);
}

/// A call as a graph: with which arguments it was recorded, on which device, in which memory.
template <class Program>
class recorded_call {
 public:
  recorded_call() {
    cudaStream_t stream = nullptr;
    cuda::detail::check(cudaGetDevice(&device_), "cudaGetDevice", "captured");
    cuda::detail::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate", "captured");
    stream_.reset(stream);
  }

  template <class Kernels>
  void record(call<Program>& c, Kernels kernels) {
    if (launchable_ && has_arguments_of(c)) return;
    check_device(c);
    int device = 0;
    cuda::detail::check(cudaGetDevice(&device), "cudaGetDevice", "captured");
    if (device != device_)
      throw argument_error(
          text_of({"captured: the graph is one of device ", device_, ", the current device is ", device}));
    const call_memory size = memory_of(c, kernels);
    device_block workspace, counters;
    if (size.total() > workspace_.bytes) workspace = allocate(size.total());
    if (size.counters > counters_.bytes) {
      counters = allocate(size.counters);
      cuda::detail::check(
          cudaMemsetAsync(counters.at.get(), 0, static_cast<std::size_t>(counters.bytes), stream_.get()),
          "cudaMemsetAsync", "captured");
      cuda::detail::check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize", "captured");
    }
    void* const memory = workspace.bytes > 0 ? workspace.at.get() : workspace_.at.get();
    void* const at_zero = counters.bytes > 0 ? counters.at.get() : counters_.at.get();
    update(capture(stream_.get(), [&] { launch_kernels(c, memory, size, at_zero, stream_.get(), kernels); }));
    for (int i = 0; i < c.num_arguments; ++i) arguments_[i] = c.arguments[i];
    if (workspace.bytes > 0) workspace_ = std::move(workspace);
    if (counters.bytes > 0) counters_ = std::move(counters);
  }

  void replay(cudaStream_t stream) const {
    if (!launchable_)
      throw argument_error("captured: there is no graph, it was moved away or could not be made; capture again");
    cuda::detail::check(cudaGraphLaunch(launchable_.get(), stream), "cudaGraphLaunch", "captured");
  }

 private:
  bool has_arguments_of(const call<Program>& c) const {
    for (int i = 0; i < c.num_arguments; ++i)
      if (arguments_[i] != c.arguments[i]) return false;
    return true;
  }
  struct device_block {
    cuda_handle<void*> at;
    std::int64_t bytes = 0;
  };
  static device_block allocate(std::int64_t bytes) {
    void* memory = nullptr;
    cuda::detail::check(cudaMalloc(&memory, static_cast<std::size_t>(bytes)), "cudaMalloc", "captured");
    return {cuda_handle<void*>(memory), bytes};
  }
  void update(const cuda_handle<cudaGraph_t>& graph) {
    cudaGraphExecUpdateResultInfo info{};
    list<unsigned> rules = rules_of(graph.get());
    if (launchable_ && rules == rules_ && cudaGraphExecUpdate(launchable_.get(), graph.get(), &info) == cudaSuccess)
      return;
    (void)cudaGetLastError();  // kernels came or went: another graph
    launchable_.reset();
    rules_ = std::move(rules);
    cudaGraphExec_t fresh = nullptr;
    cuda::detail::check(cudaGraphInstantiate(&fresh, graph.get(), 0), "cudaGraphInstantiate", "captured");
    launchable_.reset(fresh);
  }

  /// What an update leaves as it was: how many blocks of each kernel form a cluster, whether all must run at once, and
  /// what they leave the L1.
  static list<unsigned> rules_of(cudaGraph_t graph) {
    using cuda::detail::check;
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes", "captured");
    list<cudaGraphNode_t> nodes(count, nullptr);
    if (count > 0) check(cudaGraphGetNodes(graph, nodes.begin(), &count), "cudaGraphGetNodes", "captured");
    list<unsigned> rules;
    for (cudaGraphNode_t node : nodes) {
      cudaGraphNodeType type{};
      check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType", "captured");
      if (type != cudaGraphNodeTypeKernel) continue;
      const auto ask = [&](cudaLaunchAttributeID id) {
        cudaLaunchAttributeValue value{};
        check(cudaGraphKernelNodeGetAttribute(node, id, &value), "cudaGraphKernelNodeGetAttribute", "captured");
        return value;
      };
      rules.push_back(ask(cudaLaunchAttributeClusterDimension).clusterDim.x);
      rules.push_back(static_cast<unsigned>(ask(cudaLaunchAttributeCooperative).cooperative));
      rules.push_back(ask(cudaLaunchAttributePreferredSharedMemoryCarveout).sharedMemCarveout);
    }
    return rules;
  }

  int device_ = 0;
  list<unsigned> rules_;
  cuda_handle<cudaStream_t> stream_;   // recorded into; what runs in it is done when record returns
  device_block workspace_, counters_;  // those are at zero between replays
  cuda_handle<cudaGraphExec_t> launchable_;
  bound_argument arguments_[call<Program>::num_arguments + 1]{};
};

/// The executor that records.
template <class Program>
struct recorder {
  recorded_call<Program>* to;
};
template <class Program>
struct runner<recorder<Program>> {
  template <class Kernels>
  static void run(call<Program>& c, const recorder<Program>& r, Kernels kernels) {
    r.to->record(c, kernels);
  }
};

}  // namespace detail

/// What is not fused cannot be captured; what fuse has refused does nothing, so that one mistake is one error.
template <class F>
class captured {
  static_assert(std::is_same_v<F, refused>, "captured(f, ...): f is not a fused function; give what fuse returns");

 public:
  template <class... A>
  explicit captured(const F&, A&&...) {}
  template <class... A>
  void operator()(cudaStream_t, A&&...) const {}
};
template <class F, class... A>
captured(const F&, A&&...) -> captured<F>;

/// A fused function and its arguments as one CUDA graph on the current device: `captured g(f, inputs..., outputs...)`
/// records, `g(stream)` replays with one launch, asynchronously. `g(stream, inputs..., outputs...)` replays with these
/// arguments: other pointers, values, extents or strides than the last are recorded first. A replay neither allocates
/// nor waits; only extents that need a larger workspace than any before allocate it, and wait for the device to free
/// the old one, as the destructor does. Movable; one thread at a time. Replays share the workspace: where they are in
/// several streams and arguments change in between, the caller orders them. Throws what a call of f throws; a wrong
/// argument leaves the graph as it was.
template <options Options, class Fn, class... T>
class captured<fused<Options, Fn, T...>> {
  using function = fused<Options, Fn, T...>;

 public:
  template <class... A>
  explicit captured(const function& f, A&&... arguments) {
    f(detail::recorder<typename function::program>{&recorded_}, arguments...);
  }

  void operator()(cudaStream_t stream) const { recorded_.replay(stream); }
  template <class... A>
  requires(sizeof...(A) > 0) void operator()(cudaStream_t stream, A&&... arguments) {
    function{}(detail::recorder<typename function::program>{&recorded_}, arguments...);
    recorded_.replay(stream);
  }

 private:
  detail::recorded_call<typename function::program> recorded_;
};

/// captured<decltype(f)> of a constant f, as a member's type.
template <class Fused>
class captured<const Fused> : public captured<Fused> {
 public:
  using captured<Fused>::captured;
  captured(captured<Fused>&& other) noexcept : captured<Fused>(std::move(other)) {}
};

}  // namespace sinter
