// From stored values to linear light and back, by the curve of sRGB (IEC 61966-2-1) or as they are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/simd.h"

namespace dualpix {

inline float srgb_to_linear(float v) {
  return v <= 0.04045f ? v / 12.92f : (float)std::pow((v + 0.055) / 1.055, 2.4);
}

// Error 1e-6, for 0 <= v <= 1.
DUALPIX_INLINE vfloat linear_to_srgb(vfloat v) {
  const vfloat curve = 1.055f * exp2(log2(max(v, splat(1e-6f))) * (1 / 2.4f)) - 0.055f;
  return select(v <= 0.0031308f, v * 12.92f, curve);
}

// Light of the values of a photo: a table for integers.
template <class T>
class Decoder {
 public:
  explicit Decoder(bool linear) : table_((size_t)std::numeric_limits<T>::max() + 1) {
    const float top = std::numeric_limits<T>::max();
    for (size_t i = 0; i < table_.size(); ++i) table_[i] = linear ? i / top : srgb_to_linear(i / top);
  }
  float operator()(T value) const { return table_[value]; }

 private:
  std::vector<float> table_;
};

template <>
class Decoder<float> {
 public:
  explicit Decoder(bool linear) : linear_(linear) {}
  float operator()(float value) const { return linear_ ? value : srgb_to_linear(value); }

 private:
  bool linear_;
};

// Stores a value from 0 to 1.
template <class T>
T stored(float v) {
  return (T)std::lrint(v * std::numeric_limits<T>::max());
}

template <>
inline float stored<float>(float v) {
  return v;
}

}  // namespace dualpix
