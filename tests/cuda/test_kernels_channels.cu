// Reductions of rows in pieces, as of the channels of a batch of images, over bodies written by hand, against plain
// loops in double. SPDX-License-Identifier: BSL-1.0
#include "sinter/kernels/cuda/reduction/launch.cuh"
#include "test_kernels_support.cuh"

#include <algorithm>

using namespace kernel_tests;

namespace {

/// [images, channels, pixels]; elements between images that are none; of the first one.
struct extents {
  std::int64_t images, channels, pixels;
  std::int64_t beside = 0;
  std::size_t shift = 0;
  std::int64_t pitch() const { return channels * pixels + beside; }
  std::size_t in_memory() const { return static_cast<std::size_t>(images * pitch() - beside); }
  std::size_t at(std::int64_t channel, std::int64_t image, std::int64_t pixel) const {
    return static_cast<std::size_t>(image * pitch() + channel * pixels + pixel);
  }
};

template <long Pixels, long Pitch>
using at_image = at<0, x_term<Pixels>, r_term<Pitch, Pixels>, r_term<1, 1, Pixels>>;
/// Sums of x times a number of its channel, plus one of its pixel and one of its image; variances; the greatest.
template <class T, long Pixels, long Pitch, class A = compute_t<T>>
using statistics =
    body<load<0, T, at_image<Pixels, Pitch>>, load<1, A, at_x>, load<2, A, at<0, r_term<1, 1, Pixels>>>,
         load<3, A, at<0, r_term<1, Pixels>>>, compute<ops::mul, A, A, 0, 1>, compute<ops::add, A, A, 4, 2>,
         compute<ops::add, A, A, 5, 3>, reduce<ops::sum, A, A, 6>, store<4, A, 7, at_x>, reduce<ops::m2, T, A, 0>,
         row_length<A>, compute<ops::div, A, A, 9, 10>, store<5, A, 11, at_x>, reduce<ops::amax, T, A, 0>,
         store<6, A, 13, at_x>>;
/// Sums of x, and of x y.
template <class T, long Pixels, long Pitch, class A = compute_t<T>>
using products = body<load<0, T, at_image<Pixels, Pitch>>, load<1, T, at_image<Pixels, Pitch>>,
                      reduce<ops::sum, T, A, 0>, compute<ops::mul, A, A, 0, 1>, reduce<ops::sum, A, A, 3>,
                      store<2, A, 2, at_x>, store<3, A, 4, at_x>>;

/// Images less their channel's mean, by its deviation, times a number of its channel, plus one of its pixel; the mean.
template <class T, long Pixels, long Pitch, class A = compute_t<T>>
using batch_norm =
    body<load<0, T, at_image<Pixels, Pitch>>, reduce<ops::sum, T, A, 0>, reduce<ops::m2, T, A, 0>, row_length<A>,
         compute<ops::div, A, A, 1, 3>, compute<ops::div, A, A, 2, 3>, load<1, A, at_x>,
         load<2, A, at<0, r_term<1, 1, Pixels>>>, compute<ops::sub, A, A, 0, 4>, scalar<0, A>,
         compute<ops::add, A, A, 5, 9>, compute<ops::rsqrt, A, A, 10>, compute<ops::mul, A, A, 8, 11>,
         compute<ops::mul, A, A, 12, 6>, compute<ops::add, A, A, 13, 7>, store<3, T, 14, at_image<Pixels, Pitch>>,
         store<4, A, 4, at_x>>;
/// Over images and pixels.
template <class T, long Pixels, long Pitch, class A = compute_t<T>>
using softmax = body<load<0, T, at_image<Pixels, Pitch>>, reduce<ops::amax, T, A, 0>, reduce<ops::sumexp, T, A, 0>,
                     compute<ops::sub, T, A, 0, 1>, compute<ops::exp, T, A, 3>, compute<ops::div, T, A, 4, 2>,
                     store<3, T, 5, at_image<Pixels, Pitch>>>;

/// Of several phases: images wait in shared memory, or all are walked twice, or the blocks of a cluster share a channel.
enum class way { slabs, twice, clusters };
template <class Body, class Args>
void launch(const std::string& what, const Args& args, [[maybe_unused]] way by = way::slabs) {
  run_with_memory(what, reduction_workspace<Body, orientation::row>(args.numel, args.rnumel), [&](auto& memory) {
    bool launched;
    if constexpr (body_facts<Body>::num_phases == 1)
      launched = cuda::detail::launch_channels<Body>(args, memory, nullptr, "red_test");
    else if (by == way::twice) launched = cuda::detail::launch_channels_twice(Body{}, args, memory, nullptr, "per_test");
    else if (by == way::slabs) launched = cuda::detail::launch_channel_slabs<Body, -1>(args, 64, nullptr, "per_test");
    else {
      constexpr int width = cuda::detail::access_facts<Body>::vector_width(loop_var::r, -1);
      launched = cuda::detail::access_facts<Body>::template fits<width, loop_var::r>(args) &&
                 cuda::detail::launch_looped_clusters<width, 2, 1024, int>(Body{}, args, nullptr, "per_test");
    }
    CHECK_MESSAGE(launched, what, ": not launched");
  });
}

std::string label_of(const char* name, const extents& e) {
  return label(name, e.images, e.channels * e.pixels, e.beside > 0 ? "apart" : "") + " of " + std::to_string(e.pixels) +
         (e.shift > 0 ? ", misaligned" : "");
}

template <class T, long Pixels = d0, long Pitch = d1>
void test_channels(const char* name, const extents& e) {
  if (!is_sampled()) return;
  const std::string what = label_of(name, e);
  const auto a = numbers<T>(e.in_memory(), 1), b = numbers<T>(e.in_memory(), 2);
  using A = compute_t<T>;
  const auto of_channel = numbers<A>(e.channels, 3), of_pixel = numbers<A>(e.pixels, 4),
             of_image = numbers<A>(e.images, 5);
  const device_array<T> da(a, e.shift), db(b, e.shift);
  const device_array<A> dc(of_channel), dp(of_pixel), di(of_image), sums(e.channels), squares(e.channels),
      most(e.channels), plain(e.channels), mixed(e.channels);
  auto args = make_args<7, 0, 2>(e.channels, e.images * e.pixels);
  args.sizes[0] = e.pixels, args.sizes[1] = e.pitch();
  args.pointers[0] = da.data(), args.pointers[1] = dc.data(), args.pointers[2] = dp.data();
  args.pointers[3] = di.data(), args.pointers[4] = sums.data(), args.pointers[5] = squares.data();
  args.pointers[6] = most.data();
  launch<statistics<T, Pixels, Pitch>>(what, args);
  args.pointers[1] = db.data(), args.pointers[2] = plain.data(), args.pointers[3] = mixed.data();
  launch<products<T, Pixels, Pitch>>(what + ", products", args);

  const double all = static_cast<double>(e.images * e.pixels), near = 1e-6 * (1 + std::sqrt(all));
  std::vector<double> sum(e.channels), variance(e.channels), greatest(e.channels), total(e.channels), both(e.channels);
  for (std::int64_t c = 0; c < e.channels; ++c) {
    const auto at = static_cast<std::size_t>(c);
    double squared = 0;
    greatest[at] = -1e300;
    for (std::int64_t i = 0; i < e.images; ++i)
      for (std::int64_t p = 0; p < e.pixels; ++p) {
        const double x = number(a[e.at(c, i, p)]);
        sum[at] += x * of_channel[at] + of_pixel[static_cast<std::size_t>(p)] + of_image[static_cast<std::size_t>(i)];
        total[at] += x, squared += x * x, both[at] += x * number(b[e.at(c, i, p)]);
        greatest[at] = std::max(greatest[at], x);
      }
    variance[at] = squared / all - total[at] / all * (total[at] / all);
  }
  const auto check = [&](const device_array<A>& got, const std::vector<double>& want, double relative,
                         double absolute, const char* of) {
    check_close(
        what + of, got.host(), [&](std::size_t k) { return want[k]; }, relative, absolute);
    got.check_guards(what + of);
  };
  check(sums, sum, 1e-5, 10 * near, " sums"), check(squares, variance, 1e-4, 1e-6, " variances");
  check(most, greatest, 0, 0, " greatest"), check(plain, total, 1e-5, 10 * near, " plain sums");
  check(mixed, both, 1e-5, 10 * near, " products");
}

struct phases_of {
  bool in_place = false;
  way by = way::slabs;
};
template <class T, long Pixels = d0, long Pitch = d1>
void test_phases(const char* name, const extents& e, const phases_of& how = {}) {
  const auto [in_place, by] = how;
  // Without a copy engine there are no slabs, and no clusters.
  if (!is_sampled() || (by != way::twice && !cuda::detail::kernels_overlap)) return;
  const std::string what = label_of(name, e) + (in_place ? ", in place" : "");
  using A = compute_t<T>;
  const auto a = numbers<T>(e.in_memory(), 1);
  const auto of_channel = numbers<A>(e.channels, 3), of_pixel = numbers<A>(e.pixels, 4);
  const device_array<T> da(a, e.shift), db(a, e.shift), norm(a, e.shift), power(a, e.shift);
  const device_array<A> dc(of_channel), dp(of_pixel), means(e.channels);
  auto args = make_args<5, 1, 2>(e.channels, e.images * e.pixels);
  args.sizes[0] = e.pixels, args.sizes[1] = e.pitch(), args.scalars[0].d = 1e-5;
  args.pointers[0] = da.data(), args.pointers[1] = dc.data(), args.pointers[2] = dp.data();
  args.pointers[3] = in_place ? da.data() : norm.data(), args.pointers[4] = means.data();
  launch<batch_norm<T, Pixels, Pitch>>(what, args, by);
  args.pointers[0] = db.data(), args.pointers[3] = in_place ? db.data() : power.data();
  launch<softmax<T, Pixels, Pitch>>(what + ", softmax", args, by);

  std::vector<double> mean(e.channels), wanted(a.size()), powers(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) wanted[k] = powers[k] = number(a[k]);
  const double all = static_cast<double>(e.images * e.pixels);
  for (std::int64_t c = 0; c < e.channels; ++c) {
    const auto each = [&](const auto& visit) {
      for (std::int64_t i = 0; i < e.images; ++i)
        for (std::int64_t p = 0; p < e.pixels; ++p) visit(e.at(c, i, p), static_cast<std::size_t>(p));
    };
    const auto at = static_cast<std::size_t>(c);
    double squares = 0, most = -1e300, sum = 0;
    each([&](std::size_t k, std::size_t) { mean[at] += number(a[k]) / all, most = std::max(most, number(a[k])); });
    each([&](std::size_t k, std::size_t) {
      squares += (number(a[k]) - mean[at]) * (number(a[k]) - mean[at]), sum += std::exp(number(a[k]) - most);
    });
    each([&](std::size_t k, std::size_t p) {
      wanted[k] = (number(a[k]) - mean[at]) / std::sqrt(squares / all + 1e-5) * number(of_channel[at]) +
                  number(of_pixel[p]);
      powers[k] = std::exp(number(a[k]) - most) / sum;
    });
  }
  const auto &out = in_place ? da : norm, &soft = in_place ? db : power;
  check_close(
      what, out.host(), [&](std::size_t k) { return wanted[k]; }, 4 * step_of<T>(), 1e-4);
  check_close(
      what + ", softmax", soft.host(), [&](std::size_t k) { return powers[k]; }, 4 * step_of<T>() + 1e-5,
      std::is_same_v<T, f16> ? 0x1p-24 : 1e-30);
  check_close(
      what + " means", means.host(), [&](std::size_t k) { return mean[k]; }, 1e-5, 1e-6);
  out.check_guards(what), soft.check_guards(what), means.check_guards(what);
}

/// Of 16-bit values, in images that begin so many elements further on in their vectors than those in front of them.
constexpr cuda::detail::channel_shape shape_of(std::int64_t channels, int pixels, int images, int step = 0) {
  return cuda::detail::choose_channels(channels, pixels, images, 8, {0, step}, 128, {3 * 132, 0.5, 4});
}

}  // namespace

