#include "match/blocks.h"

namespace dualpix {

namespace {

// Adds |L(x) - R(x - d)| or its square to sum(x - x0), for x in [x0, x1). R is 0 outside the image.
template <class F>
DUALPIX_INLINE void add(const Strip& s, float* sum, const F& difference) {
  const int inside0 = s.inside0(), inside1 = s.inside1(), d = s.d;
  const float *left = s.left, *right = s.right;
  for (int x = s.x0; x < inside0; ++x) sum[x - s.x0] += difference(left[x], 0.0f);
#pragma GCC ivdep
  for (int x = inside0; x < inside1; ++x) sum[x - s.x0] += difference(left[x], right[x - d]);
  for (int x = inside1; x < s.x1; ++x) sum[x - s.x0] += difference(left[x], 0.0f);
}

DUALPIX_CLONES void add_absolute(const Strip& s, float* sum) {
  add(s, sum, [](float l, float r) __attribute__((always_inline)) { return __builtin_fabsf(l - r); });
}

DUALPIX_CLONES void add_squared(const Strip& s, float* sum) {
  add(s, sum, [](float l, float r) __attribute__((always_inline)) { return (l - r) * (l - r); });
}

// mean(i) = inverse (sum(2 i) + sum(2 i + 1)), for n blocks
DUALPIX_CLONES void means(const float* sum, int n, float inverse, float* mean) {
  for (int i = 0; i < n; i += kLanes) store(mean + i, inverse * pair_sums(load(sum + 2 * i), load(sum + 2 * i + kLanes)));
}

// The means of the row's neighbours, weighted by the window: out(x) for x in [0, width).
DUALPIX_CLONES void smooth_row(const float* row, const Window& window, int width, float* out) {
  for (int x = 0; x < width; x += kLanes) {
    vfloat s = window.taps[0] * load(row + x);
    for (int k = 1; k <= window.half; ++k) s += window.taps[k] * (load(row + x - k) + load(row + x + k));
    store(out + x, s);
  }
}

}  // namespace

void smooth_blocks(const Strip& s, int h, int y0, int y1, Cost cost, const Window& window, int stride,
                   std::vector<float>& scratch, float* out) {
  const int half = window.half, across = blocks(s.w, 2);
  const int x0 = std::max(s.x0 - half, 0), x1 = std::min(s.x1 + half, across), n = x1 - x0;
  // Vectors may be read and written beyond the end of a row.
  const size_t pixels = (size_t)2 * n + 2 * kLanes, between = (size_t)stride + 2 * half + 2 * kLanes;
  scratch.resize(pixels + between);
  float *sum = scratch.data(), *mean = scratch.data() + pixels + half;  // mean(0) is column s.x0 of the blocks
  for (int y = y0; y < y1; ++y, out += stride) {
    const int top = 2 * y, bottom = std::min(top + 2, h);
    std::fill(sum, sum + pixels, 0.0f);
    for (int row = top; row < bottom; ++row) {
      const size_t begin = (size_t)row * s.w;
      const Strip strip = {s.left + begin, s.right + begin, s.w, s.d, 2 * x0, std::min(2 * x1, s.w)};
      cost == Cost::sad ? add_absolute(strip, sum) : add_squared(strip, sum);
    }
    means(sum, n, 0.5f / (bottom - top), mean + x0 - s.x0);
    if (2 * x1 > s.w) mean[x1 - 1 - s.x0] *= 2;  // the last block has one column
    for (int x = s.x0 - half; x < x0; ++x) mean[x - s.x0] = mean[padded(x, across, cost) - s.x0];
    for (int x = x1; x < s.x1 + half; ++x) mean[x - s.x0] = mean[padded(x, across, cost) - s.x0];
    smooth_row(mean, window, s.x1 - s.x0, out);
  }
}

}  // namespace dualpix
