// Reductions of an axis in the middle, and of images' channels, at odd extents.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

constexpr auto center_and_scale = [](auto x) {
  constexpr auto middle = si::axis<1>;
  return (x - si::mean(x, middle, si::keepdim)) * si::rsqrt(si::var(x, middle, si::keepdim) + 1e-5f);
};

/// [batch, Length, Inner]: channels, or what attention is over.
template <class T, long Length, long Inner>
void add_middle() {
  using X = si::tensor<T, si::dyn, Length, Inner>;
  const std::int64_t batch = rows_of<T>(Length * Inner);
  const auto name = [&](const char* family) { return named<T>(family, batch, Length) + "x" + std::to_string(Inner); };
  const settings s{.rows = batch, .check_rows = 8};
  add(name("norm_middle"), si::fuse<X>(center_and_scale), in<X>{}, out<X>{}, s);
  add(name("softmax_middle"), si::fuse<X>([](auto x) { return si::softmax(x, si::axis<1>); }), in<X>{}, out<X>{}, s);
}

/// [batch, Channels, Pixels]: what a batch norm needs of images, forwards and backwards, and all of it.
template <class T, long Channels, long Pixels>
void add_channels() {
  using X = si::tensor<T, si::dyn, Channels, Pixels>;
  using C = si::tensor<T, Channels>;
  using Each = si::tensor<T, Channels, 1>;
  const std::int64_t batch = rows_of<T>(Channels * Pixels);
  const auto name = [&](const char* family) {
    return named<T>(family, batch, Channels) + "x" + std::to_string(Pixels);
  };
  const settings s{.rows = batch, .check_rows = whole, .low = 0};
  add(name("channel_statistics"),
      si::fuse<X>([](auto x) { return std::tuple(si::var(x, si::axis<0, 2>), si::mean(x, si::axis<0, 2>)); }), in<X>{},
      out<C, C>{}, s);
  add(name("channel_sums"),
      si::fuse<X, X, Each>([](auto x, auto grad, auto mean) {
        return std::tuple(si::sum(grad, si::axis<0, 2>), si::sum(grad * (x - mean), si::axis<0, 2>));
      }),
      in<X, X, Each>{}, out<C, C>{}, s);
  add(name("batch_norm"), si::fuse<X>([](auto x) {
        const auto mean = si::mean(x, si::axis<0, 2>, si::keepdim), var = si::var(x, si::axis<0, 2>, si::keepdim);
        return (x - mean) * si::rsqrt(var + 1e-5f);
      }),
      in<X>{}, out<X>{}, s);
}

template <class T>
void add_all() {
  add_middle<T, 1000, 64>(), add_middle<T, 110, 200>(), add_middle<T, 128, 1001>();
  add_middle<T, 3, 50176>(), add_middle<T, 16, 4096>(), add_middle<T, 64, 3136>(), add_middle<T, 128, 768>();
  add_channels<T, 2048, 49>(), add_channels<T, 1024, 196>(), add_channels<T, 65, 441>(), add_channels<T, 64, 12544>();
}

}  // namespace

int main(int argc, char** argv) {
  add_all<float>();
  add_all<si::bf16>();
  return run(argc, argv);
}
