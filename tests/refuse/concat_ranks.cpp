// Joining a matrix and a vector.
// error: concat<axis>(a, b): the ranks differ; unsqueeze one
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 64>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::concat<0>(a, b); });
