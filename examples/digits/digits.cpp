// Trains a network that reads handwritten digits: `digits digits.csv`. Every step is one call of one fused function
// (network.hpp); the program prints that function's plan and what fusing is worth, and fails below 95 % test accuracy.
// Compiled by nvcc, the same source trains on the GPU.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>

#include "data.hpp"
#include "machine.hpp"
#include "network.hpp"

using namespace digits;

constexpr auto step = fuse_train_step<si::standard>();
constexpr auto eager_step = fuse_train_step<si::eager>();
static_assert(eager_step.kernel_count() == 35);
static_assert(step.kernel_count() == 13);

constexpr int epochs = 40, timed_steps = 200;
constexpr float rate = 0.3f;

void show_progress(int epoch, float loss) {
  constexpr int width = 40;
  const int done = width * epoch / epochs;
  std::printf("\r[%s%s] epoch %2d of %d, loss %.4f", std::string(done, '#').c_str(),
              std::string(width - done, '.').c_str(), epoch, epochs, loss);
  std::fflush(stdout);
}

template <class Machine>
bool train(const Machine& machine, const split_dataset& data) {
  generator random;
  const auto executor = machine.executor();
  auto images = machine.put(data.train.images);
  auto labels = machine.put(data.train.labels);
  auto w1 = machine.put(random.uniform(pixels * hidden, std::sqrt(6.0f / pixels)));
  auto b1 = machine.put(std::vector<float>(hidden));
  auto w2 = machine.put(random.uniform(hidden * classes, std::sqrt(6.0f / hidden)));
  auto b2 = machine.put(std::vector<float>(classes));

  // Train: each epoch looks at all digits in a new order.
  std::vector<std::int64_t> order(data.train.labels.size());
  std::iota(order.begin(), order.end(), 0);
  const int steps = static_cast<int>(order.size()) / batch_size;
  auto losses = machine.put(std::vector<float>(steps));
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    random.shuffle(order);
    const auto batches = machine.put(order);
    for (int i = 0; i < steps; ++i)
      step(executor, images, labels, Batch{batches.data() + i * batch_size}, rate, w1, b1, w2, b2,
           Number{losses.data() + i});
    const auto values = machine.get(losses);
    show_progress(epoch, std::accumulate(values.begin(), values.end(), 0.0f) / steps);
  }

  // Test.
  auto test_images = machine.put(data.test.images);
  auto test_labels = machine.put(data.test.labels);
  auto share = machine.put(std::vector<float>(1));
  measure_accuracy(executor, test_images, test_labels, w1, b1, w2, b2, Number{share.data()});
  const float accuracy = machine.get(share)[0];
  std::printf("\ntest accuracy %.1f %% (%zu digits, trained on %zu)\n", 100 * accuracy, data.test.labels.size(),
              data.train.labels.size());

  // Time both plans on one batch; learning at rate 0 leaves the weights as they are.
  const auto batch = machine.put(order);
  const auto time = [&](auto f, const char* preset) {
    const auto run = [&] {
      f(executor, images, labels, Batch{batch.data()}, 0.0f, w1, b1, w2, b2, Number{losses.data()});
    };
    run();
    machine.wait();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < timed_steps; ++i) run();
    machine.wait();
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - start;
    std::printf("%-9s %2d kernels, %6.1f KB moved, %7.1f us per step on the %s\n", preset, f.kernel_count(),
                (f.bytes_read(data.train.labels.size()) + f.bytes_written(data.train.labels.size())) / 1024.0,
                elapsed.count() / timed_steps, Machine::name);
    return machine.get(losses)[0];
  };
  const float eager_loss = time(eager_step, "eager"), loss = time(step, "standard");
  if (std::fabs(eager_loss - loss) > 1e-4f * (1 + loss)) std::printf("the losses differ: %g, %g\n", eager_loss, loss);
  return accuracy >= 0.95f && std::fabs(eager_loss - loss) <= 1e-4f * (1 + loss);
}

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s digits.csv\n", arguments[0]);
    return 2;
  }
  const split_dataset data = read_digits(arguments[1]);
  std::printf("One training step: ");
  std::printf("%s\n", si::explain(step, si::verbosity::kernels).c_str());
#ifdef __CUDACC__
  if (cuda_machine::is_there()) return train(cuda_machine{}, data) ? 0 : 1;
#endif
  return train(host_machine{}, data) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "digits: %s\n", error.what());
  return 1;
}
