// The network of the digits example, 64 pixels -> 128 relu -> 10 classes, as three functions of expressions: the model,
// one training step, the accuracy. Plain mathematics; what becomes one kernel is decided where they are fused.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sinter/sinter.hpp>

#include <cstdint>
#include <tuple>

namespace digits {

namespace si = sinter;

constexpr int pixels = 64, hidden = 128, classes = 10, batch_size = 64;

using Images = si::tensor<std::uint8_t, si::dim<"digits">, pixels>;  // ink from 0 to 16
using Labels = si::tensor<std::int64_t, si::dim<"digits">>;
using Batch = si::tensor<std::int64_t, batch_size>;  // which digits a step looks at
using Rate = si::value<float>;
using W1 = si::tensor<float, pixels, hidden>;
using B1 = si::tensor<float, hidden>;
using W2 = si::tensor<float, hidden, classes>;
using B2 = si::tensor<float, classes>;
using Number = si::tensor<float>;

constexpr auto hidden_layer = [](auto x, auto w1, auto b1) { return si::relu(si::matmul(x, w1) + b1); };
constexpr auto last_layer = [](auto h, auto w2, auto b2) { return si::matmul(h, w2) + b2; };

/// One step of gradient descent: returns the loss of the batch and moves the weights, in place.
constexpr auto train_step = [](auto images, auto labels, auto batch, auto rate, auto w1, auto b1, auto w2, auto b2) {
  // Forward.
  auto x = si::cast<float>(si::embedding(images, batch)) / 16.0f;
  auto label = si::embedding(labels, batch);
  auto h = hidden_layer(x, w1, b1);
  auto logits = last_layer(h, w2, b2);
  auto loss = si::cross_entropy(logits, label);

  // Backward: d_v is the derivative of the loss with respect to v.
  auto one_hot = si::cast<float>(si::unsqueeze<1>(label) == si::iota<1>(logits));
  auto d_logits = (si::softmax(logits) - one_hot) / static_cast<float>(batch_size);
  auto d_w2 = si::matmul(si::transpose(h), d_logits);
  auto d_b2 = si::sum(d_logits, si::axis<0>);
  auto d_h = si::where(h > 0.0f, si::matmul(d_logits, si::transpose(w2)), 0.0f);
  auto d_w1 = si::matmul(si::transpose(x), d_h);
  auto d_b1 = si::sum(d_h, si::axis<0>);

  // Update.
  return std::tuple(loss, si::assign(w1, w1 - rate * d_w1), si::assign(b1, b1 - rate * d_b1),
                    si::assign(w2, w2 - rate * d_w2), si::assign(b2, b2 - rate * d_b2));
};

/// The share of digits that the network reads correctly.
constexpr auto accuracy = [](auto images, auto labels, auto w1, auto b1, auto w2, auto b2) {
  auto x = si::cast<float>(images) / 16.0f;
  auto logits = last_layer(hidden_layer(x, w1, b1), w2, b2);
  return si::mean(si::cast<float>(si::argmax(logits, si::axis<-1>) == labels));
};

/// A function of expressions, scheduled with the options of a preset.
template <si::options Preset>
constexpr auto fuse_train_step() {
  return si::fuse<Preset, Images, Labels, Batch, Rate, W1, B1, W2, B2>(train_step);
}
constexpr auto measure_accuracy = si::fuse<Images, Labels, W1, B1, W2, B2>(accuracy);

}  // namespace digits
