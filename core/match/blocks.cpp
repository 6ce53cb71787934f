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

// The means of n blocks in two rows of pixels, all of them inside of both images, n >= kLanes.
template <class F>
DUALPIX_INLINE void mean_inside(const float* l, const float* r, int w, int n, float* mean, const F& difference) {
  for (int i = 0; i < n; i += kLanes) {
    const int at = 2 * std::min(i, n - kLanes);  // the last vector may overlap the one before
    vfloat sum[2];
    for (int k = 0; k < 2; ++k) {
      const float *a = l + at + k * kLanes, *b = r + at + k * kLanes;
      sum[k] = difference(load(a), load(b)) + difference(load(a + w), load(b + w));
    }
    store(mean + at / 2, 0.25f * pair_sums(sum[0], sum[1]));
  }
}

DUALPIX_CLONES void mean_absolute_inside(const float* l, const float* r, int w, int n, float* mean) {
  mean_inside(l, r, w, n, mean, [](vfloat a, vfloat b) __attribute__((always_inline)) {
    return (vfloat)((vint)(a - b) & 0x7fffffff);  // without its sign
  });
}

DUALPIX_CLONES void mean_squared_inside(const float* l, const float* r, int w, int n, float* mean) {
  mean_inside(l, r, w, n, mean, [](vfloat a, vfloat b) __attribute__((always_inline)) { return (a - b) * (a - b); });
}

// The means of the row's neighbours, weighted by the window: out(x) for x in [0, width).
DUALPIX_CLONES void smooth_row(const float* row, const Window& window, int width, float* out) {
  auto at = [=](int x) __attribute__((always_inline)) { return load_as<vwide>(row + x); };
  for (int x = 0; x < width; x += kWide) {
    vwide s = window.taps[0] * at(x);
    for (int k = 1; k <= window.half; ++k) s += window.taps[k] * (at(x - k) + at(x + k));
    store_as(out + x, s);
  }
}

}  // namespace

void smooth_blocks(const Strip& s, int h, int y0, int y1, Cost cost, const Window& window, int stride,
                   std::vector<float>& scratch, float* out) {
  const int half = window.half, across = blocks(s.w, 2);
  const int x0 = std::max(s.x0 - half, 0), x1 = std::min(s.x1 + half, across), n = x1 - x0;
  // Vectors may be read and written beyond the end of a row.
  const size_t pixels = (size_t)2 * n + 2 * kLanes, between = (size_t)stride + 2 * half + kWide;
  scratch.resize(pixels + between);
  float *sum = scratch.data(), *mean = scratch.data() + pixels + half;  // mean(0) is column s.x0 of the blocks
  for (int y = y0; y < y1; ++y, out += stride) {
    const int top = 2 * y, bottom = std::min(top + 2, h);
    const size_t begin = (size_t)top * s.w;
    const Strip strip = {s.left + begin, s.right + begin, s.w, s.d, 2 * x0, std::min(2 * x1, s.w)};
    const bool inside = strip.inside0() == 2 * x0 && strip.inside1() == 2 * x1;
    if (inside && bottom - top == 2 && n >= kLanes) {
      const auto means_inside = cost == Cost::sad ? mean_absolute_inside : mean_squared_inside;
      means_inside(strip.left + 2 * x0, strip.right + 2 * x0 - s.d, s.w, n, mean + x0 - s.x0);
    } else {
      std::fill(sum, sum + pixels, 0.0f);
      for (int row = 0; row < bottom - top; ++row) {
        const Strip own = {strip.left + (size_t)row * s.w, strip.right + (size_t)row * s.w, s.w, s.d, strip.x0, strip.x1};
        cost == Cost::sad ? add_absolute(own, sum) : add_squared(own, sum);
      }
      means(sum, n, 0.5f / (bottom - top), mean + x0 - s.x0);
      if (2 * x1 > s.w) mean[x1 - 1 - s.x0] *= 2;  // the last block has one column
    }
    for (int x = s.x0 - half; x < x0; ++x) mean[x - s.x0] = mean[padded(x, across, cost) - s.x0];
    for (int x = x1; x < s.x1 + half; ++x) mean[x - s.x0] = mean[padded(x, across, cost) - s.x0];
    smooth_row(mean, window, s.x1 - s.x0, out);
  }
}

}  // namespace dualpix
