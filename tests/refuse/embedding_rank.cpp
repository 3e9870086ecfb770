// A result of nine dimensions.
// error: embedding(weight, index): the result would have more than eight dimensions; flatten the index
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int32_t, 1, 2, 1, 2, 1, 2, 1, 2>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::embedding(a, b); });
