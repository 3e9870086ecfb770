// Gradients of norms by input and parameters, which reduce rows and columns at once, at odd extents.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

constexpr auto mean_of_row = [](auto y) { return si::mean(y, si::axis<-1>, si::keepdim); };
/// Of a norm by its input and its parameters, from what its statistics were.
template <class T>
constexpr auto rms_norm_gradients = [](auto x, auto dy, auto weight, auto rstd) {
  const auto scaled = si::cast<float>(x) * rstd;
  const auto gradient = si::cast<float>(dy);
  const auto by_scaled = gradient * si::cast<float>(weight);
  return std::tuple(si::cast<T>(rstd * (by_scaled - scaled * mean_of_row(by_scaled * scaled))),
                    si::cast<T>(si::sum(gradient * scaled, si::axis<0>)));
};
template <class T>
constexpr auto layer_norm_gradients = [](auto x, auto dy, auto weight, auto mean, auto rstd) {
  const auto scaled = (si::cast<float>(x) - mean) * rstd;
  const auto gradient = si::cast<float>(dy);
  const auto by_scaled = gradient * si::cast<float>(weight);
  return std::tuple(
      si::cast<T>((by_scaled - (scaled * mean_of_row(by_scaled * scaled) + mean_of_row(by_scaled))) * rstd),
      si::cast<T>(si::sum(gradient * scaled, si::axis<0>)), si::cast<T>(si::sum(gradient, si::axis<0>)));
};

template <class T, auto Width>
void add_norm_gradients(std::int64_t columns, const std::string& suffix) {
  static constexpr auto many = si::dim<"rows", 65536>;
  using X = si::tensor<T, many, Width>;
  using W = si::tensor<T, Width>;
  using Each = si::tensor<float, many, 1>;
  const std::int64_t rows = rows_of<T>(columns);
  const settings s{.rows = rows, .check_rows = whole, .width = columns};
  add(named<T>("rmsnorm_gradients", rows, columns) + suffix, si::fuse<X, X, W, Each>(rms_norm_gradients<T>),
      in<X, X, W, Each>{}, out<X, W>{}, s);
  add(named<T>("layernorm_gradients", rows, columns) + suffix,
      si::fuse<X, X, W, Each, Each>(layer_norm_gradients<T>), in<X, X, W, Each, Each>{}, out<X, W, W>{}, s);
}

template <class T>
void add_all() {
  for (const long columns : {768, 1000, 1001, 4096, 5000}) add_norm_gradients<T, width>(columns, "");
  add_norm_gradients<T, 768>(768, "_static"), add_norm_gradients<T, 8192>(8192, "_static");
}

}  // namespace

int main(int argc, char** argv) {
  add_all<float>();
  add_all<si::bf16>();
  return run(argc, argv);
}
