// A value with more dimensions than its places.
// error: scatter<axis>(x, index, v): v has more dimensions than the index; reduce or reshape it
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 4, 5>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::scatter<1>(a, b, si::unsqueeze<0>(b)); });
