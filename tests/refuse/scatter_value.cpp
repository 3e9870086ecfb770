// Sixty-four values for five places.
// error: scatter<axis>(x, index, v): v does not broadcast to the extents of the index; check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 4, 5>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::scatter<1>(a, b, a); });
