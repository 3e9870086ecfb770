// A type that is not a tensor.
// error: fuse<T...>(fn): a T is not a tensor, strided_tensor or value type; give the type of each argument
#include <sinter/sinter.hpp>

namespace si = sinter;

constexpr auto f = si::fuse<float>([](auto a) { return a + a; });
