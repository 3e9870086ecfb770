// How wide the vectors of pointwise bodies are, and which values an index takes where a mask lets it.
#include <sinter/kernels/cuda/access.hpp>
#include <sinter/kernels/cuda/loose_terms.hpp>

using namespace sinter;
using namespace sinter::cuda::detail;

namespace {

template <long Coef = 1, long Div = 1, long Mod = 0>
using x_term = term<loop_var::x, Div, Mod, Coef>;
using at_x = at<0, x_term<>>;

/// Pairs (a, b) turned by (c, s): rotary embeddings of neighbours. Each value serves both elements of a pair.
template <class T>
using rotated_pairs =
    body<inside<at<0, x_term<1, 1, 2>>, 0, 1>, load<0, T, at<0, x_term<2, 2>>>, load<0, T, at<1, x_term<2, 2>>>,
         load<1, T, at<0, x_term<1, 2, 64>>>, load<2, T, at<0, x_term<1, 2, 64>>>, compute<ops::mul, T, T, 1, 3>,
         compute<ops::mul, T, T, 2, 4>, compute<ops::sub, T, T, 5, 6>, compute<ops::mul, T, T, 1, 4>,
         compute<ops::mul, T, T, 2, 3>, compute<ops::add, T, T, 8, 9>, compute<ops::where, T, T, 0, 7, 10>,
         store<3, T, 11, at_x>>;
static_assert(access_facts<rotated_pairs<bf16>>::vector_width(loop_var::x, -1) == 8);
static_assert(access_facts<rotated_pairs<bf16>>::pointwise_width(-1) == 2);
static_assert(access_facts<rotated_pairs<float>>::pointwise_width(-1) == 2);

/// Rows of six with one value for each column, and rows backwards: what is read one by one costs less than short
/// stores.
using add_row = body<load<0, bf16, at_x>, load<1, bf16, at<0, x_term<1, 1, 6>>>, compute<ops::add, bf16, bf16, 0, 1>,
                     store<2, bf16, 2, at_x>>;
using backwards = body<load<0, bf16, at<129, x_term<130, 130>, x_term<-1, 1, 130>>>, store<1, bf16, 0, at_x>>;
static_assert(access_facts<add_row>::pointwise_width(-1) == 8 && access_facts<backwards>::pointwise_width(-1) == 8);

/// Of x in [0, numel): the first and the last of which (x / div) % mod lies in [low, high).
constexpr bool finds(std::int64_t numel, std::int64_t div, std::int64_t mod, interval seen) {
  loose_term x{1, 0, 1, {0, numel}};
  if (!x.learn(div, mod, seen)) return false;
  std::int64_t first = -1, last = -1;
  for (std::int64_t i = 0; i < numel; ++i)
    if (const auto value = i / div % mod; value >= seen.low && value < seen.high)
      first = first < 0 ? i : first, last = i;
  return first < 0 ? x.values.low >= x.values.high : x.values.low == first && x.values.high == last + 1;
}
static_assert(finds(390, 1, 130, {0, 65}) && finds(390, 1, 130, {65, 130}) && finds(391, 1, 130, {65, 130}));
static_assert(finds(460, 1, 130, {65, 130}) && finds(500, 1, 130, {0, 65}) && finds(40, 1, 130, {65, 130}));
static_assert(finds(700, 5, 20, {3, 8}) && finds(713, 5, 20, {3, 8}) && finds(12, 5, 20, {3, 8}));

/// Stores are at most 16 bytes; what is only read may be wider.
template <class From, class To>
using converted = body<load<0, From, at_x>, cast_to<From, To, 0>, store<1, To, 1, at_x>>;
static_assert(access_facts<converted<bf16, float>>::pointwise_width(-1) == 4);
static_assert(access_facts<converted<float, bf16>>::pointwise_width(-1) == 8);
static_assert(access_facts<converted<std::int8_t, bf16>>::pointwise_width(-1) == 8);

/// A column's sum is stored once for all its rows.
using column_sums = body<load<0, bf16, at<0, term<loop_var::r, 1, 0, 64>, x_term<>>>, reduce<ops::sum, float, float, 0>,
                         store<1, float, 1, at_x>>;
static_assert(access_facts<column_sums>::vector_width(loop_var::x, 64) == 8);

}  // namespace
