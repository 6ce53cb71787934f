// The matching cost at one disparity: differences of rows and their mean over the window.
#pragma once

#include <algorithm>
#include <vector>

#include "common/simd.h"

namespace dualpix {

// The cost at disparity d, from L(x) and R(x - d). R is 0 outside the image; W* is the mean over the window:
//   sad   W*|L - R|
//   ssd   W*(L - R)^2
//   ncc   1 - W*(L R) / sqrt(W*L^2 W*R^2)
//   zncc  as ncc, of the images minus their means over the window
//   bt    W* of the Birchfield-Tomasi distance, which is insensitive to sampling up to half a pixel
//   census  W* of the number of different bits; the images are the codes of census.h
// At the ends of the image the difference is padded: mirrored, or for bt and census with its outermost value.
enum class Cost { sad, ssd, ncc, zncc, bt, census };

inline bool correlates(Cost cost) { return cost == Cost::ncc || cost == Cost::zncc; }

// Number of planes that are smoothed for every disparity: one difference, or for correlations the terms E^2, L^2 - R^2
// and (zncc only) E, with E = L - R.
inline int planes(Cost cost) { return cost == Cost::zncc ? 3 : cost == Cost::ncc ? 2 : 1; }

constexpr int kMostPlanes = 3;

// Columns [x0, x1) of one row or of all rows of the left image, and the pixels R(x - d) that they are compared with.
struct Strip {
  const float *left, *right;
  int w, d, x0, x1;
  // the columns [inside0, inside1) for which x - d lies inside the image
  int inside0() const { return std::min(std::max(x0, d), x1); }
  int inside1() const { return std::max(std::min(x1, w + d), inside0()); }
};

// Means that are subtracted from the images first. They do not change zncc except for less rounding. Only for
// correlations.
struct Means {
  float left, right;
};

// The centre tap and one half of a symmetric window: half + 1 values.
struct Window {
  const float* taps;
  int half;
};

// The pixel, 0 to n - 1, that stands for pixel i. i may lie outside the image.
int padded(int i, int n, Cost cost);

// The differences of the strip in rows [y0, y1), padded at the ends of the image and smoothed along x. Plane p of row
// y0 + i goes to out + (i * planes(cost) + p) * stride. The stride is a multiple of kLanes and at least x1 - x0; values
// after the first x1 - x0 are undefined. The scratch grows as needed.
void smooth_rows(const Strip& s, int y0, int y1, Cost cost, const Means& means, const Window& window, int stride,
                 std::vector<float>& scratch, float* out);

// The mean over the window at M neighbouring positions, which share most loads. at(i) is the vector at position i.
template <int M, class At, class V>
DUALPIX_INLINE void smooth(const At& at, const Window& window, V* s) {
  V before[M], after[M];  // at(j - k), at(j + k)
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

// The mean over the window along columns, for M rows from rows[0] on. The rows are smoothed along x already.
template <int M, class V>
DUALPIX_INLINE void smooth_columns(const float* const* rows, int x, const Window& window, V* s) {
  smooth<M>([=](int i) __attribute__((always_inline)) { return load_as<V>(rows[i] + x); }, window, s);
}

}  // namespace dualpix
