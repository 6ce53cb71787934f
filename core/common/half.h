// Floats in 16 bits, IEEE 754 half precision: 11 bits of precision. NumPy calls them float16.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "common/simd.h"

namespace dualpix {

constexpr uint16_t kHalfMinusInfinity = 0xfc00;
constexpr float kHalfMost = 65504.0f;
// The exponents of half and float differ by 112, their mantissas by 13 bits.
constexpr int kHalfShift = 13;
constexpr uint32_t kHalfBits = 0x8fffe000;  // of a float: sign, exponent and mantissa of a half
constexpr float kHalfScale = 5192296858534827628530496329220096.0f;  // 2^112

// The nearest half. What is too large, or infinite, becomes the largest one of its sign.
DUALPIX_INLINE uint16_t half_of(float x) {
  const float scaled = std::min(std::abs(x), kHalfMost) * (1 / kHalfScale);
  uint32_t bits, sign;
  std::memcpy(&bits, &scaled, sizeof bits);
  std::memcpy(&sign, &x, sizeof sign);
  // Of two that are as near, the even one.
  const uint32_t rounded = (bits + 0xfff + (bits >> kHalfShift & 1)) >> kHalfShift;
  return (uint16_t)(rounded | (sign >> 16 & 0x8000));
}

// Minus infinity becomes -65536.
DUALPIX_INLINE float float_of(uint16_t half) {
  const uint32_t bits = (uint32_t)(int32_t)(int16_t)half << kHalfShift & kHalfBits;
  float scaled;
  std::memcpy(&scaled, &bits, sizeof scaled);
  return scaled * kHalfScale;
}

// The first n lanes of a vector, 1 <= n. The others are zero.
template <class V>
DUALPIX_INLINE V load_halves(const uint16_t* p, int n) {
  ints_of<V> wide = {};
  if (n == lanes_of<V>)
    for (int i = 0; i < lanes_of<V>; ++i) wide[i] = (int16_t)p[i];
  else
    for (int i = 0; i < n; ++i) wide[i] = (int16_t)p[i];
  return (V)((uints_of<V>)wide << kHalfShift & kHalfBits) * kHalfScale;
}

}  // namespace dualpix
