// A pointer to other elements.
// error: strided_tensor(data, extents, strides): the pointer's element type is not the tensor's; cast the data or change the tensor
#include <sinter/sinter.hpp>

namespace si = sinter;

double data[256];
si::strided_tensor<float, 4, 64> x(data, {4, 64}, {64, 1});
