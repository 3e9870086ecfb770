// Lists of tensors: one function of the members of each, in one launch.
// SPDX-License-Identifier: BSL-1.0
#include "bench.cuh"

#include <array>
#include <tuple>

namespace {

using namespace bench;

/// An alias that ignores a parameter would do, but nvcc's front end expands packs of such aliases wrongly.
template <class Tensor, std::size_t>
struct member_of {
  using type = Tensor;
};
template <class Tensor, std::size_t I>
using member = typename member_of<Tensor, I>::type;

/// 2 x[i] + y[i] for lists of as many tensors as there are numbers.
template <class Tensor, std::size_t... I>
void add_scale_add(const char* name, std::index_sequence<I...>) {
  constexpr auto scale_add = [](auto... all) {
    const std::array both{all...};
    return si::foreach (std::tuple(both[I]...), std::tuple(both[sizeof...(I) + I]...),
                        [](auto x, auto y) { return x * 2.0f + y; });
  };
  add(name, si::fuse<member<Tensor, I>..., member<Tensor, I>...>(scale_add),
      in<member<Tensor, I>..., member<Tensor, I>...>{}, out<member<Tensor, I>...>{}, {});
}

}  // namespace

int main(int argc, char** argv) {
  add_scale_add<si::tensor<float, 1 << 20>>("foreach_scale_add_64x1M_f32", std::make_index_sequence<64>{});
  add_scale_add<si::tensor<si::bf16, 1000003>>("foreach_scale_add_32x1000003_bf16", std::make_index_sequence<32>{});
  return bench::run(argc, argv);
}
