// An op without a name.
// error: custom<Op>(x...): Op has no static constexpr name; the plan's kernels are named by it
#include <sinter/sinter.hpp>

namespace si = sinter;

struct own {
  static void host(const si::custom_call&) {}
};
using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::custom<own>(a); });
