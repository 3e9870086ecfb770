// The position of a maximum over two of three axes.
// error: argmax(x, axis<...>): several axes have no common index; name one, or none for the flat index
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 5, 6>;
constexpr auto f = si::fuse<A>([](auto a) { return si::argmax(a, si::axis<0, 1>); });
