#include "filters/polish.h"

#include <algorithm>
#include <vector>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRadius = 2;
constexpr int kRows = 32;  // rows of a task

// Two quantities for every pixel of some rows.
struct Planes {
  Planes(int rows, int w) : w(w), data((size_t)2 * rows * w) {}
  float* row(int plane, int y) { return data.data() + ((size_t)2 * y + plane) * w; }
  int w;
  std::vector<float> data;
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

int count(int x, int n) { return std::min(x + kRadius, n - 1) - std::max(x - kRadius, 0) + 1; }

// Sums of d - zero and its square over rows of the window, then the fit of every pixel of the row. The zero, a value of
// the map nearby, usually keeps rounding small.
DUALPIX_CLONES void fit_row(const float* d, int h, int w, int y, float zero, float eps, float* sums, float* a, float* b) {
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
  const int rows = count(y, h);
  for (int x = 0; x < w; ++x) {
    const float inverse = 1.0f / (float)(rows * count(x, w)), m = inverse * across[x];
    const float v = std::max(inverse * across2[x] - m * m, 0.0f);
    a[x] = v / (v + eps);
    b[x] = (1 - a[x]) * m;
  }
}

DUALPIX_CLONES void apply_row(Planes& fits, int first, int last, const float* d, float zero, float* sums,
                              float* out) {
  const int w = fits.w, rows = last - first + 1;
  float *sum = sums, *sum_b = sums + w, *a = sums + 2 * w, *b = sums + 3 * w;
  std::fill(sum, sum + 2 * w, 0.0f);
  for (int i = first; i <= last; ++i) {
    const float *fit_a = fits.row(0, i), *fit_b = fits.row(1, i);
    for (int x = 0; x < w; ++x) sum[x] += fit_a[x], sum_b[x] += fit_b[x];
  }
  sum_across(sum, a, w);
  sum_across(sum_b, b, w);
  for (int x = 0; x < w; ++x) {
    const float inverse = 1.0f / (float)(rows * count(x, w));
    out[x] = inverse * (a[x] * (d[x] - zero) + b[x]) + zero;
  }
}

}  // namespace

void polish(const float* d, float* out, int h, int w, float eps, int threads) {
  struct Scratch {
    Planes fits;
    std::vector<float> sums;
  };
  auto make = [&] { return Scratch{Planes(kRows + 2 * kRadius, w), std::vector<float>((size_t)4 * w)}; };
  parallel_for((h + kRows - 1) / kRows, threads, make, [&](int block, Scratch& s) {
    const int y0 = block * kRows, y1 = std::min(y0 + kRows, h);
    const int top = std::max(y0 - kRadius, 0), bottom = std::min(y1 + kRadius, h);
    const float zero = d[(size_t)y0 * w + w / 2];
    for (int y = top; y < bottom; ++y)
      fit_row(d, h, w, y, zero, eps, s.sums.data(), s.fits.row(0, y - top), s.fits.row(1, y - top));
    for (int y = y0; y < y1; ++y) {
      const int first = std::max(y - kRadius, 0) - top, last = std::min(y + kRadius, h - 1) - top;
      apply_row(s.fits, first, last, d + (size_t)y * w, zero, s.sums.data(), out + (size_t)y * w);
    }
  });
}

}  // namespace dualpix
