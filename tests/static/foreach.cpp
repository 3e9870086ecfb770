// foreach: lists become one kernel, and what may join it. Oracle rows (section 13) by name.
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/oracle.hpp"
#include "../support/with.hpp"

namespace si = sinter;
using std::tuple;

using M = si::tensor<float, 10, 10>;
using N = si::tensor<float, 20, 20>;

constexpr auto add = [](auto a, auto b) { return a + b; };
constexpr auto twice = [](auto a) { return a * 2.f; };

constexpr auto add_lists = [](auto a0, auto a1, auto b0, auto b1) {
  return si::foreach(tuple(a0, a1), tuple(b0, b1), add);
};
SINTER_KERNELS(FE01, 1, si::fuse<M, N, M, N>(add_lists));
static_assert(FE01.kernel(0).kind == si::kernel_kind::combo && FE01.kernel(0).name == "com_fused_foreach_0");
static_assert(FE01.numel_accessed() == 3 * (100 + 400) && FE01.workspace_bytes() == 0);
static_assert(FE01.plan().kernels[0].num_parts == 2);
// Inductor's processor has no lists: two kernels. A plan is one for host and CUDA, whatever the target's rules are.
constexpr si::options for_processors = with<&si::options::target, si::target::cpu>;
SINTER_KERNELS(FE11, 1, si::fuse<for_processors, M, N, M, N>(add_lists));
static_assert(si::fuse<si::eager, M, N, M, N>(add_lists).kernel_count() == 1, "one call of the user's");

SINTER_KERNELS(FE02, 1, si::fuse<M, N>([](auto a0, auto a1) { return si::foreach(tuple(a0, a1), 3.f, add); }));
SINTER_KERNELS(FE02_value, 1, si::fuse<M, N, si::value<float>>([](auto a0, auto a1, auto s) {
                 return si::foreach(tuple(a0, a1), s, add);
               }));
SINTER_KERNELS(FE02_each, 1, si::fuse<M, N>([](auto a0, auto a1) {
                 return si::foreach(tuple(a0, a1), tuple(2.f, si::c<3>), add);
               }));
SINTER_KERNELS(FE04, 1,
               si::fuse<si::tensor<float, 10, 1>, N, si::tensor<float, 1, 10>, N>(add_lists));
SINTER_KERNELS(FE05, 1, si::fuse<M, M>([](auto a, auto b) { return si::foreach(tuple(a), tuple(b), add); }));
static_assert(FE05.kernel(0).kind == si::kernel_kind::pointwise, "a list of one is no list");
SINTER_KERNELS(FE07, 1, si::fuse<M, N, M, N>([](auto a0, auto a1, auto b0, auto b1) {
                 auto [c0, c1] = si::foreach(tuple(a0, a1), tuple(b0, b1), add);
                 return si::foreach(tuple(a0, b0), tuple(c0, c0), add);
               }));
static_assert(FE07.numel_accessed() == 4 * 100, "the other members are dead");
SINTER_KERNELS(FE08, 1, si::fuse<M, N, M, N>([](auto a0, auto a1, auto b0, auto b1) {
                 auto [c0, c1] = si::foreach(tuple(a0, a1), tuple(b0, b1), add);
                 return c0 * a0;
               }));
SINTER_KERNELS(FE10_consumers, 1, si::fuse<M, N, M, N>([](auto a0, auto a1, auto b0, auto b1) {
                 auto [c0, c1] = si::foreach(tuple(a0, a1), tuple(b0, b1), add);
                 return tuple(c0, si::exp(c0), c1 * a1);
               }));
static_assert(FE10_consumers.numel_accessed() == 4 * 100 + 3 * 400);
// Producers that are stored: another reads them, or they are results.
SINTER_KERNELS(FE10_producers, 1, si::fuse<M, N, M, N>([](auto a0, auto a1, auto b0, auto b1) {
                 auto p0 = si::sin(a0);
                 auto p1 = si::cos(a1);
                 return tuple(p0, p1, si::foreach(tuple(p0, p1), tuple(b0, b1), add));
               }));
SINTER_KERNELS(FE10, 1, si::fuse<M, N, M, N>([](auto a0, auto a1, auto b0, auto b1) {
                 auto c0 = a0 + b0;
                 auto c1 = a1 + b1;
                 auto [d0, d1] = si::foreach(tuple(a0, a1), tuple(b0, b1), [](auto a, auto b) { return a * b; });
                 auto [e0, e1] = si::foreach(tuple(d0, d1), tuple(c0, c1), add);
                 return tuple(e0 * c0, e1 * c1, d0);
               }));

// Transposed members keep no others apart.
using C4 = si::tensor<float, 2, 3, 3, 2>;
using D4 = si::tensor<float, 20, 2, 2, 20>;
constexpr auto channels_last = [](auto x) { return si::permute<0, 3, 1, 2>(x); };
SINTER_KERNELS(FE13, 1, si::fuse<C4, C4, D4, D4>([](auto a0, auto a1, auto b0, auto b1) {
                 return si::foreach(tuple(si::concat<1>(channels_last(a0), channels_last(a1)),
                                          si::concat<1>(channels_last(b0), channels_last(b1))), 1.f, add);
               }));
SINTER_KERNELS(FE14, 1, si::fuse<C4, C4, N>([](auto a0, auto a1, auto b) {
                 return si::foreach(tuple(si::concat<1>(channels_last(a0), channels_last(a1)), b), 1.f, add);
               }));

