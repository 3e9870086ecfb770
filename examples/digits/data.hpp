// The 1,797 digits of digits.csv (DATA.md), and a generator whose numbers are the same with every standard library.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace digits {

struct dataset {
  std::vector<std::uint8_t> images;  ///< 64 pixels per digit, 0 to 16
  std::vector<std::int64_t> labels;
};
struct split_dataset {
  dataset train, test;
};

/// Reads the file; every fifth digit is for the test.
inline split_dataset read_digits(const std::string& path) {
  split_dataset all;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string line;
  for (int number = 0; std::getline(file, line); ++number) {
    dataset& part = number % 5 == 0 ? all.test : all.train;
    std::istringstream fields(line);
    std::vector<int> values;
    for (std::string field; std::getline(fields, field, ',');) values.push_back(std::stoi(field));
    if (values.size() != 65) throw std::runtime_error(path + ": a line does not have 65 numbers");
    part.images.insert(part.images.end(), values.begin(), values.end() - 1);
    part.labels.push_back(values.back());
  }
  return all;
}

class generator {
 public:
  /// `count` numbers between -limit and limit.
  std::vector<float> uniform(std::size_t count, float limit) {
    std::vector<float> values(count);
    for (float& v : values) v = limit * (static_cast<float>(bits_() >> 8) / 8388608.0f - 1.0f);
    return values;
  }
  void shuffle(std::vector<std::int64_t>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[bits_() % i]);
  }

 private:
  std::mt19937 bits_{1797};
};

}  // namespace digits
