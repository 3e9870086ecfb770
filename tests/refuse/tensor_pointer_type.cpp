// A pointer to other elements.
// error: tensor(data, extents...): the pointer's element type is not the tensor's; cast the data or change the tensor
#include <sinter/sinter.hpp>

namespace si = sinter;

double data[256];
si::tensor<float, 4, 64> x(data);
