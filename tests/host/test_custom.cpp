// The cases of tests/cases/custom.hpp on the host.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include "../cases/custom.hpp"

namespace {

struct only_cuda {
  static constexpr std::string_view name = "only_cuda";
  static void cuda(const si::custom_call&) {}
};

TEST_CASE("custom ops: a function that is not there") {
  constexpr auto f = si::fuse<W>([](auto x) { return si::custom<only_cuda>(x); });
  float x[48] = {}, y[48] = {};
  CHECK_THROWS_WITH_AS(f(si::host, W(x), W(y)), "custom op only_cuda has no function for the host; give it one, or run elsewhere",
                       si::argument_error);
}

}  // namespace
