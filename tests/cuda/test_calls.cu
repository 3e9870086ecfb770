// What a call on the device checks of its arguments' memory, before and after it has seen the memory once.
// SPDX-License-Identifier: BSL-1.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "on_cuda.cuh"

namespace si = sinter;

constexpr auto twice = [](auto x) { return x + x; };
using V = si::tensor<float, si::dyn>;
constexpr auto f = si::fuse<V>(twice);
constexpr int size = 1000;

TEST_CASE("host memory is named at every call, also after calls on the device's") {
  const place::memory x(size * 4), out(size * 4);
  std::vector<float> host(size);
  place::check(cudaMemset(x.data(), 0, size * 4));
  for (int i = 0; i < 3; ++i) {
    f(place::executor(), V(static_cast<float*>(x.data()), size), V(static_cast<float*>(out.data()), size));
    CHECK_THROWS_WITH_AS(f(place::executor(), V(host.data(), size), V(static_cast<float*>(out.data()), size)),
                         "input 0 is host memory; copy it to the device, or run on si::host", si::argument_error);
    CHECK_THROWS_WITH_AS(f(place::executor(), V(static_cast<float*>(x.data()), size), V(host.data(), size)),
                         "output 0 is host memory; copy it to the device, or run on si::host", si::argument_error);
  }
  place::finish();
}

TEST_CASE("memory freed and allocated again, of the device or of the host, is good wherever it lies") {
  float* out = nullptr;
  place::check(cudaMallocHost(&out, size * 4));
  for (int i = 0; i < 20; ++i) {
    const place::memory x(static_cast<std::size_t>(size) * 4 << i % 8);
    const std::vector<float> values(size, static_cast<float>(i));
    place::check(cudaMemcpy(x.data(), values.data(), size * 4, cudaMemcpyHostToDevice));
    f(place::executor(), V(static_cast<float*>(x.data()), size), V(out, size));
    place::finish();
    CHECK(out[0] == 2.0f * static_cast<float>(i));
    CHECK(out[size - 1] == 2.0f * static_cast<float>(i));
  }
  place::check(cudaFreeHost(out));
}

TEST_CASE("managed memory, read and written") {
  float* x = nullptr;
  place::check(cudaMallocManaged(&x, 2 * size * 4));
  for (int i = 0; i < size; ++i) x[i] = static_cast<float>(i);
  for (int call = 0; call < 2; ++call) f(place::executor(), V(x, size), V(x + size, size));
  place::finish();
  CHECK(x[size + 1] == 2.0f);
  CHECK(x[2 * size - 1] == 2.0f * (size - 1));
  place::check(cudaFree(x));
}

TEST_CASE("one thread's device memory is known to that thread and on that device only") {
  si::detail::known_pages pages{};
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<const void*>(address); };
  CHECK_FALSE(pages.contains(at(0), 0));
  CHECK_FALSE(pages.contains(at(16), 0));
  pages.insert(at(0x7f0000200000), 1);
  CHECK(pages.contains(at(0x7f0000200000), 1));
  CHECK(pages.contains(at(0x7f00003fffff), 1));
  CHECK_FALSE(pages.contains(at(0x7f0000400000), 1));
  CHECK_FALSE(pages.contains(at(0x7f00001fffff), 1));
  CHECK_FALSE(pages.contains(at(0x7f0000200000), 0));
  pages.insert(at(0x7f0000200000), 0);
  CHECK(pages.contains(at(0x7f0000200000), 0));
}
