// Reductions of columns, of everything, of rows and columns at once, as gradients of norms are, of an axis in the
// middle, of images' channels, and of rows in two ways, at odd extents.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

constexpr auto var_mean = [](auto x) { return std::tuple(si::var(x, si::axis<-1>), si::mean(x, si::axis<-1>)); };
constexpr auto argmax = [](auto x) { return si::argmax(x, si::axis<-1>); };

template <class T>
void add_column_sum(std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  add(named<T>("colsum", rows, columns), si::fuse<X>(column_sum), in<X>{}, out<si::tensor<T, width>>{},
      {.rows = rows, .check_rows = whole, .width = columns, .low = 0});
}

template <class T>
void add_column_folds(std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  using W = si::tensor<T, width>;
  const auto name = [&](const char* family) { return named<T>(family, rows, columns); };
  const settings s{.rows = rows, .check_rows = whole, .width = columns};
  add(name("colvar"), si::fuse<X>([](auto x) { return si::var(x, si::axis<0>); }), in<X>{}, out<W>{}, s);
  add(name("collse"), si::fuse<X>([](auto x) { return si::logsumexp(x, si::axis<0>); }), in<X>{}, out<W>{}, s);
  add(name("colargmax"), si::fuse<X>([](auto x) { return si::argmax(x, si::axis<0>); }), in<X>{},
      out<si::tensor<std::int64_t, width>>{}, s);
  add(name("coldot"), si::fuse<X, X>([](auto x, auto y) { return si::sum(x * y, si::axis<0>); }), in<X, X>{}, out<W>{},
      {.rows = rows, .check_rows = whole, .width = columns, .low = 0});
}

/// [batch, 512, 768]: the mean over what a mask leaves of a sequence.
template <class T>
void add_masked_mean() {
  using X = si::tensor<T, si::dyn, 512, 768>;
  using Mask = si::tensor<T, si::dyn, 512, 1>;
  const std::int64_t batch = rows_of<T>(512 * 768);
  add(named<T>("masked_mean", batch, 512) + "x768",
      si::fuse<X, Mask>([](auto x, auto mask) { return si::sum(x * mask, si::axis<1>) / si::sum(mask, si::axis<1>); }),
      in<X, Mask>{}, out<si::tensor<T, si::dyn, 768>>{}, {.rows = batch, .check_rows = 8, .low = 0.5f});
}

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
void add_row_folds(std::int64_t rows, std::int64_t columns) {
  using X = si::tensor<T, si::dyn, width>;
  using V = si::tensor<T, si::dyn>;
  add(named<T>("var_mean", rows, columns), si::fuse<X>(var_mean), in<X>{}, out<V, V>{},
      {.rows = rows, .width = columns, .low = 0});
  add(named<T>("argmax", rows, columns), si::fuse<X>(argmax), in<X>{}, out<si::tensor<std::int64_t, si::dyn>>{},
      {.rows = rows, .width = columns});
}

template <class T>
void add_all() {
  using X = si::tensor<T, si::dyn, width>;
  using V = si::tensor<T, si::dyn>;
  using W = si::tensor<T, width>;
  for (const long columns : odd_widths) add_column_sum<T>(rows_of<T>(columns), columns);
  for (const auto& [rows, columns] :
       {std::pair{1, 16777216}, {16, 1000000}, {1000000, 64}, {1000000, 7}, {16777259, 1}})
    add_column_sum<T>(rows, columns);
  for (const std::int64_t size : {std::int64_t(1000003), std::int64_t(33554431), rows_of<T>(1)})
    add(std::string("fullsum_sq_") + name_of<T> + "_" + std::to_string(size), si::fuse<V>(sum_of_squares), in<V>{},
        out<si::tensor<T>>{}, {.rows = size, .check_rows = whole});
  for (const long columns : {1001, 5000, 12289, 65537}) {
    const std::int64_t rows = rows_of<T>(columns);
    const double one_pass = sizeof(T) * (static_cast<double>(rows) * columns + rows + columns);
    add(named<T>("rowcol_sum", rows, columns), si::fuse<X>(row_and_column_sums), in<X>{}, out<V, W>{},
        {.rows = rows, .check_rows = whole, .bytes = one_pass, .width = columns, .low = 0});
  }
  for (const long columns : {264, 1001, 1032, 5000, 12289, 65537}) add_row_folds<T>(rows_of<T>(columns), columns);
  for (const long columns : {1001, 5000}) add_column_folds<T>(rows_of<T>(columns), columns);
  for (const long columns : {768, 1000, 1001, 4096, 5000}) add_norm_gradients<T, width>(columns, "");
  add_norm_gradients<T, 768>(768, "_static"), add_norm_gradients<T, 8192>(8192, "_static");
  add_masked_mean<T>();
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
