// What a pixel costs at one disparity: differences of rows, and their windows' means.
#pragma once

#include <algorithm>
#include <vector>

#include "common/simd.h"

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

inline bool correlates(Cost cost) { return cost == Cost::ncc || cost == Cost::zncc; }

// Planes smoothed for every disparity: the difference, or with E = L - R the terms E^2, L^2 - R^2, E of correlations.
inline int planes(Cost cost) { return cost == Cost::zncc ? 3 : cost == Cost::ncc ? 2 : 1; }

constexpr int kMostPlanes = 3;

// Part of a row, or of each row of an image: columns [x0, x1) of the left image, and R(x - d) beside them.
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

// Differences of the strip in rows [y0, y1), padded beyond the image's ends, smoothed along x: plane p of row y0 + i
// goes to out + (i * planes(cost) + p) * stride. The stride is a multiple of kLanes and not less than x1 - x0; beyond
// that the values mean nothing. The scratch grows as needed.
void smooth_rows(const Strip& s, int y0, int y1, Cost cost, const Means& means, const Window& window, int stride,
                 std::vector<float>& scratch, float* out);

// The window's mean at M neighbouring places, which share most of what they read; at(i) is the vector i places on.
template <int M, class At>
DUALPIX_INLINE void smooth(const At& at, const Window& window, vfloat* s) {
  vfloat before[M], after[M];  // at(j - k), at(j + k)
  for (int j = 0; j < M; ++j) s[j] = window.taps[0] * (before[j] = after[j] = at(j));
#pragma GCC unroll 4
  for (int k = 1; k <= window.half; ++k) {
    for (int j = M - 1; j > 0; --j) before[j] = before[j - 1];
    for (int j = 0; j + 1 < M; ++j) after[j] = after[j + 1];
    before[0] = at(-k);
    after[M - 1] = at(M - 1 + k);
    for (int j = 0; j < M; ++j) s[j] += window.taps[k] * (before[j] + after[j]);
  }
}

// The window along columns of rows that are smoothed along x, for M rows from rows[0] on.
template <int M>
DUALPIX_INLINE void smooth_columns(const float* const* rows, int x, const Window& window, vfloat* s) {
  smooth<M>([=](int i) __attribute__((always_inline)) { return load(rows[i] + x); }, window, s);
}

}  // namespace dualpix
