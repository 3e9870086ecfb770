// Gathering along an axis that does not exist.
// error: gather<axis>(x, index): the axis is out of range; it runs from -rank to rank - 1
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int32_t, 4, 8>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::gather<2>(a, b); });
