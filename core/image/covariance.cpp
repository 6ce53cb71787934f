#include "image/covariance.h"

#include <cstddef>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

// The terms of one tile, each minus its mean. Rows are padded to whole vectors.
struct Terms {
  int size;  // a multiple of kLanes; the padding is 0
  alignas(64) float of[kTerms][kMostSide * kMostSide];
};

// The terms of row y of a tile, from `at` on.
DUALPIX_INLINE void fill_row(const float* left, const float* right, int w, int side, int y, Terms& terms, int at) {
  float M[3][kMostSide + 2];  // the rows above, here and below, from the column before the tile on
  for (int k = 0; k < 3; ++k)
    for (int x = 0; x < side + 2; ++x) {
      const ptrdiff_t p = (ptrdiff_t)(k - 1) * w + x - 1;
      M[k][x] = 0.5f * (left[p] + right[p]);
    }
  const float* m = M[1] + 1;
  for (int x = 0; x < side; ++x) terms.of[0][at + x] = left[x] - right[x];
  for (int x = 0; x < side; ++x) terms.of[1][at + x] = m[x + 1] - m[x - 1];
  for (int x = 0; x < side; ++x) terms.of[2][at + x] = M[2][x + 1] - M[0][x + 1];
  for (int x = 0; x < side; ++x) terms.of[3][at + x] = m[x];
  for (int x = 0; x < side; ++x) terms.of[4][at + x] = (float)(x - side / 2) * m[x];
  for (int x = 0; x < side; ++x) terms.of[5][at + x] = (float)(y - side / 2) * m[x];
}

DUALPIX_INLINE void fill(const float* left, const float* right, int w, int side, Terms& terms) {
  const int stride = (side + kLanes - 1) / kLanes * kLanes;
  terms.size = side * stride;
  for (int k = 0; k < kTerms; ++k) std::fill_n(terms.of[k], terms.size, 0.0f);
  for (int y = 0; y < side; ++y) fill_row(left + (ptrdiff_t)y * w, right + (ptrdiff_t)y * w, w, side, y, terms, y * stride);
  for (int k = 0; k < kTerms; ++k) {
    double sums[kLanes] = {}, sum = 0;
    for (int i = 0; i < terms.size; i += kLanes)
      for (int lane = 0; lane < kLanes; ++lane) sums[lane] += terms.of[k][i + lane];
    for (double lane : sums) sum += lane;
    const float mean = (float)(sum / (side * side));
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) terms.of[k][y * stride + x] -= mean;
  }
}

// Row i of the covariances from column i on. The sums of a row do not wait for each other.
template <int i>
DUALPIX_INLINE void products(const Terms& terms, int n, double* C) {
  vfloat sums[kTerms] = {};
  for (int p = 0; p < terms.size; p += kLanes) {
    const vfloat a = load(terms.of[i] + p);
    for (int j = i; j < kTerms; ++j) sums[j] += a * load(terms.of[j] + p);
  }
  for (int j = i; j < kTerms; ++j) {
    double total = 0;
    for (int lane = 0; lane < kLanes; ++lane) total += sums[j][lane];
    C[i * kTerms + j] = C[j * kTerms + i] = total / n;
  }
}

DUALPIX_CLONES void covariances(const float* left, const float* right, int w, int side, Terms& terms, double* C) {
  fill(left, right, w, side, terms);
  const int n = side * side;
  products<0>(terms, n, C);
  products<1>(terms, n, C);
  products<2>(terms, n, C);
  products<3>(terms, n, C);
  products<4>(terms, n, C);
  products<5>(terms, n, C);
}

}  // namespace

void tile_covariances(const float* left, const float* right, double* C, int h, int w, int side, int threads) {
  const int down = (h - 2) / side, across = (w - 2) / side;
  parallel_for(down, threads, [] { return Terms(); }, [&](int i, Terms& terms) {
    for (int k = 0; k < across; ++k) {
      const size_t at = (size_t)(1 + i * side) * w + 1 + (size_t)k * side;
      covariances(left + at, right + at, w, side, terms, C + ((size_t)i * across + k) * kTerms * kTerms);
    }
  });
}

}  // namespace dualpix
