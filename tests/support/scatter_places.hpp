// What the cases of scatter share: their tensors, and places that differ. SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include "check.hpp"

namespace {

namespace si = sinter;
using checks::check;
using W = si::tensor<float, 6, 8>;
using I3 = si::tensor<std::int64_t, 3>;

/// Different places along an axis of `extent`, as many as `like` has.
template <long Extent>
constexpr auto places = [](auto like) { return (si::iota<-1>(like) * 5 + 1) % Extent; };

}  // namespace
