// Assigning rows of another length.
// error: assign(target, value): the value does not broadcast to the target; check the shapes
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 4, 63>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::assign(a, b); });
