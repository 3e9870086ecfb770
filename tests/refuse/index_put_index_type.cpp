// Writing at floating-point positions.
// error: index_put<axis>(x, index, v): the index has no integer element type; cast it to std::int64_t
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 3>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put(a, b, 1.f); });
