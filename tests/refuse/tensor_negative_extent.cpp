// A negative extent that is not dyn.
// error: tensor<T, extents...>: an extent is negative; use dyn for one known at run time
#include <sinter/sinter.hpp>

namespace si = sinter;

si::tensor<float, -2, 64> x;
