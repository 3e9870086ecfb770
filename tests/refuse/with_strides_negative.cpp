// Walking backwards.
// error: with_strides<tensor, strides<...>>: a stride is negative; flip the expression instead
#include <sinter/sinter.hpp>

namespace si = sinter;

float data[256];
si::with_strides<si::tensor<float, 4, 64>, si::strides<-64, 1>> x(data);
