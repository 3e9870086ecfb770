// The oracle, section 12: how often a kernel walks the rows it reduces. Named by row; where sinter differs on purpose
// docs/oracle.md says why.
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/oracle.hpp"
#include "../support/with.hpp"

namespace si = sinter;
using std::tuple;

template <auto... E>
using B = si::tensor<si::bf16, E...>;

#define SINTER_PASSES(ID, KERNELS, PASSES, ...) \
  SINTER_KERNELS(ID, KERNELS, __VA_ARGS__);     \
  static_assert(ID.passes(0) == PASSES, #ID ": passes")

constexpr auto softmax = [](auto x) { return si::softmax(x); };
constexpr auto log_softmax = [](auto x) { return si::log_softmax(x); };
constexpr si::options two_passes = with<&si::options::online_softmax, false>;
constexpr si::options for_processors = with<&si::options::target, si::target::cpu>;

SINTER_PASSES(OS01, 1, 3, si::fuse<two_passes, B<32768, 50304>>(softmax));
// Rows that stay on chip are read once: one pass where Inductor has two.
SINTER_PASSES(OS02_short, 1, 1, si::fuse<B<32768, 2048>>(softmax));
SINTER_PASSES(OS02_short_log, 1, 1, si::fuse<B<32768, 2048>>(log_softmax));
SINTER_PASSES(OS02_long, 1, 2, si::fuse<B<32768, 50304>>(softmax));
SINTER_PASSES(OS02_long_log, 1, 2, si::fuse<B<32768, 50304>>(log_softmax));
// A processor keeps longer rows, in its caches.
SINTER_PASSES(long_for_processors, 1, 3, si::fuse<for_processors, B<32768, 50304>>(softmax));
SINTER_PASSES(longer_for_processors, 1, 2, si::fuse<for_processors, B<32768, 80000>>(softmax));
// A row's length may be known by its hint only.
SINTER_PASSES(OS02_hint, 1, 2, si::fuse<si::tensor<si::bf16, 32768, si::dim<"vocabulary", 50304>>>(softmax));
// Rows of unknown length that are not read again take one pass, columns whatever follows.
SINTER_PASSES(unknown_length, 1, 1, si::fuse<B<si::dyn, si::dyn>>([](auto x) { return si::logsumexp(x, si::axis<1>); }));
SINTER_PASSES(columns, 1, 2, si::fuse<B<2048, 32768>>([](auto x) { return si::softmax(x, si::axis<0>); }));
SINTER_PASSES(unknown_and_again, 1, 3, si::fuse<B<si::dyn, si::dyn>>(softmax));

template <long Axis>
constexpr auto statistics = [](auto x) {
  auto top = si::amax(x, si::axis<Axis>, si::keepdim);
  return tuple(top, si::sum(si::exp(x - top), si::axis<Axis>));
};
SINTER_PASSES(OS04_few, 1, 1, si::fuse<B<2, 2048>>(statistics<-1>));
SINTER_PASSES(OS04_many, 1, 1, si::fuse<B<2048, 2048>>(statistics<1>));
SINTER_PASSES(OS04_long, 1, 1, si::fuse<B<2048, 50304>>(statistics<-1>));
SINTER_PASSES(OS04_columns, 1, 1, si::fuse<B<50304, 2048>>(statistics<0>));
SINTER_PASSES(OS05, 1, 0, si::fuse<B<2, 2048>>(statistics<0>));
static_assert(OS05.kernel(0).kind == si::kernel_kind::pointwise, "OS05: two rows are folded without a loop");

// One row is reduced by many blocks in one pass, the last of which combines; a second kernel divides.
SINTER_PASSES(OS07, 2, 1, si::fuse<B<1, 1048576>>(softmax));
static_assert(OS07.kernel(1).kind == si::kernel_kind::pointwise && OS07.numel_accessed() == (3 * 1048576 + 4) / 2);
SINTER_PASSES(OS07_many_rows, 1, 2, si::fuse<B<64, 1048576>>(softmax));
constexpr auto scaled = si::fuse<B<1048576>>([](auto x) { return x / si::sum(x); });
static_assert(scaled.kernel_count() == 2 && scaled.why_not_fused("sum_0", "div_0") == si::refusal::split_reduction);

SINTER_PASSES(OS08, 1, 0, si::fuse<B<1>>([](auto x) { return si::softmax(-x, si::axis<0>); }));
static_assert(OS08.kernel(0).kind == si::kernel_kind::pointwise, "OS08: a reduction over one element is none");

// What is not the maximum of the same row stays a sum.
SINTER_PASSES(other_axis, 2, 1, si::fuse<B<50304, 50304>>([](auto x) {
             return si::sum(si::exp(x - si::amax(x, si::axis<0>, si::keepdim)), si::axis<1>);
           }));
SINTER_PASSES(other_values, 1, 2, si::fuse<B<64, 50304>>([](auto x) {
             return si::sum(si::exp(si::sin(x) - si::amax(x, si::axis<1>, si::keepdim)), si::axis<1>);
           }));
