#include "filters/polish.h"

#include <algorithm>
#include <vector>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRadius = 2, kWindow = 2 * kRadius + 1;
constexpr int kRows = 64;  // rows of a task

int count(int x, int n) { return std::min(x + kRadius, n - 1) - std::max(x - kRadius, 0) + 1; }

// The fits a, b of the rows of a window. A row takes the place of the one that left the window.
struct Fits {
  explicit Fits(int w) : w(w), data((size_t)2 * kWindow * w) {}
  float* a(int y) { return data.data() + (size_t)2 * (y % kWindow) * w; }
  float* b(int y) { return a(y) + w; }
  int w;
  std::vector<float> data;
};

struct Scratch {
  Scratch(int w) : fits(w), sums((size_t)4 * w), inverse(w) {
    for (int x = 0; x < w; ++x) inverse[x] = 1.0f / (float)count(x, w);
  }
  Fits fits;
  std::vector<float> sums, inverse;  // inverse: 1 / columns of the window of each column
};

// out[x] = sum of in[x - radius .. x + radius], cut at the ends.
DUALPIX_CLONES void sum_across(const float* in, float* out, int w) {
  for (int x = 0; x < std::min(w, kRadius); ++x) {
    out[x] = 0;
    for (int i = 0; i <= std::min(x + kRadius, w - 1); ++i) out[x] += in[i];
  }
  for (int x = kRadius; x < w - kRadius; ++x) out[x] = in[x - 2] + in[x - 1] + in[x] + in[x + 1] + in[x + 2];
  for (int x = std::max(w - kRadius, kRadius); x < w; ++x) {
    out[x] = 0;
    for (int i = x - kRadius; i < w; ++i) out[x] += in[i];
  }
}

// Calls at(x, n) for the vectors of a row of w pixels; n of the pixels at x belong to the row.
template <class At>
DUALPIX_INLINE void for_vectors(int w, const At& at) {
  int x = 0;
  for (; x + kLanes <= w; x += kLanes) at(x, kLanes);
  if (x < w) at(x, w - x);
}

// Calls at(i) for the rows of a window. A whole one has no loop.
template <class At>
DUALPIX_INLINE void for_rows(int rows, const At& at) {
  if (rows == kWindow) {
    at(0), at(1), at(2), at(3), at(4);
  } else {
    for (int i = 0; i < rows; ++i) at(i);
  }
}
static_assert(kWindow == 5, "for_rows names the rows of a window");

// Sums of d - zero and its square over the rows of the window, then the fit of every pixel of the row. The zero, a value
// of the map nearby, usually keeps rounding small.
DUALPIX_CLONES void fit_row(const float* d, int h, int w, int y, float zero, float eps, const float* inverse, float* sums,
                            float* a, float* b) {
  float *sum = sums, *square = sums + w, *across = sums + 2 * w, *across2 = sums + 3 * w;
  const int rows = count(y, h);
  const float* const first = d + (size_t)std::max(y - kRadius, 0) * w;
  for_vectors(w, [=](int x, int n) __attribute__((always_inline)) {
    vfloat total = {}, squares = {};
    for_rows(rows, [&](int i) __attribute__((always_inline)) {
      const vfloat v = load(first + (size_t)i * w + x, n) - zero;
      total += v;
      squares += v * v;
    });
    store(sum + x, total, n);
    store(square + x, squares, n);
  });
  sum_across(sum, across, w);
  sum_across(square, across2, w);
  const float share = 1.0f / (float)rows;
  for (int x = 0; x < w; ++x) {
    const float n = share * inverse[x], m = n * across[x];
    const float v = std::max(n * across2[x] - m * m, 0.0f);
    a[x] = v * v / (v * v + eps * eps);
    b[x] = (1 - a[x]) * m;
  }
}

DUALPIX_CLONES void apply_row(Fits& fits, int first, int rows, const float* d, float zero, const float* inverse,
                              float* sums, const float* minus, float* out, float low, float high) {
  const int w = fits.w;
  float *sum = sums, *sum_b = sums + w, *a = sums + 2 * w, *b = sums + 3 * w;
  const float* fit[kWindow] = {};
  for (int i = 0; i < rows; ++i) fit[i] = fits.a(first + i);
  for_vectors(w, [=](int x, int n) __attribute__((always_inline)) {
    vfloat total = {}, total_b = {};
    for_rows(rows, [&](int i) __attribute__((always_inline)) {
      total += load(fit[i] + x, n);
      total_b += load(fit[i] + w + x, n);
    });
    store(sum + x, total, n);
    store(sum_b + x, total_b, n);
  });
  sum_across(sum, a, w);
  sum_across(sum_b, b, w);
  const float share = 1.0f / (float)rows;
  for (int x = 0; x < w; ++x) {
    const float v = share * inverse[x] * (a[x] * (d[x] - zero) + b[x]) + zero;
    out[x] = std::min(std::max(v, low), high);
  }
  if (minus)
    for (int x = 0; x < w; ++x) out[x] -= minus[x];
}

}  // namespace

void polish(const float* d, const float* minus, float* out, int h, int w, float eps, float low, float high, int threads) {
  parallel_for((h + kRows - 1) / kRows, threads, [&] { return Scratch(w); }, [&](int block, Scratch& s) {
    const int y0 = block * kRows, y1 = std::min(y0 + kRows, h);
    const float zero = d[(size_t)y0 * w + w / 2], *inverse = s.inverse.data();
    int fitted = std::max(y0 - kRadius, 0);  // rows that have fits
    for (int y = y0; y < y1; ++y) {
      const int first = std::max(y - kRadius, 0), last = std::min(y + kRadius, h - 1);
      for (; fitted <= last; ++fitted)
        fit_row(d, h, w, fitted, zero, eps, inverse, s.sums.data(), s.fits.a(fitted), s.fits.b(fitted));
      const size_t row = (size_t)y * w;
      apply_row(s.fits, first, last - first + 1, d + row, zero, inverse, s.sums.data(), minus ? minus + row : nullptr,
                out + row, low, high);
    }
  });
}

}  // namespace dualpix
