// Four operands.
// error: custom<Op>(x...): there are more than three operands; concat some of them
#include <sinter/sinter.hpp>

namespace si = sinter;

struct own {
  static constexpr const char* name = "own";
  static void host(const si::custom_call&) {}
};
using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::custom<own>(a, a, a, a); });
