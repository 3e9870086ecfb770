// Two indices for a vector.
// error: index_put(x, i, j, v): x has fewer than two dimensions, or what is replaced more than eight; reshape them
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 64>;
using B = si::tensor<std::int64_t, 3>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put(a, b, b, 1.f); });
