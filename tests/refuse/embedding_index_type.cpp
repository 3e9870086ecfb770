// Rows chosen by floating-point numbers.
// error: embedding(weight, index): the index has no integer element type; cast it to std::int64_t
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<float, 4, 64>;
using B = si::tensor<float, 8>;
constexpr auto f = si::fuse<A, B>([](auto a, auto b) { return si::embedding(a, b); });
