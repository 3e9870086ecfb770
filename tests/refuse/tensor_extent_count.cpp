// A pointer without the run-time extent.
// error: tensor(data, extents...): the number of extents is wrong; give exactly those that are dyn or named, in order
#include <sinter/sinter.hpp>

namespace si = sinter;

float data[256];
si::tensor<float, si::dyn, 64> x(data);
