// An element type that no kernel knows.
// error: tensor<T>: T is no element type; use bool, u8, i8, i32, i64 (the std::int types), f16, bf16, float or double
#include <sinter/sinter.hpp>

namespace si = sinter;

using A = si::tensor<long double, 4, 64>;
constexpr auto f = si::fuse<A>([](auto a) { return si::sin(a); });
