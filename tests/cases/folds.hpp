// Every reduction, over the axes given.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>

#include <sinter/sinter.hpp>

namespace {

namespace si = sinter;

template <long... Axes>
constexpr auto folds = [](auto x) {
  constexpr auto a = si::axis<Axes...>;
  return std::tuple(si::sum(x, a), si::prod(x, a), si::amax(x, a), si::amin(x, a), si::mean(x, a), si::sum(x, a, si::keepdim));
};
template <long... Axes>
constexpr auto logical_folds = [](auto x) {
  constexpr auto a = si::axis<Axes...>;
  return std::tuple(si::any(x > 1, a), si::all(x > -1, a), si::any(x, a), si::all(x, a, si::keepdim), si::argmax(x, a), si::argmin(x, a, si::keepdim));
};
template <long... Axes>
constexpr auto derived_folds = [](auto x) {
  constexpr auto a = si::axis<Axes...>;
  return std::tuple(si::var(x, a), si::var<0>(x, a, si::keepdim), si::std_dev(x, a), si::norm(x, a), si::logsumexp(x, a), si::logsumexp(x, a, si::keepdim));
};

}  // namespace
