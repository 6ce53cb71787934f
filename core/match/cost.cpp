#include "match/cost.h"

#include "common/mirror.h"
#include "common/rows.h"

namespace dualpix {

namespace {

// Calls f(i, L(x), R(x - d)) for every x = x0 + i, with R = 0 outside the image. f must not write to the images.
template <class F>
DUALPIX_INLINE void for_each(const Strip& s, const F& f) {
  const int inside0 = s.inside0(), inside1 = s.inside1();
  for (int x = s.x0; x < inside0; ++x) f(x - s.x0, s.left[x], 0.0f);
  const float *left = s.left, *right = s.right;
  const int d = s.d;
#pragma GCC ivdep
  for (int x = inside0; x < inside1; ++x) f(x - s.x0, left[x], right[x - d]);
  for (int x = inside1; x < s.x1; ++x) f(x - s.x0, s.left[x], 0.0f);
}

DUALPIX_CLONES void absolute_difference(const Strip& s, float* e) {
  for_each(s, [=](int i, float l, float r) { e[i] = __builtin_fabsf(l - r); });
}

DUALPIX_CLONES void squared_difference(const Strip& s, float* e) {
  for_each(s, [=](int i, float l, float r) { e[i] = (l - r) * (l - r); });
}

// E^2, L^2 - R^2 and E = L - R, after the means are subtracted from the images.
DUALPIX_CLONES void correlation_terms(const Strip& s, float left_mean, float right_mean, float* square, float* energy,
                                      float* e) {
  for_each(s, [=](int i, float l, float r) {
    const float L = l - left_mean, R = r - right_mean, E = L - R;
    square[i] = E * E;
    energy[i] = E * (L + R);
    e[i] = E;
  });
}

// For x in [x0, x1): the minimum and maximum of I(x) and the two values half-way to its neighbours. The image is padded
// with its outermost pixels.
DUALPIX_CLONES void half_way_interval(const float* image, int w, int x0, int x1, float* low, float* high) {
  auto interval = [=](int x, int before, int after) {
    const float a = 0.5f * (image[x] + image[before]), b = 0.5f * (image[x] + image[after]);
    low[x - x0] = std::min(std::min(a, b), image[x]);
    high[x - x0] = std::max(std::max(a, b), image[x]);
  };
  if (x0 == 0 && x1 > 0) interval(0, 0, std::min(1, w - 1));
  for (int x = std::max(x0, 1); x < std::min(x1, w - 1); ++x) interval(x, x - 1, x + 1);
  if (x1 == w && x0 < x1) interval(w - 1, std::max(w - 2, 0), w - 1);
}

// Distance of v from the interval [low, high].
DUALPIX_INLINE float beyond(float v, float low, float high) { return std::max(std::max(v - high, low - v), 0.0f); }

// Birchfield-Tomasi: the smaller of two distances, of R(x - d) from the half-way interval of L at x, and of L(x) from
// the half-way interval of R at x - d. Outside the image the interval of R is [0, 0]. low and high are scratch.
DUALPIX_CLONES void birchfield_tomasi(const Strip& s, float* e, float* low, float* high) {
  half_way_interval(s.left, s.w, s.x0, s.x1, low, high);
  for_each(s, [=](int i, float, float r) { e[i] = beyond(r, low[i], high[i]); });
  const int n = s.x1 - s.x0, inside0 = s.inside0(), inside1 = s.inside1();
  std::fill(low, low + n, 0.0f);
  std::fill(high, high + n, 0.0f);
  if (inside0 < inside1)
    half_way_interval(s.right, s.w, inside0 - s.d, inside1 - s.d, low + inside0 - s.x0, high + inside0 - s.x0);
  for (int i = 0; i < n; ++i) e[i] = std::min(e[i], beyond(s.left[s.x0 + i], low[i], high[i]));
}

// Number of different bits of two whole numbers below 2^24, summed over 2, 4, 8 and all bits.
DUALPIX_INLINE float differing_bits(float l, float r) {
  uint32_t v = (uint32_t)(int32_t)l ^ (uint32_t)(int32_t)r;
  v -= (v >> 1) & 0x555555u;
  v = (v & 0x333333u) + ((v >> 2) & 0x333333u);
  v = (v + (v >> 4)) & 0x0f0f0fu;
  return (float)(int32_t)((v + (v >> 8) + (v >> 16)) & 0x1fu);
}

DUALPIX_CLONES void hamming_distance(const Strip& s, float* e) {
  for_each(s, [=](int i, float l, float r) { e[i] = differing_bits(l, r); });
}

// Smooths n rows of `width` pixels along x. The rows of e have half a window more on both sides and a stride of
// `between`; the rows of out have a stride of `apart`.
DUALPIX_CLONES void smooth_along_rows(const float* e, int between, int n, const Window& window, int width,
                                      float* columns, float* out, int apart) {
  gather(rows_of(e, between), width + 2 * window.half, n, columns, kLanes);
  for (int x = 0; x < width; x += kLanes) {
    vfloat v[kLanes];
    constexpr int kHalf = kLanes / 2;
    for (int j = 0; j < kLanes; j += kHalf) {
      const float* column = columns + (size_t)(x + j + window.half) * kLanes;
      smooth<kHalf>([=](int i) __attribute__((always_inline)) { return load(column + i * kLanes); }, window, v + j);
    }
    transpose(v);
    for (int i = 0; i < n; ++i) store(out + (size_t)i * apart + x, v[i]);
  }
}

// Writes planes(cost) rows of a strip to be smoothed. bt uses the other rows of e as scratch.
void differences(const Strip& s, Cost cost, const Means& means, float* const* e) {
  switch (cost) {
    case Cost::sad: return absolute_difference(s, e[0]);
    case Cost::ssd: return squared_difference(s, e[0]);
    case Cost::census: return hamming_distance(s, e[0]);
    case Cost::bt: return birchfield_tomasi(s, e[0], e[1], e[2]);
    default: return correlation_terms(s, means.left, means.right, e[0], e[1], e[2]);
  }
}

}  // namespace

int padded(int i, int n, Cost cost) {
  return cost == Cost::bt || cost == Cost::census ? std::min(std::max(i, 0), n - 1) : mirror(i, n);
}

void smooth_rows(const Strip& s, int y0, int y1, Cost cost, const Means& means, const Window& window, int stride,
                 std::vector<float>& scratch, float* out) {
  const int half = window.half, x0 = std::max(s.x0 - half, 0), x1 = std::min(s.x1 + half, s.w);
  const int between = stride + 2 * half, apart = planes(cost) * stride;
  scratch.resize((size_t)(kMostPlanes + 1) * kLanes * between);
  float* columns = scratch.data() + (size_t)kMostPlanes * kLanes * between;
  for (int y = y0; y < y1; y += kLanes, out += (size_t)kLanes * apart) {
    const int n = std::min(kLanes, y1 - y);
    for (int i = 0; i < n; ++i) {
      float* e[kMostPlanes];  // e[p][x] is the difference at column x0 + x of the image
      for (int p = 0; p < kMostPlanes; ++p)
        e[p] = scratch.data() + (size_t)(p * kLanes + i) * between + half + x0 - s.x0;
      const size_t row = (size_t)(y + i) * s.w;
      differences({s.left + row, s.right + row, s.w, s.d, x0, x1}, cost, means, e);
      for (int p = 0; p < planes(cost); ++p) {
        for (int x = s.x0 - half; x < x0; ++x) e[p][x - x0] = e[p][padded(x, s.w, cost) - x0];
        for (int x = x1; x < s.x1 + half; ++x) e[p][x - x0] = e[p][padded(x, s.w, cost) - x0];
      }
    }
    for (int p = 0; p < planes(cost); ++p)
      smooth_along_rows(scratch.data() + (size_t)p * kLanes * between, between, n, window, stride, columns,
                        out + p * stride, apart);
  }
}

}  // namespace dualpix
