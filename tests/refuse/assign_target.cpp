// Assigning to a value that is not an input.
// error: assign(target, value): the target is neither an input nor a view of one; return the value as a result
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::assign(a + b, b); });
