// A bias with one element per input instead of one per output.
// error: linear(x, weight, bias): the bias does not fit; it must have one element per row of the weight
#include <sinter/sinter.hpp>

namespace si = sinter;

using X = si::tensor<float, 4, 64>;
using W = si::tensor<float, 32, 64>;
using B = si::tensor<float, 64>;
constexpr auto f = si::fuse<X, W, B>([](auto x, auto w, auto b) { return si::linear(x, w, b); });
