// Nine dimensions to replace.
// error: index_put<axis>(x, index, v): what is replaced has more than eight dimensions; flatten the index
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 1, 2, 1, 2, 1, 2, 1, 2>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put(a, b, 1.f); });
