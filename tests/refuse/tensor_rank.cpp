// Nine dimensions.
// error: tensor<T, extents...>: there are more than eight dimensions; merge some
#include <sinter/sinter.hpp>

namespace si = sinter;

si::tensor<float, 1, 2, 3, 4, 5, 6, 7, 8, 9> x;
