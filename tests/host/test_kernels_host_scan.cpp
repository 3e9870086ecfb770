// The host kernel over bodies with scans, against plain loops in double: along memory and across it, of lengths around
// those of lanes, runs and chunks, and with the same bits on any number of threads.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "sinter/kernels/host/reduction.hpp"

namespace {

using namespace sinter;

using along_r = at<0, term<loop_var::x, 1, 0, dynamic_number(0)>, term<loop_var::r, 1, 0, 1>>;
using across_r = at<0, term<loop_var::x, 1, 0, 1>, term<loop_var::r, 1, 0, dynamic_number(0)>>;
using at_row = at<0, term<loop_var::x, 1, 0, 1>>;

template <class At>
inline constexpr orientation walk = std::is_same_v<At, along_r> ? orientation::row : orientation::column;

/// c = cumsum(x) and its greatest value, in one walk; d = cummax(c - greatest), in another.
template <class At>
using chain = body<load<0, float, At>, scan<ops::cumsum, float, float, 0>, store<1, float, 1, At>,
                   reduce<ops::amax, float, float, 1>, compute<ops::sub, float, float, 1, 3>,
                   scan<ops::cummax, float, float, 4>, store<2, float, 5, At>, store<3, float, 3, at_row>>;
/// cumsum(cumsum(x)): chunks cannot be folded ahead.
template <class At>
using nested = body<load<0, float, At>, scan<ops::cumsum, float, float, 0>, scan<ops::cumsum, float, float, 1>,
                    store<1, float, 2, At>, store<2, float, 1, At>>;

struct case_data {
  std::int64_t rows, length;
  std::vector<float> in, first, second, row;

  template <class At>
  std::size_t at(std::int64_t x, std::int64_t r) const {
    return static_cast<std::size_t>(walk<At> == orientation::row ? x * length + r : r * rows + x);
  }
  case_data(std::int64_t n, std::int64_t m) : rows(n), length(m) {
    std::uint32_t s = 7;
    for (std::int64_t i = 0; i < n * m; ++i) in.push_back(static_cast<float>((s = s * 1664525u + 1013904223u) >> 8) * 0x1p-23f - 1);
    first.resize(in.size()), second.resize(in.size()), row.resize(static_cast<std::size_t>(n));
  }
  template <template <class> class Body, class At>
  void run(int threads) {
    const arguments<4, 0, 1> args{{in.data(), first.data(), second.data(), row.data()}, {}, {walk<At> == orientation::row ? length : rows}, rows, length};
    cpu::reduction<Body<At>, walk<At>>(args, threads);
  }
};

void check_near(double found, double expected, double scale) {  // a CHECK for each costs too much
  if (!(std::fabs(found - expected) <= 2e-6 * scale)) CHECK(found == doctest::Approx(expected));
}

}  // namespace

TEST_CASE_TEMPLATE("scans of rows and columns", At, along_r, across_r) {
  for (const std::int64_t rows : {1, 3, 40, 300})
    for (const std::int64_t length : {0, 1, 5, 31, 32, 33, 255, 256, 257, 1000, 5000}) {
      INFO(rows << " rows of " << length);
      case_data c(rows, length);
      const double scale = 1 + std::sqrt(static_cast<double>(length)) * 10;
      c.run<chain, At>(2);
      for (std::int64_t x = 0; x < rows; ++x) {
        double sum = 0, greatest = -INFINITY, so_far = -INFINITY;
        for (std::int64_t r = 0; r < length; ++r) {
          check_near(c.first[c.at<At>(x, r)], sum += c.in[c.at<At>(x, r)], scale);
          greatest = std::max(greatest, sum);
        }
        if (length > 0) check_near(c.row[static_cast<std::size_t>(x)], greatest, scale);
        sum = 0;
        for (std::int64_t r = 0; r < length; ++r) {
          sum += c.in[c.at<At>(x, r)];
          check_near(c.second[c.at<At>(x, r)], so_far = std::max(so_far, sum - greatest), scale);
        }
      }
      c.run<nested, At>(2);
      for (std::int64_t x = 0; x < rows; ++x) {
        double sum = 0, total = 0;
        for (std::int64_t r = 0; r < length; ++r) {
          total += sum += c.in[c.at<At>(x, r)];
          check_near(c.first[c.at<At>(x, r)], total, scale * static_cast<double>(length));
          check_near(c.second[c.at<At>(x, r)], sum, scale);
        }
      }
    }
}

TEST_CASE_TEMPLATE("scans: the same bits on any number of threads", At, along_r, across_r) {
  for (const std::int64_t rows : {1, 2, 5, 300})
    for (const std::int64_t length : {100, 20000, 300001}) {
      if (rows * length > 2000000) continue;
      INFO(rows << " rows of " << length);
      case_data one(rows, length), many(rows, length);
      one.run<chain, At>(1);
      for (const int threads : {2, 3, 8}) {
        many.run<chain, At>(threads);
        CHECK(one.first == many.first);
        CHECK(one.second == many.second);
        CHECK(one.row == many.row);
      }
      one.run<nested, At>(1);
      many.run<nested, At>(8);
      CHECK(one.first == many.first);
    }
}
