// The input of a filter: a map, its confidence and its guide.
#pragma once

#include <cmath>
#include <cstddef>

#include "common/simd.h"

namespace dualpix {

struct Measured {
  const float* d;           // px; NaN or beyond kFarthest: no data
  const float* confidence;  // 0 to 1; null: 1 everywhere
  const float* guide;       // `planes` consecutive planes, finite
  int planes, h, w;

  size_t size() const { return (size_t)h * w; }
};

constexpr float kFarthest = 1e9f;  // px; greater values count as no data: they would swamp all sums

DUALPIX_INLINE bool is_data(float d) { return std::fabs(d) <= kFarthest; }

// The weight of a pixel: its confidence, 0 where there is no data.
DUALPIX_INLINE float weight(const Measured& m, size_t i) {
  return is_data(m.d[i]) ? (m.confidence ? m.confidence[i] : 1.0f) : 0.0f;
}

}  // namespace dualpix
