// Assigning a matrix to a vector.
// error: assign(target, value): the value has more dimensions than the target; reduce or reshape it
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
using B = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::assign(a, b); });
