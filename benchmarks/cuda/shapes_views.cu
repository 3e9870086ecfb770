// Pointwise kernels through views of their operands, and between types.
// SPDX-License-Identifier: BSL-1.0
#include "shapes.cuh"

namespace {

using namespace bench;

constexpr auto shifted = [](auto x, auto y) { return si::slice<0, 1>(x) + y; };  // one operand off its alignment
constexpr auto every_second = [](auto x) { return si::slice<-1, 0, si::end, 2>(x) * 2.0f; };
constexpr auto flip_rows = [](auto x) { return si::flip<-1>(x) * 2.0f; };
constexpr auto transpose_add = [](auto x, auto y) { return x + si::transpose(y); };
constexpr auto swap_last = [](auto x) { return si::permute<0, 2, 1>(x) * 2.0f; };
constexpr auto stack = [](auto x, auto y) { return si::concat<-1>(x, y * 2.0f); };
constexpr auto to_bf16 = [](auto x) { return si::cast<si::bf16>(si::tanh(x)); };
constexpr auto to_f32 = [](auto x) { return si::cast<float>(x) * 2.0f; };
constexpr auto pixels = [](auto x) { return si::cast<float>(x) * (1.0f / 255) - 0.5f; };

/// x[:, :Width] of rows that lie Stride apart.
template <class T, long Width, long Stride>
void add_strided() {
  using Y = si::tensor<T, si::dyn, Width>;
  using X = si::with_strides<Y, si::strides<Stride, 1>>;
  const std::int64_t rows = rows_of<T>(Width);
  add(named<T>("strided", rows, Width) + "_of_" + std::to_string(Stride), si::fuse<X>(chain), in<X>{}, out<Y>{},
      {.rows = rows});
}

template <class T, long Rows, long Columns>
void add_transposed() {
  using X = si::tensor<T, Rows, Columns>;
  using Y = si::tensor<T, Columns, Rows>;
  add(named<T>("transpose_add", Rows, Columns), si::fuse<X, Y>(transpose_add), in<X, Y>{}, out<X>{}, {});
}

template <class T>
void add_views() {
  constexpr long n = 33'000'001;
  add(std::string("shifted_") + name_of<T> + "_33M", si::fuse<si::tensor<T, n>, si::tensor<T, n - 1>>(shifted),
      in<si::tensor<T, n>, si::tensor<T, n - 1>>{}, out<si::tensor<T, n - 1>>{}, {});
  add_strided<T, 1000, 1024>();
  add_strided<T, 1000, 1001>();
  add_strided<T, 4000, 4096>();
  add_transposed<T, 5000, 7001>();
  add_transposed<T, 1001, 30522>();
  {
    using X = si::tensor<T, si::dyn, 8192>;
    using Y = si::tensor<T, si::dyn, 4096>;
    const std::int64_t rows = rows_of<T>(8192);
    const double whole_sectors = sizeof(T) * 1.5 * static_cast<double>(rows) * 8192;
    add(named<T>("every_second", rows, 8192), si::fuse<X>(every_second), in<X>{}, out<Y>{},
        {.rows = rows, .bytes = whole_sectors});
    add(named<T>("flip", rows, 8192), si::fuse<X>(flip_rows), in<X>{}, out<X>{}, {.rows = rows});
  }
  {
    using X = si::tensor<T, si::dyn, 1000, 1001>;
    const std::int64_t blocks = rows_of<T>(1000 * 1001);
    add(named<T>("swap_last", blocks, 1000) + "x1001", si::fuse<X>(swap_last), in<X>{},
        out<si::tensor<T, si::dyn, 1001, 1000>>{}, {.rows = blocks, .check_rows = 4});
  }
  {
    using X = si::tensor<T, si::dyn, 1001>;
    using Y = si::tensor<T, si::dyn, 999>;
    const std::int64_t rows = rows_of<T>(2000);
    add(named<T>("concat", rows, 2000), si::fuse<X, Y>(stack), in<X, Y>{}, out<si::tensor<T, si::dyn, 2000>>{},
        {.rows = rows});
  }
}

/// Images of interleaved channels, into planes of another type.
template <class T, class U, long Height, long Width, long Channels>
void add_planes(const char* types) {
  using X = si::tensor<T, si::dyn, Height, Width, Channels>;
  using Y = si::tensor<U, si::dyn, Channels, Height, Width>;
  constexpr auto planes = [](auto x) { return si::cast<U>(si::permute<0, 3, 1, 2>(x)) * si::c<2>; };
  const std::int64_t images = rows_of<T>(Height * Width * Channels);
  add(std::string("planes_") + types + "_" + std::to_string(images) + "x" + std::to_string(Height) + "x" +
          std::to_string(Width) + "x" + std::to_string(Channels),
      si::fuse<X>(planes), in<X>{}, out<Y>{}, {.rows = images, .check_rows = 4, .limit = 100});
}

template <class T, class U, class Function>
void add_cast(const char* name, Function function) {
  using X = si::tensor<T, si::dyn>;
  add(name, si::fuse<X>(function), in<X>{}, out<si::tensor<U, si::dyn>>{}, {.rows = 40'000'003, .limit = 256});
}

}  // namespace

int main(int argc, char** argv) {
  add_views<float>();
  add_views<si::bf16>();
  add_cast<float, si::bf16>("cast_f32_bf16_40M", to_bf16);
  add_cast<si::bf16, float>("cast_bf16_f32_40M", to_f32);
  add_cast<std::uint8_t, float>("pixels_u8_f32_40M", pixels);
  add_planes<float, float, 224, 224, 3>("f32"), add_planes<si::bf16, si::bf16, 224, 224, 3>("bf16");
  add_planes<std::uint8_t, std::uint8_t, 1080, 1920, 3>("u8"), add_planes<std::uint8_t, si::f16, 225, 225, 3>("u8_f16");
  return run(argc, argv);
}