// A block has whole channels while its threads' vectors hold one.
static_assert(shape_of(1001, 49, 1000).share.channels == 5);
static_assert(shape_of(1001, 49, 1000).share.span == 5 * 49);
static_assert(shape_of(64, 2041, 1000).share.channels == 1);
// Of more pixels it has a piece.
static_assert(shape_of(64, 2042, 1000).share.pieces > 1);
static_assert(shape_of(64, 2042, 1000).splits % shape_of(64, 2042, 1000).share.pieces == 0);
// Of images that begin anywhere it has those that begin alike, unless its threads have.
static_assert(shape_of(64, 441, 1000, 1).share.apart == 8);
static_assert(shape_of(64, 441, 1000, 4).share.apart <= 2);
// Images are split where channels leave many blocks idle, if they are enough; not for those of half of all.
static_assert(shape_of(1001, 49, 1000).splits == 1);
static_assert(shape_of(64, 49, 4096).splits > 16);
static_assert(shape_of(64, 49, 3).splits <= 3);

// The workspace has room for all pieces of large images, and of odd ones for those that begin differently.
template <long Pixels>
constexpr std::int64_t splits_of(std::int64_t channels, std::int64_t images) {
  return sinter::detail::channel_splits<statistics<bf16, Pixels, 0>>(channels, images * Pixels);
}
static_assert(splits_of<50176>(3, 212) >= 50176 / 2041 + 1);
static_assert(splits_of<89401>(3, 2) >= 8 * (89401 / 2041 + 1));
static_assert(splits_of<49>(1001, 1000) <= 26 && splits_of<49>(64, 3) == 1);

