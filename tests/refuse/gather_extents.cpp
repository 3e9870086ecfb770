// An index with another number of rows.
// error: gather<axis>(x, index): extents differ on an axis other than the gathered one; slice or broadcast_to first
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int32_t, 5, 8>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::gather<1>(a, b); });
