#include "baselines/tiles.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kAbreast = 4;  // vectors of pixels that share the load of a tap

struct Tap {
  std::ptrdiff_t at;  // offset from the pixel in a padded view
  float weight;
};

// The taps of a convolution that are not 0: k(v, u) is multiplied by the pixel (y - v, x - u).
void append_taps(const Kernel& k, std::ptrdiff_t stride, float sign, std::vector<Tap>& taps) {
  const float* weight = k.taps;
  for (int v = -k.half_h; v <= k.half_h; ++v)
    for (int u = -k.half_w; u <= k.half_w; ++u, ++weight)
      if (*weight != 0) taps.push_back({-v * stride - u, sign * *weight});
}

// e += taps * view for N vectors of pixels. The last vector has `last` lanes.
template <int N>
DUALPIX_INLINE void convolve(const float* view, const std::vector<Tap>& taps, int last, vfloat (&e)[N]) {
  for (const Tap& tap : taps)
    for (int i = 0; i < N; ++i) e[i] += tap.weight * load(view + tap.at + i * kLanes, i + 1 < N ? kLanes : last);
}

// Adds e and e^2 of n pixels, n > (N - 1) kLanes, to the sums of their columns.
template <int N>
DUALPIX_INLINE void add_pixels(const float* left, const float* right, const std::vector<Tap>& left_taps,
                               const std::vector<Tap>& right_taps, int n, float* sums, float* squares) {
  vfloat e[N] = {};
  const int last = n - (N - 1) * kLanes;
  convolve(left, left_taps, last, e);
  convolve(right, right_taps, last, e);
  for (int i = 0; i < N; ++i) {
    store(sums + i * kLanes, load(sums + i * kLanes) + e[i]);
    store(squares + i * kLanes, load(squares + i * kLanes) + e[i] * e[i]);
  }
}

DUALPIX_CLONES void add_row(const float* left, const float* right, const std::vector<Tap>& left_taps,
                            const std::vector<Tap>& right_taps, int w, float* sums, float* squares) {
  int x = 0;
  for (; x + kAbreast * kLanes <= w; x += kAbreast * kLanes)
    add_pixels<kAbreast>(left + x, right + x, left_taps, right_taps, kAbreast * kLanes, sums + x, squares + x);
  for (; x < w; x += kLanes)
    add_pixels<1>(left + x, right + x, left_taps, right_taps, std::min(kLanes, w - x), sums + x, squares + x);
}

void sum_up(const std::vector<float>& columns, int w, int tile, float* out) {
  for (int x0 = 0, x1; x0 < w; x0 = x1, ++out) {
    x1 = (int)std::min<long long>((long long)x0 + tile, w);
    *out = 0;
    for (int x = x0; x < x1; ++x) *out += columns[x];
  }
}

}  // namespace

void tile_sums(const float* left, const float* right, const Kernel& k_left, const Kernel& k_right, float* sums,
               float* squares, int h, int w, int margin, int tile, int threads) {
  const std::ptrdiff_t stride = (std::ptrdiff_t)w + 2 * margin;
  std::vector<Tap> left_taps, right_taps;
  append_taps(k_left, stride, 1, left_taps);
  append_taps(k_right, stride, -1, right_taps);

  using Row = std::vector<float>;
  const size_t columns = (size_t)w + kLanes;
  const int across = (w - 1) / tile + 1, down = (h - 1) / tile + 1;
  auto rows = [&] { return std::make_pair(Row(columns), Row(columns)); };
  parallel_for(down, threads, rows, [&](int i, std::pair<Row, Row>& scratch) {
    auto& [e, e2] = scratch;
    std::fill(e.begin(), e.end(), 0.0f);
    std::fill(e2.begin(), e2.end(), 0.0f);
    const int y1 = (int)std::min<long long>((i + 1LL) * tile, h);
    for (int y = i * tile; y < y1; ++y) {
      const std::ptrdiff_t row = (y + margin) * stride + margin;
      add_row(left + row, right + row, left_taps, right_taps, w, e.data(), e2.data());
    }
    sum_up(e, w, tile, sums + (size_t)i * across);
    sum_up(e2, w, tile, squares + (size_t)i * across);
  });
}

}  // namespace dualpix
