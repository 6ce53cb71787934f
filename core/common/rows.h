// Transposed rows: kLanes rows are processed at once, one in each lane.
#pragma once

#include <algorithm>

#include "common/simd.h"

namespace dualpix {

// Rows of maps in memory are asked for this many pixels before they are needed: four lines of the cache of floats. Eight
// rows of several maps are more than processors foresee. Asking for more at once, or for the rows below, takes longer.
constexpr int kAhead = 8 * kLanes;

// Whether a float at x begins a line of the cache, as far as a row does.
DUALPIX_INLINE bool begins_line(int x) { return x % (2 * kLanes) == 0; }

// Transposes two maps at once, n rows of w pixels each: column x of them becomes the vectors at first + x * stride and
// second + x * stride, with row i in lane i. load(i, x, m, a, b) sets a, b to the m pixels of row i from column x on.
template <class Load>
DUALPIX_INLINE void gather_two(const Load& load, int w, int n, float* first, float* second, int stride) {
  int x = 0;
  vfloat a[kLanes], b[kLanes];
  for (; n == kLanes && x + kLanes <= w; x += kLanes) {
    for (int i = 0; i < kLanes; ++i) load(i, x, kLanes, a[i], b[i]);
    transpose(a);
    for (int i = 0; i < kLanes; ++i) store(first + (size_t)(x + i) * stride, a[i]);
    transpose(b);
    for (int i = 0; i < kLanes; ++i) store(second + (size_t)(x + i) * stride, b[i]);
  }
  for (; x < w; x += kLanes) {
    const int m = std::min(w - x, kLanes);
    for (int i = 0; i < kLanes; ++i) a[i] = b[i] = vfloat{};
    for (int i = 0; i < n; ++i) load(i, x, m, a[i], b[i]);
    transpose(a);
    transpose(b);
    for (int i = 0; i < m; ++i) store(first + (size_t)(x + i) * stride, a[i]), store(second + (size_t)(x + i) * stride, b[i]);
  }
}

// Transposes n rows of w pixels: column x becomes the vector at columns + x * stride, with row i in lane i.
// load(i, x, m) returns the m pixels of row i from column x on.
template <class Load>
DUALPIX_INLINE void gather(const Load& load, int w, int n, float* columns, int stride) {
  int x = 0;
  vfloat v[kLanes];
  for (; n == kLanes && x + kLanes <= w; x += kLanes) {
    for (int i = 0; i < kLanes; ++i) v[i] = load(i, x, kLanes);
    transpose(v);
    for (int i = 0; i < kLanes; ++i) store(columns + (size_t)(x + i) * stride, v[i]);
  }
  for (; x < w; x += kLanes) {
    const int m = std::min(w - x, kLanes);
    for (int i = 0; i < kLanes; ++i) v[i] = i < n ? load(i, x, m) : vfloat{};
    transpose(v);
    for (int i = 0; i < m; ++i) store(columns + (size_t)(x + i) * stride, v[i]);
  }
}

// The reverse: columns back to n consecutive rows of w pixels.
DUALPIX_INLINE void scatter(const float* columns, int stride, int w, int n, float* rows) {
  int x = 0;
  vfloat v[kLanes];
  for (; n == kLanes && x + kLanes <= w; x += kLanes) {
    for (int i = 0; i < kLanes; ++i) v[i] = load(columns + (size_t)(x + i) * stride);
    transpose(v);
    for (int i = 0; i < kLanes; ++i) {
      float* const row = rows + (size_t)i * w + x;
      if (begins_line(x)) __builtin_prefetch(row + kAhead, 1);
      store(row, v[i]);
    }
  }
  for (; x < w; x += kLanes) {
    const int m = std::min(w - x, kLanes);
    for (int i = 0; i < kLanes; ++i) v[i] = i < m ? load(columns + (size_t)(x + i) * stride) : vfloat{};
    transpose(v);
    for (int i = 0; i < n; ++i) store(rows + (size_t)i * w + x, v[i], m);
  }
}

// The `load` of gather for consecutive rows.
DUALPIX_INLINE auto rows_of(const float* map, int w) {
  return [=](int i, int x, int m) __attribute__((always_inline)) { return load(map + (size_t)i * w + x, m); };
}

}  // namespace dualpix
