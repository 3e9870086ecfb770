// A view of another rank.
// error: tensor(view): the ranks differ; slice the view or change the tensor
#include <sinter/sinter.hpp>

namespace si = sinter;

struct view {
  float* data_handle() const { return nullptr; }
  static constexpr int rank() { return 1; }
  int extent(int) const { return 64; }
  int stride(int) const { return 1; }
};
si::tensor<float, 4, 64> x(view{});
