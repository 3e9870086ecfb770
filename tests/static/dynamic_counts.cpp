// A plan with run-time extents has as many kernels as the same plan with static ones, and the same names: decisions on
// such extents use names, divisibility and hints, never a value.
#include <tuple>

#include <sinter/sinter.hpp>

namespace si = sinter;
using std::tuple;

/// Both programs; static rows are the hint's.
template <class F, class S>
constexpr bool same_kernels(F f, S s) {
  if (f.kernel_count() != s.kernel_count()) return false;
  for (int i = 0; i < f.kernel_count(); ++i) {
    // A row of run-time length is looped or persistent at the launch, by the same function: its name says looped.
    if (f.kernel(i).name.substr(3) != s.kernel(i).name.substr(3)) return false;
    const bool reduces = f.kernel(i).name.substr(0, 3) == "red" && s.kernel(i).name.substr(0, 3) == "per";
    if (f.kernel(i).kind != s.kernel(i).kind && !reduces) return false;
  }
  return true;
}

constexpr auto rows = si::dim<"rows", 4096>;
constexpr auto columns = si::dim<"columns", 1024>;
#define X(...) si::tensor<float, __VA_ARGS__>  // an alias template of such extents is more than nvcc 13 can spell

// Each program with static rows, named rows, anonymous rows, and with both extents known at run time.
#define SINTER_PROGRAM(NAME, KERNELS, OPTIONS, TENSORS)                                                        \
  static_assert(si::fuse<OPTIONS, TENSORS(4096, 1024)>(NAME).kernel_count() == KERNELS, #NAME ": static");     \
  static_assert(same_kernels(si::fuse<OPTIONS, TENSORS(rows, 1024)>(NAME),                                     \
                             si::fuse<OPTIONS, TENSORS(4096, 1024)>(NAME)), #NAME ": named rows");             \
  static_assert(same_kernels(si::fuse<OPTIONS, TENSORS(si::dyn, 1024)>(NAME),                                  \
                             si::fuse<OPTIONS, TENSORS(4096, 1024)>(NAME)), #NAME ": rows of no name");        \
  static_assert(same_kernels(si::fuse<OPTIONS, TENSORS(rows, columns)>(NAME),                                  \
                             si::fuse<OPTIONS, TENSORS(4096, 1024)>(NAME)), #NAME ": named rows and columns")

#define SINTER_ONE(ROWS, COLUMNS) X(ROWS, COLUMNS)
#define SINTER_TWO(ROWS, COLUMNS) X(ROWS, COLUMNS), X(ROWS, COLUMNS)
#define SINTER_AND_VECTOR(ROWS, COLUMNS) X(ROWS, COLUMNS), X(COLUMNS)
#define SINTER_AND_TWO_VECTORS(ROWS, COLUMNS) X(ROWS, COLUMNS), X(COLUMNS), X(COLUMNS)
#define SINTER_LINEAR(ROWS, COLUMNS) X(ROWS, COLUMNS), X(64, COLUMNS), X(64)
#define SINTER_BATCHES(ROWS, COLUMNS) X(8, ROWS, COLUMNS)
#define SINTER_TABLE(ROWS, COLUMNS) X(50, COLUMNS), si::tensor<long, ROWS>

// ---- pointwise and reductions
constexpr auto chain = [](auto x) { return si::gelu(x * 2.f) + 1.f; };
SINTER_PROGRAM(chain, 1, si::standard, SINTER_ONE);
constexpr auto add = [](auto x, auto y) { return tuple(x + y, x * y); };
SINTER_PROGRAM(add, 1, si::standard, SINTER_TWO);
constexpr auto bias = [](auto x, auto b) { return si::relu(x + b); };
SINTER_PROGRAM(bias, 1, si::standard, SINTER_AND_VECTOR);
constexpr auto softmax = [](auto x) { return si::softmax(x); };
SINTER_PROGRAM(softmax, 1, si::standard, SINTER_ONE);
constexpr auto log_softmax = [](auto x) { return si::log_softmax(x) * 2.f; };
SINTER_PROGRAM(log_softmax, 1, si::standard, SINTER_ONE);
constexpr auto outer_softmax = [](auto x) { return si::softmax(x, si::axis<0>); };
SINTER_PROGRAM(outer_softmax, 1, si::standard, SINTER_ONE);
constexpr auto twice = [](auto x) { return si::softmax(si::softmax(x)); };
SINTER_PROGRAM(twice, 1, si::standard, SINTER_ONE);
constexpr auto layer_norm = [](auto x, auto w, auto b) { return si::layer_norm(x, w, b, 1e-5f); };
SINTER_PROGRAM(layer_norm, 1, si::standard, SINTER_AND_TWO_VECTORS);
constexpr auto norm_gelu = [](auto x, auto w) { return si::gelu(si::rms_norm(x, w, 1e-6f)); };
SINTER_PROGRAM(norm_gelu, 1, si::standard, SINTER_AND_VECTOR);
constexpr auto rows_and_pointwise = [](auto x) { return tuple(si::sum(x, si::axis<1>), si::cos(x)); };
SINTER_PROGRAM(rows_and_pointwise, 1, si::standard, SINTER_ONE);
constexpr auto columns_and_pointwise = [](auto x) { return tuple(si::sum(x, si::axis<0>), si::cos(x)); };
SINTER_PROGRAM(columns_and_pointwise, 1, si::standard, SINTER_ONE);
constexpr auto two_sums = [](auto x) { return tuple(si::sum(x, si::axis<1>), si::amax(x, si::axis<1>)); };
SINTER_PROGRAM(two_sums, 1, si::standard, SINTER_ONE);
constexpr auto everything = [](auto x) { return tuple(si::sum(x), si::mean(si::abs(x))); };
SINTER_PROGRAM(everything, 1, si::standard, SINTER_ONE);
constexpr auto nested = [](auto x) { return si::amax(si::sum(x, si::axis<1>)); };
SINTER_PROGRAM(nested, 2, si::standard, SINTER_ONE);
constexpr auto middle = [](auto x) { return si::sum(si::exp(x), si::axis<0, 1>); };
SINTER_PROGRAM(middle, 1, si::standard, SINTER_BATCHES);
constexpr auto loss = [](auto x) { return si::mean(si::square(si::log_softmax(x))); };
SINTER_PROGRAM(loss, 2, si::standard, SINTER_ONE);
constexpr auto eager_softmax = [](auto x) { return si::exp(si::softmax(x)); };
SINTER_PROGRAM(eager_softmax, 2, si::eager, SINTER_ONE);

// ---- views, indexing, writes in place
constexpr auto joined = [](auto x, auto y) { return si::cos(si::concat<1>(si::sin(x), y)); };
SINTER_PROGRAM(joined, 1, si::standard, SINTER_TWO);
constexpr auto stacked = [](auto x, auto y) { return si::concat<0>(x + 1.f, y) * 2.f; };
SINTER_PROGRAM(stacked, 1, si::standard, SINTER_TWO);
constexpr auto turned = [](auto x) { return si::exp(si::transpose(x)) + 1.f; };
SINTER_PROGRAM(turned, 1, si::standard, SINTER_ONE);
constexpr auto halves = [](auto x) { return si::slice<1, 512>(x) * 2.f; };
static_assert(si::fuse<X(rows, 1024)>(halves).kernel_count() == 1 && si::fuse<X(4096, 1024)>(halves).kernel_count() == 1);
constexpr auto flat = [](auto x) { return si::exp(si::flatten<0, 1>(x)) * 2.f; };
SINTER_PROGRAM(flat, 1, si::standard, SINTER_BATCHES);
constexpr auto heads = [](auto x) { return si::softmax(si::permute<1, 0, 2>(x)); };
SINTER_PROGRAM(heads, 1, si::standard, SINTER_BATCHES);
constexpr auto split = [](auto x) { return si::exp(si::reshape<si::infer, 16, 64>(x)) + 1.f; };
static_assert(si::fuse<X(rows, 1024)>(split).kernel_count() == 1 && si::fuse<X(4096, 1024)>(split).kernel_count() == 1);
constexpr auto table = [](auto w, auto i) { return si::rms_norm(si::embedding(w, i), 1e-6f); };
SINTER_PROGRAM(table, 1, si::standard, SINTER_TABLE);
constexpr auto step = [](auto w, auto g) { return si::assign(w, w - 0.1f * g); };
SINTER_PROGRAM(step, 1, si::standard, SINTER_TWO);

// ---- matrix products
constexpr auto linear_gelu = [](auto x, auto w, auto b) { return si::gelu(si::linear(x, w, b)); };
SINTER_PROGRAM(linear_gelu, 2, si::standard, SINTER_LINEAR);
SINTER_PROGRAM(linear_gelu, 1, si::max_autotune, SINTER_LINEAR);
constexpr auto norm_linear = [](auto x, auto w, auto b) { return si::linear(si::rms_norm(x, 1e-6f), w, b); };
SINTER_PROGRAM(norm_linear, 3, si::standard, SINTER_LINEAR);
SINTER_PROGRAM(norm_linear, 2, si::max_autotune, SINTER_LINEAR);
SINTER_PROGRAM(norm_linear, 1, si::max_fusion, SINTER_LINEAR);
constexpr auto gated = [](auto x, auto w, auto) { return si::silu(si::linear(x, w)) * si::linear(x, si::neg(w)); };
SINTER_PROGRAM(gated, 4, si::standard, SINTER_LINEAR);
constexpr auto product_sum = [](auto x, auto w, auto b) { return si::sum(si::linear(x, w, b), si::axis<-1>); };
SINTER_PROGRAM(product_sum, 2, si::max_autotune, SINTER_LINEAR);
