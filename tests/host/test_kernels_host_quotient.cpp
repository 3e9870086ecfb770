// Division by one float for many: what a division gives, bit by bit, but next to the subnormals.
// SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/host/quotient.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

using sinter::cpu::detail::corrected_quotient;

TEST_CASE("quotients are those of a division") {
  std::mt19937 engine(7);
  std::uniform_int_distribution<std::uint32_t> bits;
  int compared = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const float a = std::bit_cast<float>(bits(engine)), d = std::bit_cast<float>(bits(engine)), exact = a / d;
    if (!(std::abs(a) > 0x1p-90f && std::abs(a) < 0x1p90f && std::abs(d) < 0x1p90f)) continue;
    if (!(std::abs(exact) > 0x1p-90f && std::abs(exact) < 0x1p120f)) continue;
    ++compared;
    if (corrected_quotient(a, d) != exact) FAIL_CHECK(a << " / " << d << " is " << corrected_quotient(a, d));
  }
  CHECK(compared > 500'000);
}

TEST_CASE("special quotients") {
  constexpr float infinity = std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::denorm_min();
  for (const float d : {1.0f, -3.0f, 0x1p127f, 0x1p-126f, least, 0.0f, infinity, -infinity})
    for (const float a : {0.0f, 2.0f, -5.0f, infinity, -infinity}) {
      const float exact = a / d, quotient = corrected_quotient(a, d);
      CAPTURE(a);
      CAPTURE(d);
      if (std::isnan(exact)) CHECK(std::isnan(quotient));
      else CHECK(quotient == exact);
    }
  CHECK(std::isnan(corrected_quotient(std::nanf(""), 2.0f)));
  CHECK(std::isnan(corrected_quotient(2.0f, std::nanf(""))));
  CHECK(corrected_quotient(0x1p-130f, 3.0f) == doctest::Approx(0x1p-130f / 3.0f).epsilon(1e-4));
}
