// What a plan says of memory: bytes read and written, workspace and its reuse, with static and with run-time extents.
#include <tuple>

#include <sinter/sinter.hpp>

namespace si = sinter;
using std::tuple;

using X = si::tensor<float, 32, 64>;
using T = si::tensor<float, si::dyn, 64>;
using H = si::tensor<si::f16, si::dyn, 64>;
using V = si::tensor<float, 64>;
using W = si::tensor<float, 64, 64>;

// ---- bytes
constexpr auto unary = si::fuse<X>([](auto x) { return si::exp(x); });
static_assert(unary.bytes_read() == 32 * 64 * 4 && unary.bytes_written() == 32 * 64 * 4 &&
              unary.numel_accessed() == 2 * 32 * 64);
constexpr auto rows = si::fuse<T, V>([](auto t, auto v) { return si::sum(t * v, si::axis<-1>); });
static_assert(rows.bytes_read(100) == (100 * 64 + 64) * 4 && rows.bytes_written(100) == 100 * 4);
static_assert(rows.bytes_read(0) == 0 && rows.bytes_written(0) == 0);  // nothing is launched
static_assert(rows.numel_accessed(7) == 7 * 64 + 64 + 7);
constexpr auto halves = si::fuse<H>([](auto t) { return tuple(si::exp(t), t > 0.f); });
static_assert(halves.bytes_read(10) == 10 * 64 * 2 && halves.bytes_written(10) == 10 * 64 * (2 + 1));
// Extents in order of first appearance; one name is one argument.
using A = si::tensor<float, si::dim<"rows">, si::dim<"columns">>;
using B = si::tensor<float, si::dim<"columns">>;
constexpr auto named = si::fuse<A, B>([](auto a, auto b) { return a + b; });
static_assert(named.bytes_read(3, 5) == (3 * 5 + 5) * 4 && named.bytes_written(3, 5) == 3 * 5 * 4);
// Extents beyond 2^31 elements.
static_assert(rows.bytes_read(1L << 32) == ((1L << 38) + 64) * 4);
// A slice alone is what it touches.
constexpr auto part = si::fuse<X>([](auto x) { return si::exp(si::slice<0, 0, 8>(x)); });
static_assert(part.bytes_read() == 8 * 64 * 4 && part.bytes_written() == 8 * 64 * 4);
// Nothing is read twice, and what stays inside a kernel is not written.
constexpr auto reuse = si::fuse<X>([](auto x) { return si::softmax(x * x + x); });
static_assert(reuse.bytes_read() == 32 * 64 * 4 && reuse.bytes_written() == 32 * 64 * 4 &&
              reuse.workspace_bytes() == 0);

// ---- workspace: buffers between kernels, each at a multiple of 256 bytes
constexpr auto product = si::fuse<X, W>([](auto x, auto w) { return si::exp(si::matmul(x, w)); });
static_assert(product.kernel_count() == 2 && product.workspace_bytes() == 32 * 64 * 4);
constexpr auto small = si::fuse<si::tensor<float, 3, 5>, si::tensor<float, 5, 7>>(
    [](auto x, auto w) { return si::exp(si::matmul(x, w)); });
static_assert(small.workspace_bytes() == 256);
constexpr auto tokens = si::fuse<T, W>([](auto t, auto w) { return si::exp(si::matmul(t, w)); });
static_assert(tokens.workspace_bytes(32) == 32 * 64 * 4 && tokens.workspace_bytes(33) == 33 * 64 * 4 &&
              tokens.workspace_bytes(0) == 0);
static_assert(tokens.bytes_read(2) == (2 * 64 + 64 * 64 + 2 * 64) * 4);
// Without buffers no extents are needed, unless a long reduction may be split: then the partial results count.
constexpr auto normalised = si::fuse<T>([](auto t) { return si::softmax(t); });
static_assert(normalised.workspace_bytes() == 0 && rows.workspace_bytes(100) == 0);
// Rows that one block holds are shared by several only where there are few; of long ones blocks take the next in turn.
constexpr auto some_rows = si::fuse<si::tensor<float, si::dyn, 16000>>([](auto t) { return si::softmax(t); });
constexpr auto long_rows = si::fuse<si::tensor<float, si::dyn, 32768>>([](auto t) { return si::softmax(t); });
static_assert(some_rows.workspace_bytes(1000) == 0 && long_rows.workspace_bytes(200) == 0);
static_assert(long_rows.workspace_bytes(1000) == 256 && long_rows.workspace_bytes(1) > 0);
constexpr auto everything = si::fuse<T>([](auto t) { return si::sum(t); });
static_assert(everything.workspace_bytes(1) == 0 && everything.workspace_bytes(1 << 20) > 0);
static_assert(everything.workspace_bytes(1 << 20) < (1 << 20));

// ---- reuse: lives that do not meet share memory. Five products in a chain need two buffers, not four.
constexpr auto chain = si::fuse<X, W>([](auto x, auto w) {
  auto a = si::matmul(x, w);
  auto b = si::matmul(a, w);
  auto c = si::matmul(b, w);
  auto d = si::matmul(c, w);
  return si::matmul(d, w);
});
static_assert(chain.kernel_count() == 5 && chain.plan().buffers.size() == 4 &&
              chain.workspace_bytes() == 2 * 32 * 64 * 4);
// The same when all are needed at the end: no reuse.
constexpr auto kept = si::fuse<X, W>([](auto x, auto w) {
  auto a = si::matmul(x, w);
  auto b = si::matmul(a, w);
  auto c = si::matmul(b, w);
  return a + b + c;
});
static_assert(kept.kernel_count() == 4 && kept.workspace_bytes() == 3 * 32 * 64 * 4);
// A result never lies in the workspace, however many read it.
constexpr auto given = si::fuse<X, W>([](auto x, auto w) {
  auto a = si::matmul(x, w);
  return tuple(a, si::exp(a));
});
static_assert(given.kernel_count() == 2 && given.workspace_bytes() == 0);

// ---- the figures of the seed workload do not grow with the preset
constexpr auto block = [](auto x, auto w) { return si::silu(si::matmul(si::layer_norm(x, 1e-5f), w)); };
constexpr auto moved = [](auto f) { return f.bytes_read(256) + f.bytes_written(256); };
static_assert(moved(si::fuse<si::standard, T, W>(block)) <= moved(si::fuse<si::eager, T, W>(block)));
static_assert(moved(si::fuse<si::max_autotune, T, W>(block)) < moved(si::fuse<si::standard, T, W>(block)));
static_assert(moved(si::fuse<si::max_fusion, T, W>(block)) < moved(si::fuse<si::max_autotune, T, W>(block)));
