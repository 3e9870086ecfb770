// Taking the extents of an expression with more elements.
// error: reshape_as(x, y): the element counts differ; check the extents
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 4, 65>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::reshape_as(a, b); });
