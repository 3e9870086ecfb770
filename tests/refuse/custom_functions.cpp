// An op that cannot run.
// error: custom<Op>(x...): Op has neither host(const custom_call&) nor cuda(const custom_call&); give it one
#include <sinter/sinter.hpp>

namespace si = sinter;

struct own {
  static constexpr const char* name = "own";
};
using A = si::tensor<float, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::custom<own>(a); });
