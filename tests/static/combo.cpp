// Combo kernels: what shares a launch and what does not. Oracle rows (section 14) by name.
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/with.hpp"

namespace si = sinter;
using std::tuple;

constexpr si::options combo = with<&si::options::combo_kernels, true>;

using M10 = si::tensor<float, 10, 10>;
using M20 = si::tensor<float, 20, 20>;

constexpr auto three = [](auto a, auto b, auto c) { return tuple(si::relu(a), si::sigmoid(b), si::tanh(c)); };
constexpr auto CK01 = si::fuse<combo, M10, M20, M10>(three);
static_assert(CK01.kernel_count() == 1, "CK01: kernels");
static_assert(CK01.kernel(0).kind == si::kernel_kind::combo);
static_assert(CK01.kernel(0).name == "com_fused_relu_sigmoid_tanh_0");
static_assert(CK01.numel_accessed() == 2 * (100 + 400 + 100), "CK01: each buffer once");
static_assert(CK01.workspace_bytes() == 0);
static_assert(si::fuse<M10, M20, M10>(three).kernel_count() == 3, "CK01 without combo kernels");

constexpr auto CK02 = si::fuse<combo, M10, M20, M10, si::tensor<float, 30, 8>>([](auto a, auto b, auto c, auto d) {
  return tuple(si::sum(a, si::axis<0>), si::amax(b, si::axis<0>), si::argmax(b, si::axis<0>), si::amin(c, si::axis<0>),
               si::argmin(c, si::axis<0>), si::tanh(d));
});
static_assert(CK02.kernel_count() == 1, "CK02: at most 2");

constexpr auto CK04 =
    si::fuse<combo, si::tensor<float, 30, 20>, si::tensor<float, 30, 20>, si::tensor<float, 40, 30>, si::tensor<float, 30, 40>,
             si::tensor<float, 36, 40>, si::tensor<float, 40, 36>>([](auto a0, auto b0, auto a1, auto b1, auto a2, auto b2) {
      return tuple(a0 + b0, a1 + si::transpose(b1), a2 + si::transpose(b2));
    });
static_assert(CK04.kernel_count() == 2, "CK04: tiles of one and of two dimensions stay apart");
static_assert(CK04.kernel(0).kind == si::kernel_kind::pointwise && CK04.kernel(1).kind == si::kernel_kind::combo);

// A value that repeats along the innermost dimension is not a tile of two dimensions.
static_assert(si::fuse<combo, M10, si::tensor<float, 20, 20>, si::tensor<float, 20, 1>>([](auto a, auto b, auto column) {
                return tuple(si::relu(a), b + column);
              }).kernel_count() == 1);

// Levels: what must run later does not share a launch with what it needs.
constexpr auto levels = si::fuse<combo, M10, M20>([](auto a, auto b) {
  auto s = si::sum(a), t = si::sum(b);
  return tuple(a + s, b + t);
});
constexpr auto apart = si::fuse<M10, M20>([](auto a, auto b) {
  auto s = si::sum(a), t = si::sum(b);
  return tuple(a + s, b + t);
});
static_assert(2 * levels.kernel_count() == apart.kernel_count());

// Chunks of eight.
using V = si::tensor<float, 64>;
template <int... E>
constexpr auto logs(std::integer_sequence<int, E...>) {
  return si::fuse<combo, si::tensor<float, 64 + E>...>([](auto... x) { return tuple(si::log(x)...); });
}
static_assert(logs(std::make_integer_sequence<int, 8>{}).kernel_count() == 1);
static_assert(logs(std::make_integer_sequence<int, 9>{}).kernel_count() == 2);
static_assert(logs(std::make_integer_sequence<int, 9>{}).kernel(1).kind == si::kernel_kind::pointwise, "the ninth is alone");
static_assert(logs(std::make_integer_sequence<int, 20>{}).kernel_count() == 3);

// Arguments.
constexpr si::options few = with<&si::options::max_combo_arguments, 4, combo>;
static_assert(si::fuse<few, M10, M20, M10>(three).kernel_count() == 2, "two buffers each");

// A matmul takes no part; intermediate buffers keep their lives.
constexpr auto product = si::fuse<combo, M10, M20>([](auto a, auto b) {
  return tuple(si::matmul(si::relu(a), a), si::matmul(si::relu(b), b));
});
static_assert(product.kernel_count() == 3, "both relu in one, two products");
static_assert(product.kernel(0).name == "com_fused_relu_0");
static_assert(product.workspace_bytes() == 512 + 1792, "both results of the first kernel are alive at once");

// A kernel of its own shares long rows between blocks that wait for each other; a part of a combo does not.
using Long = si::tensor<float, si::dyn, 100000>;
constexpr auto one_softmax = [](auto a) { return si::softmax(a); };
constexpr auto two_softmaxes = [](auto a, auto b) { return tuple(si::softmax(a), si::softmax(b)); };
constexpr auto joined = si::fuse<combo, Long, si::tensor<float, si::dyn, 90000>>(two_softmaxes);
static_assert(joined.kernel_count() == 1 && joined.kernel(0).kind == si::kernel_kind::combo);
static_assert(si::fuse<Long>(one_softmax).workspace_bytes(2) > 0 && joined.workspace_bytes() == 0);
