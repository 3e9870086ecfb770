// The oracle, sections 6 and 7 and row TT07: what changes nothing goes, and what is written where. Named by row; where
// sinter differs on purpose docs/oracle.md says why.
#include <cstdint>
#include <string_view>
#include <tuple>

#include <sinter/sinter.hpp>

#include "../support/oracle.hpp"

namespace si = sinter;
using std::tuple;

using V = si::tensor<float, 10>;
using M = si::tensor<float, 10, 10>;
using I2 = si::tensor<std::int32_t, 2>;

// ---- 7: writes at computed places
SINTER_ROW(IN01, 2, 26, si::fuse<V, I2>([](auto a, auto b) { return si::index_put(si::cos(a), b, 1.f); }));
static_assert(IN01.workspace_bytes() == 0, "IN01: the cosine lies where the result is wanted");
SINTER_ROW(IN02, 1, 6, si::fuse<V, I2>([](auto a, auto b) { return si::assign(a, si::index_put(a, b, 1.f)); }));
SINTER_ROW(IN04, 1, 42, si::fuse<M, I2>([](auto a, auto b) { return si::assign(a, si::index_put<1>(a, b, 1.f)); }));

SINTER_ROW(IN04_places, 1, 2 + 2 + 2 + 2, si::fuse<M, I2, I2>([](auto a, auto b, auto c) {
             return si::assign(a, si::index_put(a, b, c, 1.f));
           }));

// ---- 15: a target that is read later is copied
SINTER_ROW(TT07, 2, 3 * 1024 + 2 * 10, si::fuse<si::tensor<float, 1024>>([](auto x) {
             auto index = si::iota<0>(si::slice<0, 0, 10>(x));
             return tuple(x, si::index_put(x, index, 1.f));
           }));

// Of several writes to one value only the last may write over it; a value that is read in between is kept.
SINTER_ROW(twice, 3, 20 + 2 * 6, si::fuse<V, I2>([](auto a, auto b) {
             return si::index_put(si::index_put(si::cos(a), b, 1.f), b + 3, 2.f);
           }));
SINTER_ROW(kept, 3, 30 + 2 * 6, si::fuse<V, I2>([](auto a, auto b) {
             auto t = si::cos(a);
             return tuple(si::index_put(t, b, 1.f), si::index_put(t, b, 2.f));
           }));

// ---- 6: what changes nothing goes. U is opaque: a kernel of the user's, which reads all of x and writes all of its
// result.
struct opaque {
  static constexpr std::string_view name = "opaque";
  static void host(const si::custom_call&);
};
constexpr auto U = [](auto x) { return si::custom<opaque>(x); };
SINTER_ROW(NO01, 1, 20, si::fuse<V>([](auto a) { return U(si::clone(a)); }));
SINTER_ROW(NO02, 2, 40, si::fuse<V>([](auto a) {
             auto b = si::clone(a);
             return tuple(b, U(b));
           }));
SINTER_ROW(NO04, 1, 20, si::fuse<V>([](auto a) { return U(si::cast<float>(a)); }));
SINTER_ROW(NO05, 1, 20, si::fuse<V>([](auto a) { return U(si::realize(a)); }));  // there is one device
SINTER_ROW(NO07, 1, 20, si::fuse<V>([](auto a) { return U(si::concat<0>(a)); }));
static_assert(NO01.kernel(0).kind == si::kernel_kind::foreign && NO01.kernel(0).name == "for_fused_opaque_0");
constexpr auto around = si::fuse<si::max_fusion, V>([](auto a) { return si::exp(U(si::sin(a))); });
static_assert(around.kernel_count() == 3 && around.why_not_fused("sin_0", "opaque_0") == si::refusal::custom_op &&
              around.why_not_fused("opaque_0", "exp_0") == si::refusal::custom_op);

// ---- 7: a kernel of the user's adds x and y. Inductor zeroes its result first and counts that as read, too.
struct addition {
  static constexpr std::string_view name = "addition";
  static void host(const si::custom_call&);
};
constexpr auto z = [](auto x, auto y) { return si::custom<addition>(x, y); };
SINTER_ROW(IN10, 1, 30, si::fuse<V, V>([](auto x, auto y) { return z(x, y); }));
SINTER_ROW(IN11, 2, 50, si::fuse<V, V>([](auto x, auto y) { return tuple(z(x, y), x + 1.f); }));
SINTER_ROW(IN13, 2, 50, si::fuse<V, V>([](auto x, auto y) { return tuple(z(x, y), si::reshape<2, 5>(x) * 2.f); }));
SINTER_ROW(IN14, 2, 50, si::fuse<V, V>([](auto x, auto y) {
             auto view = si::reshape<2, 5>(x);
             return tuple(z(x, y), si::assign(view, view * 2.f));
           }));
