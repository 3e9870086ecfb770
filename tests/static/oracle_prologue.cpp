// The oracle, section 11: work on a matmul template's loads and before its store. Named by row; where sinter differs on
// purpose docs/oracle.md says why.
#include <sinter/sinter.hpp>

namespace si = sinter;
using si::max_autotune;

template <class T, auto Rows, auto Columns>
using X = si::tensor<T, Rows, Columns>;

#define SINTER_ROW(ID, KERNELS, ...) static_assert(si::fuse<__VA_ARGS__>(ID).kernel_count() == KERNELS, #ID)

constexpr auto PR01 = [](auto x, auto y) { return si::matmul(si::cast<float>(x), y); };
SINTER_ROW(PR01, 1, max_autotune, X<si::f16, 64, 128>, X<float, 128, 256>);
SINTER_ROW(PR01, 1, max_autotune, X<si::f16, 128, 128>, X<float, 128, 128>);
SINTER_ROW(PR01, 1, max_autotune, X<si::f16, 63, 120>, X<float, 120, 250>);

constexpr auto PR04 = [](auto x, auto y) { return si::matmul(si::cast<si::f16>(x), y); };
SINTER_ROW(PR04, 2, max_autotune, X<float, 64, 128>, X<si::f16, 128, 256>);
static_assert(si::fuse<max_autotune, X<float, 64, 128>, X<si::f16, 128, 256>>(PR04).why_not_fused("cast_0", "mm_0") ==
                  si::refusal::prologue_reads_more,
              "PR04: the reason");

constexpr auto PR05 = [](auto x, auto y) { return si::matmul(x - 1.1f, y + 1.1f) * 1.1f; };
SINTER_ROW(PR05, 1, max_autotune, X<float, 64, 128>, X<float, 128, 256>);
SINTER_ROW(PR05, 1, max_autotune, X<float, 64, 64>, X<float, 64, 64>);
SINTER_ROW(PR05, 1, max_autotune, X<float, 64, 120>, X<float, 120, 64>);

constexpr auto PR07 = [](auto x) { return si::relu(si::matmul(x, x)); };
SINTER_ROW(PR07, 1, max_autotune, X<float, 128, 128>);
constexpr auto PR08 = [](auto x) { return PR07(si::cast<float>(x)); };
SINTER_ROW(PR08, 1, max_autotune, X<si::f16, 128, 128>);

constexpr auto PR10 = [](auto a) { return si::matmul(si::slice<0, 0, 64>(a) + 2.f, si::slice<0, 64>(a) - 2.f); };
SINTER_ROW(PR10, 1, max_autotune, X<float, 128, 64>);

constexpr si::options stored = [] {
  si::options o = max_autotune;
  o.realize_ops_threshold = o.realize_reads_threshold = o.realize_accumulated_reads_threshold = 1;
  return o;
}();
constexpr auto PR11 = [](auto x, auto y) { return si::matmul((x * 2.f - 1.f) / 2.f, y * 4.f) * 3.f; };
SINTER_ROW(PR11, 1, stored, X<float, 64, 128>, X<float, 128, 256>);
SINTER_ROW(PR11, 1, stored, X<float, 128, 128>, X<float, 128, 128>);
SINTER_ROW(PR11, 1, stored, X<float, 63, 120>, X<float, 120, 250>);

constexpr auto PR13 = [](auto x, auto y) { return si::matmul(x, y); };
SINTER_ROW(PR13, 1, max_autotune, X<float, 20, 1>, X<float, 1, 1>);

constexpr auto PR14_relu = [](auto x, auto y) { return si::matmul(si::relu(x), y); };
constexpr auto PR14_add = [](auto x, auto y) { return si::matmul(x + 1.f, y); };
constexpr auto PR14_hypot = [](auto x, auto y) { return si::matmul(si::hypot(x, x), y); };
SINTER_ROW(PR14_relu, 1, max_autotune, X<float, 64, 127>, X<float, 127, 64>);
SINTER_ROW(PR14_add, 1, max_autotune, X<float, 64, 127>, X<float, 127, 64>);
SINTER_ROW(PR14_hypot, 1, max_autotune, X<float, 64, 127>, X<float, 127, 64>);

// Inductor: two kernels; here the row that is repeated is computed on the template's loads as well.
constexpr auto PR16 = [](auto x, auto y, auto z) { return si::matmul((x + 2.f) * 2.f * y, z); };
SINTER_ROW(PR16, 1, stored, X<float, 1, 256>, X<float, 256, 256>, X<float, 256, 128>);

constexpr auto PR17 = [](auto x, auto y) { return si::matmul(si::pad<1, 0, 3>(x), si::pad<0, 0, 3>(y)); };
SINTER_ROW(PR17, 3, max_autotune, X<float, 250, 245>, X<float, 245, 128>);
