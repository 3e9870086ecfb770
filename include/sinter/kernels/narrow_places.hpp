// Where a row's extreme is, in 32 bits: for kernels whose rows have fewer than 2^31 values.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "sinter/base/op.hpp"
#include "sinter/kernels/statements.hpp"

namespace sinter::detail {

template <class S>
struct narrow_place {
  using type = S;
};
template <class T, class Result, int A>
struct narrow_place<reduce<ops::argmax, T, Result, A>> {
  using type = reduce<folds::arg_extreme<true, std::int32_t>, T, Result, A>;
};
template <class T, class Result, int A>
struct narrow_place<reduce<ops::argmin, T, Result, A>> {
  using type = reduce<folds::arg_extreme<false, std::int32_t>, T, Result, A>;
};

template <class Body>
struct narrow_places;
template <class... S>
struct narrow_places<body<S...>> {
  using type = body<typename narrow_place<S>::type...>;
};

}  // namespace sinter::detail
