// A stride too few.
// error: with_strides<tensor, strides<...>>: give one stride for each dimension
#include <sinter/sinter.hpp>

namespace si = sinter;

float data[256];
si::with_strides<si::tensor<float, 4, 64>, si::strides<1>> x(data);
