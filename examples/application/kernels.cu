// The one file of the application that nvcc compiles: the kernels are scheduled and instantiated here.
// SPDX-License-Identifier: BSL-1.0
#include "kernels.hpp"

#include <sinter/sinter.hpp>

#include <tuple>

namespace si = sinter;

namespace search {

using Vectors = si::tensor<float, si::dim<"vectors">, width>;
using Queries = si::tensor<float, si::dim<"queries">, width>;

constexpr auto unit_vectors =
    si::fuse<Vectors>([](auto v) { return si::assign(v, v / si::norm(v, si::axis<-1>, si::keepdim)); });
static_assert(unit_vectors.kernel_count() == 1);

constexpr auto nearest_vectors = si::fuse<Queries, Vectors>([](auto queries, auto vectors) {
  auto similarity = si::matmul(queries, si::transpose(vectors));
  return std::tuple(si::argmax(similarity, si::axis<-1>), si::amax(similarity, si::axis<-1>));
});
static_assert(nearest_vectors.kernel_count() == 2);  // the matmul; both reductions as one kernel

void normalize(cudaStream_t stream, float* vectors, std::int64_t count) {
  unit_vectors(stream, Vectors(vectors, count));
}

void find_nearest(cudaStream_t stream, const float* queries, std::int64_t num_queries, const float* vectors,
                  std::int64_t count, std::int64_t* nearest, float* similarity) {
  nearest_vectors(stream, Queries(queries, num_queries), Vectors(vectors, count),
                  si::tensor<std::int64_t, si::dim<"queries">>(nearest, num_queries),
                  si::tensor<float, si::dim<"queries">>(similarity, num_queries));
}

}  // namespace search
