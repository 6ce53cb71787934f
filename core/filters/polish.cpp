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

// Sums of d - zero and its square over rows of the window, then the fit of every pixel of the row. The zero, a value of
// the map nearby, usually keeps rounding small.
DUALPIX_CLONES void fit_row(const float* d, int h, int w, int y, float zero, float eps, const float* inverse, float* sums,
                            float* a, float* b) {
  float *sum = sums, *square = sums + w, *across = sums + 2 * w, *across2 = sums + 3 * w;
  std::fill(sum, sum + 2 * w, 0.0f);
  for (int i = std::max(y - kRadius, 0); i <= std::min(y + kRadius, h - 1); ++i) {
    const float* row = d + (size_t)i * w;
    for (int x = 0; x < w; ++x) {
      const float v = row[x] - zero;
      sum[x] += v;
      square[x] += v * v;
    }
  }
  sum_across(sum, across, w);
  sum_across(square, across2, w);
  const float rows = 1.0f / (float)count(y, h);
  for (int x = 0; x < w; ++x) {
    const float n = rows * inverse[x], m = n * across[x];
    const float v = std::max(n * across2[x] - m * m, 0.0f);
    a[x] = v * v / (v * v + eps * eps);
    b[x] = (1 - a[x]) * m;
  }
}

DUALPIX_CLONES void apply_row(Fits& fits, int first, int last, const float* d, float zero, const float* inverse,
                              float* sums, float* out, float low, float high) {
  const int w = fits.w;
  float *sum = sums, *sum_b = sums + w, *a = sums + 2 * w, *b = sums + 3 * w;
  std::fill(sum, sum + 2 * w, 0.0f);
  for (int y = first; y <= last; ++y) {
    const float *fit_a = fits.a(y), *fit_b = fits.b(y);
    for (int x = 0; x < w; ++x) sum[x] += fit_a[x], sum_b[x] += fit_b[x];
  }
  sum_across(sum, a, w);
  sum_across(sum_b, b, w);
  const float rows = 1.0f / (float)(last - first + 1);
  for (int x = 0; x < w; ++x) {
    const float v = rows * inverse[x] * (a[x] * (d[x] - zero) + b[x]) + zero;
    out[x] = std::min(std::max(v, low), high);
  }
}

}  // namespace

void polish(const float* d, float* out, int h, int w, float eps, float low, float high, int threads) {
  parallel_for((h + kRows - 1) / kRows, threads, [&] { return Scratch(w); }, [&](int block, Scratch& s) {
    const int y0 = block * kRows, y1 = std::min(y0 + kRows, h);
    const float zero = d[(size_t)y0 * w + w / 2], *inverse = s.inverse.data();
    int fitted = std::max(y0 - kRadius, 0);  // rows that have fits
    for (int y = y0; y < y1; ++y) {
      const int first = std::max(y - kRadius, 0), last = std::min(y + kRadius, h - 1);
      for (; fitted <= last; ++fitted)
        fit_row(d, h, w, fitted, zero, eps, inverse, s.sums.data(), s.fits.a(fitted), s.fits.b(fitted));
      apply_row(s.fits, first, last, d + (size_t)y * w, zero, inverse, s.sums.data(), out + (size_t)y * w,
                low, high);
    }
  });
}

}  // namespace dualpix
