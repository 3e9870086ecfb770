// How many threads hold a row in registers, and how many groups of neighbours each of them has.
#include <sinter/kernels/cuda/choose.hpp>

using namespace sinter;
using namespace sinter::cuda::detail;

namespace {

using along_row = at<0, term<loop_var::x, 1, 0, 65536>, term<loop_var::r, 1, 0, 1>>;
/// x - max(x)
template <class T>
using shifted =
    body<load<0, T, along_row>, reduce<ops::amax, T, T, 0>, compute<ops::sub, T, T, 0, 1>, store<1, T, 2, along_row>>;
/// The same of a sum that waits as it was computed.
template <class T>
using sum_shifted = body<load<0, T, along_row>, load<1, T, along_row>, compute<ops::add, T, T, 0, 1>,
                         reduce<ops::amax, T, T, 2>, compute<ops::sub, T, T, 2, 3>, store<2, T, 4, along_row>>;

/// Of one phase.
template <class T>
using summed =
    body<load<0, T, along_row>, reduce<ops::sum, T, T, 0>, store<1, T, 1, at<0, term<loop_var::x, 1, 0, 1>>>>;

template <class T>
using multiplied =
    body<load<0, T, along_row>, load<1, T, along_row>, compute<ops::mul, T, std::int64_t, 0, 1>,
         reduce<ops::sum, std::int64_t, std::int64_t, 2>, store<2, std::int64_t, 3, at<0, term<loop_var::x, 1, 0, 1>>>>;

/// Softmax of what is positive, and how many are.
template <class T>
using positive_softmax =
    body<load<0, T, along_row>, constant<T, 0>, compute<ops::gt, T, bool, 0, 1>, compute<ops::where, T, T, 2, 0, 1>,
         reduce<ops::amax, T, float, 3>, compute<ops::sub, float, float, 3, 4>, compute<ops::exp, float, float, 5>,
         reduce<ops::sum, float, float, 6>, compute<ops::div, float, float, 6, 7>,
         store<1, T, 8, at<0, term<loop_var::x, 1, 0, dynamic_number(0)>, term<loop_var::r, 1, 0, 1>>>>;
template <class T>
using positive_count =
    body<load<0, T, along_row>, constant<T, 0>, compute<ops::gt, T, bool, 0, 1>,
         reduce<ops::sum, bool, std::int64_t, 2>, store<1, std::int64_t, 3, at<0, term<loop_var::x, 1, 0, 1>>>>;

/// Softmax and the sum of what it is times its exponents: a value and its exponential wait, or the value alone.
template <class T, class... Stores>
using weighted_exponents =
    body<load<0, T, along_row>, reduce<ops::amax, T, float, 0>, compute<ops::sub, float, float, 0, 1>,
         compute<ops::exp, float, float, 2>, reduce<ops::sum, float, float, 3>, compute<ops::div, float, float, 3, 4>,
         compute<ops::mul, float, float, 5, 2>, reduce<ops::sum, float, float, 6>,
         store<1, float, 7, at<0, term<loop_var::x, 1, 0, 1>>>, Stores...>;
template <class T>
using softmax_and_exponents = weighted_exponents<T, store<2, T, 5, along_row>>;

/// Does every row have as many groups as its kernel takes for granted, and as few as its threads hold?
template <class Body, int Width>
constexpr bool rows_suit() {
  using rows = dynamic_rows<Body, Width>;
  for (int groups = rows::once ? 4 * rows::few + 1 : 1; groups <= rows::threads * rows::few; ++groups) {
    const bool is_short = !rows::once && groups <= rows::short_groups;
    const int items = is_short ? rows::short_items : rows::takes_few(groups) ? rows::few : rows::many;
    const int full = is_short ? 1 : rows::full_of(items);
    const row_shape shape = row_of(groups, items, rows::once);
    if (groups < shape.threads * full || groups > shape.threads * items) return false;
    if (shape.block() > (is_short ? 256 : rows::threads)) return false;
  }
  return true;
}

}  // namespace

static_assert(dynamic_rows<shifted<bf16>, 8>::many == 8 && rows_suit<shifted<bf16>, 8>());
static_assert(dynamic_rows<sum_shifted<bf16>, 8>::few == 2 && rows_suit<sum_shifted<bf16>, 8>());
static_assert(dynamic_rows<sum_shifted<bf16>, 8>::takes_few(125) && !dynamic_rows<sum_shifted<bf16>, 8>::takes_few(96));
static_assert(dynamic_rows<shifted<float>, 4>::takes_few(8192) && rows_suit<shifted<float>, 4>() &&
              rows_suit<sum_shifted<float>, 4>());
static_assert(rows_suit<summed<bf16>, 8>() && rows_suit<summed<float>, 4>() && rows_suit<summed<double>, 2>());
static_assert(dynamic_rows<summed<bf16>, 8>::takes_few(125) && !dynamic_rows<summed<bf16>, 8>::takes_few(129) &&
              !dynamic_rows<summed<bf16>, 8>::takes_few(25));
static_assert(rows_suit<summed<std::int8_t>, 16>() && rows_suit<multiplied<std::int8_t>, 16>());
static_assert(rows_suit<shifted<double>, 2>() && rows_suit<shifted<bf16>, 4>() && rows_suit<shifted<bf16>, 2>());

// Comparisons and choices are light; but not beside a row of 64 values that waits.
static_assert(phase_facts<positive_count<bf16>>::is_light && holds_many<positive_count<bf16>>);
static_assert(phase_facts<positive_softmax<bf16>>::is_light && !holds_many<positive_softmax<bf16>>);

// More than a row waits where it is only read; where elements are stored there is time to compute it again.
static_assert(!computes_anew<weighted_exponents<float>>(32) && phase_facts<weighted_exponents<float>>::kept_bytes == 8);
static_assert(computes_anew<softmax_and_exponents<float>>(4) &&
              phase_facts<softmax_and_exponents<float>>::kept_bytes == 4);
static_assert(!computes_anew<shifted<float>>(32) && phase_facts<shifted<float>>::kept_bytes == 4);
static_assert(computes_anew<shifted<bf16>>(32) && !computes_anew<shifted<bf16>>(16));
static_assert(phase_facts<shifted<bf16>>::kept_bytes == 2 &&
              phase_facts<softmax_and_exponents<std::int8_t>>::kept_bytes == 4);

namespace {

/// Of rows of bf16 values, which wait as they lie in memory.
constexpr bool is(std::int64_t length, int threads, int items) {
  const row_shape shape = choose_row(length, 8, lanes_of_row(2, 0, 0, false), false);
  return shape.persistent && shape.threads == threads && shape.items == items;
}

}  // namespace

static_assert(is(512, 32, 2) && is(1024, 32, 4) && is(5000, 160, 4), "all threads have as much");
static_assert(is(264, 8, 5) && is(520, 16, 5) && is(1032, 32, 5), "two or three groups would leave half of them empty");
static_assert(is(200, 16, 2), "four threads would ask for each line again");
static_assert(row_of(65, 1, true).rows == 2 && row_of(65, 1).rows == 1, "96 threads read two rows in one phase");
static_assert(row_of(48, 2, true).rows == 8 && row_of(128, 4, true).rows == 4, "blocks of six kilobytes");
static_assert(row_of(128, 1, true).rows == 1 && row_of(64, 1, true).rows == 2 && row_of(1000, 1, true).rows == 1);
