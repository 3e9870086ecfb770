// Every element type through one function, and its sum: walked as a list of types.
// SPDX-License-Identifier: BSL-1.0
#include "on_host.hpp"

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

#include "check.hpp"

namespace {

namespace si = sinter;
namespace hana = boost::hana;

constexpr auto elements =
    hana::tuple_t<float, double, si::f16, si::bf16, std::int8_t, std::int32_t, std::int64_t, std::uint8_t>;

TEST_CASE("every element type: arithmetic, a sum, a comparison") {
  hana::for_each(elements, [](auto element) {
    using T = typename decltype(element)::type;
    using matrix = si::tensor<T, 3, 17>;
    checks::check<matrix, matrix>([](auto a, auto b) { return std::tuple(si::maximum(a, b) * 2, si::sum(a, si::axis<-1>), a < b); });
  });
}

}  // namespace
