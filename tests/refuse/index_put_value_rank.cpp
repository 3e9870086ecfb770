// A value with more dimensions than the rows it replaces.
// error: index_put<axis>(x, index, v): v has more dimensions than what it replaces; reduce or reshape it
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<std::int64_t, 3>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::index_put(a, b, si::unsqueeze<0>(a)); });
