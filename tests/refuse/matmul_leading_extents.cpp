// A batch of three matrices times a batch of five.
// error: matmul(a, b): the leading dimensions do not broadcast
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 3, 4, 64>;
using B = si::tensor<float, 5, 64, 4>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::matmul(a, b); });
