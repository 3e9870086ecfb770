// A name that is a sentence.
// error: dim<name>: the name is longer than 31 characters; choose a shorter one
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, si::dim<"the number of tokens in all sequences">, 64>;
A x;
