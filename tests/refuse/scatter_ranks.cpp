// A vector of places for a matrix.
// error: scatter<axis>(x, index, v): the ranks differ; unsqueeze the index, or use index_put
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 4>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::scatter<0>(a, b, 1.f); });
