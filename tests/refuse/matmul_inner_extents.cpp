// A matrix product whose inner extents differ.
// error: matmul(a, b): inner extents differ; transpose an operand or check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 32, 64>;
using B = si::tensor<float, 128, 32>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::matmul(a, b); });
