// What a pixel costs at one disparity: differences of rows, and their windows' means.
#pragma once

#include <algorithm>

#include "simd.h"

namespace dualpix {

// The cost at disparity d, from L(x) and R(x - d), R being 0 outside the image; W* is the window's mean:
//   sad   W*|L - R|
//   ssd   W*(L - R)^2
//   ncc   1 - W*(L R) / sqrt(W*L^2 W*R^2)
//   zncc  the same of the images less their means over the window
//   bt    W* the Birchfield-Tomasi distance, which half a pixel between the two samplings does not change
//   census  W* the number of bits in which two codes of census.h differ; the images are these codes
// Beyond its ends the difference goes on mirrored, for bt and census with its last value.
enum class Cost { sad, ssd, ncc, zncc, bt, census };
constexpr int kCosts = 6;

inline bool correlates(Cost cost) { return cost == Cost::ncc || cost == Cost::zncc; }

// Planes smoothed for every disparity: the difference, or with E = L - R the terms E^2, L^2 - R^2, E of correlations.
inline int planes(Cost cost) { return cost == Cost::zncc ? 3 : cost == Cost::ncc ? 2 : 1; }

constexpr int kMostPlanes = 3;

// Part of a row: columns [x0, x1) of the left image, and R(x - d) beside them.
struct Strip {
  const float *left, *right;
  int w, d, x0, x1;
  // the part of it where x - d lies inside the image
  int inside0() const { return std::min(std::max(x0, d), x1); }
  int inside1() const { return std::max(std::min(x1, w + d), inside0()); }
};

// Subtracted from the images first, which zncc does not see but for less rounding. Only for correlations.
struct Means {
  float left, right;
};

// Centre tap and one side of a symmetric window: half + 1 values.
struct Window {
  const float* taps;
  int half;
};

// Where pixel i of n lies that may be outside.
int padded(int i, int n, Cost cost);

// Differences of the strip, padded beyond the image's ends, smoothed along x: plane p to out + p * stride. The stride
// is a multiple of 4 kLanes and not less than x1 - x0; beyond that the values mean nothing. The scratch has
// kMostPlanes * (stride + 2 half) floats.
void smooth_row(const Strip& s, Cost cost, const Means& means, const Window& window, int stride, float* scratch,
                float* out);

// The window along a column of rows that are smoothed along x, for N vectors a step apart.
template <int N>
DUALPIX_INLINE void smooth_column(const float* const* rows, int x, int step, const Window& window, vfloat* s) {
  for (int n = 0; n < N; ++n) s[n] = window.taps[0] * load(rows[0] + x + n * step);
  for (int k = 1; k <= window.half; ++k) {
    const float *above = rows[-k] + x, *below = rows[k] + x;
    for (int n = 0; n < N; ++n) s[n] += window.taps[k] * (load(above + n * step) + load(below + n * step));
  }
}

}  // namespace dualpix