TEST_CASE("channels: of images whose rows begin where vectors do, or anywhere") {
  for (const std::size_t shift : {0, 1, 5}) {
    test_channels<float>("channels f32", {40, 64, 49, 0, shift});
    test_channels<float>("channels f32", {33, 65, 9, 0, shift});
    test_channels<float>("channels f32", {7, 3, 225, 0, shift});
    test_channels<bf16>("channels bf16", {40, 64, 49, 0, shift});
    test_channels<bf16>("channels bf16", {33, 65, 9, 0, shift});
    test_channels<bf16>("channels bf16", {9, 5, 784, 0, shift});
    test_channels<f16>("channels f16", {21, 130, 25, 0, shift});
  }
  test_channels<double>("channels f64", {30, 17, 49});
  test_channels<bf16>("channels bf16", {100, 300, 4});
  test_channels<bf16>("channels bf16", {64, 32, 2000});
  // Pieces of channels, images that begin differently.
  for (const std::size_t shift : {0, 1, 5}) {
    test_channels<float>("channels f32", {20, 3, 1225, 0, shift});
    test_channels<bf16>("channels bf16", {130, 3, 441, 0, shift});
    test_channels<bf16>("channels bf16", {40, 3, 2601, 0, shift});
    test_channels<bf16>("channels bf16", {9, 2, 10000, 0, shift});
  }
}