// Lists of lists' results.
SINTER_KERNELS(chain, 1, si::fuse<M, N, M, N>([](auto a0, auto a1, auto b0, auto b1) {
                 auto c = si::foreach(tuple(a0, a1), tuple(b0, b1), add);
                 return tuple(c, si::foreach(c, twice));
               }));
static_assert(chain.numel_accessed() == 4 * 500);
// Sharing inputs is enough for two lists.
SINTER_KERNELS(siblings, 1, si::fuse<M, N, M, N>([](auto a0, auto a1, auto b0, auto b1) {
                 return tuple(si::foreach(tuple(a0, a1), tuple(b0, b1), add), si::foreach(tuple(a0, a1), twice));
               }));

// ---- refusals
SINTER_KERNELS(longer, 2, si::fuse<M, N, N>([](auto a, auto b, auto c) {
                 auto [x, y] = si::foreach(tuple(a, b), twice);
                 return tuple(x, y, si::foreach(tuple(y, a, c), [](auto v) { return si::exp(v); }));
               }));
static_assert(longer.why_not_fused("foreach_0", "foreach_2") == si::refusal::lists_differ);
SINTER_KERNELS(reduced, 2, si::fuse<M, N>([](auto a, auto b) {
                 auto [x, y] = si::foreach(tuple(a, b), twice);
                 return tuple(x, y, si::sum(x, si::axis<1>));
               }));
static_assert(reduced.why_not_fused("foreach_0", "sum_0") == si::refusal::list_takes_pointwise);
SINTER_KERNELS(both, 2, si::fuse<M, M>([](auto a, auto b) {
                 auto [x, y] = si::foreach(tuple(a, b), twice);
                 return tuple(x, y, si::maximum(x, y));
               }));
static_assert(both.why_not_fused("foreach_0", "maximum_0") == si::refusal::list_member_not_one);
SINTER_KERNELS(crossed, 2, si::fuse<M, M>([](auto a, auto b) {
                 auto [x, y] = si::foreach(tuple(a, b), twice);
                 return tuple(x, y, si::foreach(tuple(y, x), [](auto v) { return si::exp(v); }));
               }));
static_assert(crossed.why_not_fused("foreach_0", "foreach_2") == si::refusal::list_members_cross);

// ---- what a member may be
// Reductions and several results: still one launch.
SINTER_KERNELS(norms, 1, si::fuse<M, N>([](auto a, auto b) {
                 return si::foreach(tuple(a, b), [](auto x) { return tuple(si::softmax(x), si::sum(x * x, si::axis<1>)); });
               }));
// Rows and columns of one member are not walked together: a list's parts have one loop each.
using Big = si::tensor<float, 8192, 1024>;
SINTER_KERNELS(rows_and_columns, 2, si::fuse<Big, Big>([](auto a, auto b) {
                 return si::foreach(tuple(a, b), [](auto x) {
                   return tuple(si::sum(x, si::axis<1>), si::sum(x, si::axis<0>));
                 });
               }));
// Equal members are one; the second result is a copy.
SINTER_KERNELS(equal, 1, si::fuse<M>([](auto a) { return si::foreach(tuple(a, a), twice); }));
// A matmul is a kernel of its own.
SINTER_KERNELS(products, 3, si::fuse<M, N>([](auto a, auto b) {
                 return si::foreach(tuple(a, b), [](auto x) { return si::relu(si::matmul(x, x)); });
               }));
// A list in a list belongs to the outer one.
SINTER_KERNELS(nested, 1, si::fuse<M, N>([](auto a, auto b) {
                 return si::foreach(tuple(a, b), [](auto x) { return si::foreach(tuple(x, si::relu(x)), twice); });
               }));

// ---- in place: an optimiser's step over all parameters
constexpr auto sgd = [](auto p0, auto p1, auto p2, auto g0, auto g1, auto g2, auto rate) {
  return si::foreach(tuple(p0, p1, p2), tuple(g0, g1, g2), rate, [](auto p, auto g, auto lr) {
    si::assign(p, p - lr * g);
  });
};
using P = si::tensor<float, 7>;
SINTER_KERNELS(sgd_step, 1, si::fuse<M, N, P, M, N, P, si::value<float>>(sgd));
static_assert(sgd_step.numel_accessed() == 3 * 507);
constexpr auto adam = [](auto p0, auto p1, auto g0, auto g1, auto m0, auto m1, auto v0, auto v1, auto rate) {
  return si::foreach(tuple(p0, p1), tuple(g0, g1), tuple(m0, m1), tuple(v0, v1), [rate](auto p, auto g, auto m, auto v) {
    si::assign(m, 0.9f * m + 0.1f * g);
    si::assign(v, 0.99f * v + 0.01f * g * g);
    return si::assign(p, p - rate * m / (si::sqrt(v) + 1e-8f));
  });
};
SINTER_KERNELS(adam_step, 1, si::fuse<M, N, M, N, M, N, M, N, si::value<float>>(adam));
static_assert(adam_step.numel_accessed() == 7 * 500, "four reads, three writes");
// Members that assign to one input follow each other.
SINTER_KERNELS(twice_one, 1, si::fuse<M, M, M>([](auto p, auto g, auto h) {
                 si::foreach(tuple(p, p), tuple(g, h), [](auto x, auto y) { si::assign(x, x - y); });
                 return p * 2.f;
               }));
static_assert(twice_one.kernel(0).kind == si::kernel_kind::pointwise);
