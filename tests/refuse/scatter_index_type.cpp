// Writing at floating-point positions.
// error: scatter<axis>(x, index, v): the index has no integer element type; cast it to std::int64_t
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 4, 5>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::scatter<1>(a, b, 1.f); });