TEST_CASE("channels: of static extents") {
  test_channels<float, 49, 49 * 64>("channels f32, static", {40, 64, 49});
  test_channels<bf16, 49, 49 * 65>("channels bf16, static", {40, 65, 49, 0, 3});
  test_channels<bf16, 196, 196 * 10>("channels bf16, static", {50, 10, 196});
  // Larger than a block's columns: in pieces, however few images there are.
  test_channels<float, 5001, 5001 * 3>("channels f32, static", {20, 3, 5001});
  test_channels<bf16, 89401, 89401 * 3>("channels bf16, static", {2, 3, 89401});
  test_channels<float, 2500, 2500 * 64>("channels f32, static", {1, 64, 2500});
}

TEST_CASE("channels: of images with others between them") {
  test_channels<float>("channels f32", {40, 64, 49, 13});
  test_channels<bf16>("channels bf16", {40, 64, 49, 16, 2});
}

TEST_CASE("channels: many images of few channels, one, and none") {
  test_channels<float>("channels f32, split", {3001, 3, 49});
  test_channels<bf16>("channels bf16, split", {5003, 7, 16, 0, 1});
  test_channels<bf16>("channels bf16, split", {2000, 64, 49});
  test_channels<float>("channels f32", {1, 100, 49});
  test_channels<float>("channels f32", {1, 1, 2});
}

