// A vector for two unknown extents.
// error: tensor(vector): more than one extent is unknown; pass the pointer and the extents
#include <sinter/sinter.hpp>

namespace si = sinter;

#include <vector>

std::vector<float> data(256);
si::tensor<float, si::dyn, si::dyn> x(data);
