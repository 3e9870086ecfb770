// A new dimension beyond the end.
// error: unsqueeze<axis>(x): the axis is out of range; it runs from -rank - 1 to rank
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::unsqueeze<3>(a); });
