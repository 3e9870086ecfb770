// A list of many members is one kernel for every compiler: nvcc's front end and the host's must see the same plan.
// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <tuple>
#include <utility>

#include "sinter/sinter.hpp"

namespace {

namespace si = sinter;

template <class Tensor, std::size_t>
struct member_of {
  using type = Tensor;
};

template <class Tensor, std::size_t... I>
constexpr auto fuse_list(std::index_sequence<I...>) {
  constexpr auto scale_add = [](auto... all) {
    const std::array both{all...};
    return si::foreach (std::tuple(both[I]...), std::tuple(both[sizeof...(I) + I]...),
                        [](auto x, auto y) { return x * 2.0f + y; });
  };
  return si::fuse<typename member_of<Tensor, I>::type..., typename member_of<Tensor, I>::type...>(scale_add);
}

template <std::size_t Members>
constexpr int kernels = fuse_list<si::tensor<float, 4096>>(std::make_index_sequence<Members>{}).kernel_count();

static_assert(kernels<8> == 1);
static_assert(kernels<46> == 1);
static_assert(kernels<64> == 1);

}  // namespace
