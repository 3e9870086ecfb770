// A matrix gathered by a vector.
// error: gather<axis>(x, index): the ranks differ; unsqueeze the index
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int32_t, 8>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::gather<1>(a, b); });
