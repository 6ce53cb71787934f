// A map to be filtered, with what there is to know about it.
#pragma once

#include <cmath>
#include <cstddef>

#include "common/simd.h"

namespace dualpix {

struct Measured {
  const float* d;           // NaN, or not within kFarthest: missing
  const float* confidence;  // in [0, 1], or null: 1 everywhere
  const float* guide;       // finite, `planes` planes one after the other
  int planes, h, w;

  size_t size() const { return (size_t)h * w; }
};

constexpr float kFarthest = 1e9f;  // px: what lies beyond is none, and would drown the rest in sums

DUALPIX_INLINE bool is_data(float d) { return std::fabs(d) <= kFarthest; }

// How much a pixel has to say: its confidence, 0 where nothing was measured.
DUALPIX_INLINE float weight(const Measured& m, size_t i) {
  return is_data(m.d[i]) ? (m.confidence ? m.confidence[i] : 1.0f) : 0.0f;
}

}  // namespace dualpix
