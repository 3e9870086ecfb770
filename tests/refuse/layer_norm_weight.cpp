// A weight for another number of columns.
// error: layer_norm(x, weight, bias): weight or bias does not fit; each has the last extent of x
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 32>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::layer_norm(a, b, 1e-5f); });