TEST_CASE("channels: in several phases") {
  for (const std::size_t shift : {0, 1, 5}) {
    test_phases<float>("channels f32", {40, 64, 49, 0, shift});
    test_phases<float>("channels f32", {300, 9, 121, 0, shift});
    test_phases<bf16>("channels bf16", {40, 64, 49, 0, shift});
    test_phases<bf16>("channels bf16", {700, 5, 225, 0, shift});
    test_phases<bf16>("channels bf16", {33, 65, 196, 0, shift});
    test_phases<f16>("channels f16", {21, 130, 36, 0, shift});
  }
  test_phases<float>("channels f32", {40, 64, 49, 13});
  test_phases<bf16>("channels bf16", {400, 64, 49, 0, 1}, {.in_place = true});
  test_phases<float>("channels f32", {100, 33, 49}, {.in_place = true});
  test_phases<bf16, 49, 49 * 64>("channels bf16, static", {512, 64, 49});
  test_phases<float>("channels f32", {1, 100, 450});
  test_phases<bf16>("channels bf16", {5, 3, 3000});
}

TEST_CASE("channels: few of many pixels, each shared by the blocks of a cluster") {
  for (const std::int64_t channels : {1, 7, 16, 20, 33, 50}) {
    test_phases<float>("channels in clusters f32", {15, channels, 4096}, {.by = way::clusters});
    test_phases<bf16>("channels in clusters bf16", {7, channels, 16384}, {.by = way::clusters});
  }
  test_phases<float>("channels in clusters f32", {9, 40, 4100, 12}, {.by = way::clusters});
  test_phases<bf16>("channels in clusters bf16", {3, 12, 40008}, {.in_place = true, .by = way::clusters});
  test_phases<f16>("channels in clusters f16", {5, 3, 8192}, {.by = way::clusters});
  test_phases<float, 2500, 2500 * 48>("channels in clusters f32, static", {8, 48, 2500}, {.by = way::clusters});
}

TEST_CASE("channels: in several phases, walked twice") {
  for (const std::size_t shift : {0, 1, 5}) {
    test_phases<float>("channels twice f32", {700, 64, 49, 0, shift}, {.by = way::twice});
    test_phases<float>("channels twice f32", {300, 9, 121, 0, shift}, {.by = way::twice});
    test_phases<bf16>("channels twice bf16", {2001, 5, 25, 0, shift}, {.by = way::twice});
    test_phases<bf16>("channels twice bf16", {130, 3, 441, 0, shift}, {.by = way::twice});
    test_phases<f16>("channels twice f16", {16, 30, 1024, 0, shift}, {.by = way::twice});
  }
  test_phases<float>("channels twice f32", {600, 64, 49, 13}, {.by = way::twice});
  test_phases<bf16>("channels twice bf16", {400, 64, 49, 0, 1}, {.in_place = true, .by = way::twice});
  test_phases<bf16>("channels twice bf16", {12, 3, 3000}, {.by = way::twice});
  test_phases<bf16>("channels twice bf16", {9000, 1000, 2}, {.by = way::twice});
  test_phases<bf16>("channels twice bf16", {5, 300, 5001}, {.by = way::twice});
  test_phases<float, 5001, 5001 * 3>("channels twice f32, static", {17, 3, 5001}, {.by = way::twice});
}
