// Casts that stores make anyway: a kernel's list of instructions has none of them, unless something else reads one.
#include <tuple>

#include <sinter/sinter.hpp>

namespace si = sinter;

namespace {

template <class F>
constexpr int casts(F) {
  int n = 0;
  for (const auto& i : si::detail::lower_group(F::program::plan, 0).code) n += i.code == si::detail::opcode::cast;
  return n;
}

using F32 = si::tensor<float, 8, 64>;
using F64 = si::tensor<double, 8, 64>;
using BF16 = si::tensor<si::bf16, 8, 64>;

constexpr si::options as_eager{.precise_casts = true};

}  // namespace

static_assert(casts(si::fuse<F32>([](auto x) { return si::cast<si::bf16>(x * 2); })) == 0);
static_assert(casts(si::fuse<F32>([](auto x) { return si::cast<si::f16>(si::softmax(x)); })) == 0);
static_assert(casts(si::fuse<BF16, F32>([](auto y, auto x) { return si::assign(y, si::cast<si::bf16>(x * 2)); })) == 0);
// Each op rounds then; the last one's result is stored.
static_assert(casts(si::fuse<as_eager, BF16>([](auto x) { return x * x; })) == 0);
static_assert(casts(si::fuse<as_eager, BF16>([](auto x) { return x * x + x; })) == 1);
// What is rounded is read once more; of both, each is.
static_assert(casts(si::fuse<F32>([](auto x) {
                auto y = si::cast<si::bf16>(x * 2);
                return std::tuple(y, si::cast<float>(y) + 1);
              })) == 2);
// Of wider ones a store would round twice; bytes are not rounded at all.
static_assert(casts(si::fuse<F64>([](auto x) { return si::cast<si::bf16>(x * 2); })) == 1);
static_assert(casts(si::fuse<F32>([](auto x) { return si::cast<std::int8_t>(x * 2); })) == 1);
static_assert(casts(si::fuse<F32>([](auto x) { return si::cast<si::f16>(si::cast<si::bf16>(x * 2)); })) == 1);
