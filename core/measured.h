// A map to be filtered, with what there is to know about it.
#pragma once

#include <cmath>
#include <cstddef>

#include "simd.h"

namespace dualpix {

struct Measured {
  const float* d;           // not finite: missing
  const float* confidence;  // in [0, 1], or null: 1 everywhere
  const float* guide;       // finite, `planes` planes one after the other
  int planes, h, w;

  size_t size() const { return (size_t)h * w; }
};

// Whether a float is a number at all.
DUALPIX_INLINE bool is_data(float d) { return d - d == 0.0f; }

// How much a pixel has to say: its confidence, 0 where nothing was measured.
DUALPIX_INLINE float weight(const Measured& m, size_t i) {
  return is_data(m.d[i]) ? (m.confidence ? m.confidence[i] : 1.0f) : 0.0f;
}

}  // namespace dualpix
