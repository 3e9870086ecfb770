// An axis that the target does not have.
// error: index_put<axis>(x, index, v): the axis is out of range; it runs from -rank to rank - 1
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 3>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put<2>(a, b, 1.f); });
