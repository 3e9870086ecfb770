// A figure that depends on a run-time extent, without it.
// error: f.figure(extents...): the number of extents is wrong; give each run-time extent, in order of first appearance
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, si::dyn, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
constexpr auto bytes = f.bytes_read();
