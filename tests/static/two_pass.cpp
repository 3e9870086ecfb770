// Which statements a body has that holds its rows: a sum or a greatest value that a second pass needs is there once,
// whether the body asks for it before or after.
#include <sinter/kernels/two_pass.hpp>

#include <type_traits>

using namespace sinter;

namespace {

using along_row = at<0, term<loop_var::x, 1, 0, 64>, term<loop_var::r, 1, 0, 1>>;
using along_x = at<0, term<loop_var::x, 1, 0, 1>>;
using element = load<0, bf16, along_row>;
template <int A, int Slot>
using result = store<Slot, bf16, A, along_x>;
template <class Op, class Result = bf16>
using fold = reduce<Op, bf16, Result, 0>;

template <class... S>
using held = typename sinter::detail::held_body<body<S...>, -1>::type;

using variance_then_sum = held<element, fold<ops::m2>, result<1, 1>, fold<ops::sum>, result<3, 2>>;
using sum_then_variance = held<element, fold<ops::sum>, result<1, 2>, fold<ops::m2>, result<3, 1>>;

}  // namespace

static_assert(
    std::is_same_v<variance_then_sum, body<element, reduce<ops::sum, float, float, 0>, row_length<float>,
                                           compute<ops::div, float, float, 1, 2>, compute<ops::sub, float, float, 0, 3>,
                                           compute<ops::mul, float, float, 4, 4>, reduce<ops::sum, float, bf16, 5>,
                                           result<6, 1>, result<1, 2>>>);
static_assert(variance_then_sum::size == sum_then_variance::size);
static_assert(held<element, fold<ops::logsumexp>, result<1, 1>, fold<ops::amax>, result<3, 2>>::size ==
              held<element, fold<ops::logsumexp>, result<1, 1>>::size + 1);
// A sum of another type is another sum.
static_assert(held<element, fold<ops::m2>, result<1, 1>, fold<ops::sum, double>, store<2, double, 3, along_x>>::size ==
              variance_then_sum::size + 1);
