// A function of more than 1024 nodes.
// error: fuse(fn): the function has more than 1024 nodes; split it into several fused functions
#include <sinter/sinter.hpp>

namespace si = sinter;

template <int N>
constexpr auto chain(auto x) {
  if constexpr (N == 0)
    return x;
  else
    return chain<N - 1>(si::sin(x) + x);
}
using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return chain<200>(si::sin(chain<200>(si::sin(chain<120>(a))))); });
