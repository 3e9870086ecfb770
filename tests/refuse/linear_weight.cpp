// A weight that lies [in, out].
// error: linear(x, weight): the last extents differ; the weight must be [out, in], not [in, out]
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 64, 32>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::linear(a, b); });
