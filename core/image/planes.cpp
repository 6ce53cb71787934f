#include "image/planes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "common/mirror.h"
#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 32;  // rows of a task

// sum_c weights[c] * pixels[c]. `known` is the number of channels at compile time, 0 if unknown.
template <class T, int known>
DUALPIX_INLINE void weigh_pixels(const T* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  if (known) channels = known;
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int c = 0; c < channels; ++c) sum += weights[c] * (float)pixels[(size_t)i * channels + c];
    plane[i] = scale * sum;
  }
}

template <class T>
DUALPIX_INLINE void weigh_any(const T* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  if (channels == 3)
    weigh_pixels<T, 3>(pixels, plane, n, channels, weights, scale);
  else if (channels == 1)
    weigh_pixels<T, 1>(pixels, plane, n, channels, weights, scale);
  else
    weigh_pixels<T, 0>(pixels, plane, n, channels, weights, scale);
}

DUALPIX_CLONES void weigh(const uint8_t* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  weigh_any(pixels, plane, n, channels, weights, scale);
}

DUALPIX_CLONES void weigh(const uint16_t* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  weigh_any(pixels, plane, n, channels, weights, scale);
}

DUALPIX_CLONES void weigh(const float* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  weigh_any(pixels, plane, n, channels, weights, scale);
}

DUALPIX_CLONES void bound(float* plane, int n, float black, float most) {
  for (int i = 0; i < n; ++i) plane[i] = std::min(std::max(plane[i] - black, 0.0f), most);
}

// v = scale v^gamma = 2^(gamma log2 v + log2 scale), 0 where v <= 0
DUALPIX_CLONES void raise(float* plane, int count, float gamma, float log2_scale) {
  for (int x = 0; x < count; x += kLanes) {
    const int n = std::min(count - x, kLanes);
    const vfloat v = load(plane + x, n);
    const vfloat power = min(gamma * log2(v) + log2_scale, splat(127.9f));
    store(plane + x, select(v > 0, exp2(power), vfloat{}), n);
  }
}

// out = or += the mean of two rows at twice the width: out[2 i] = m[i], out[2 i + 1] = (m[i] + m[i + 1]) / 2.
DUALPIX_CLONES void double_row(const float* row, const float* next, float* m, float* out, int w, bool add) {
  const int half = (w + 1) / 2;
  for (int x = 0; x < half; ++x) m[x] = 0.5f * (row[x] + next[x]);
  m[half] = m[half - 1];
  if (!add) std::fill(out, out + w, 0.0f);
  for (int x = 0; x < w / 2; ++x) {
    out[2 * x] += m[x];
    out[2 * x + 1] += 0.5f * (m[x] + m[x + 1]);
  }
  if (w % 2) out[w - 1] += m[half - 1];
}

DUALPIX_CLONES void weigh_five_rows(const float* const rows[5], float* out, int w) {
  for (int x = 0; x < w; ++x)
    out[x] = (rows[0][x] + rows[4][x] + 4 * (rows[1][x] + rows[3][x]) + 6 * rows[2][x]) * (1.0f / 16);
}

// Weighs the pixels of a row by 1 4 6 4 1 and keeps every second, count in all.
DUALPIX_CLONES void halve_row(const float* row, float* out, int count) {
  for (int i = 0; i < count; ++i) {
    const float* p = row + 2 * i;
    out[i] = (p[-2] + p[2] + 4 * (p[-1] + p[1]) + 6 * p[0]) * (1.0f / 16);
  }
}

void pyramid_row(const float* in, float* out, float* padded, int y, int h, int w) {
  const float* rows[5];
  for (int k = 0; k < 5; ++k) rows[k] = in + (size_t)mirror(2 * y + k - 2, h) * w;
  float* row = padded + 2;
  weigh_five_rows(rows, row, w);
  for (int k = 1; k <= 2; ++k) {
    row[-k] = row[mirror(-k, w)];
    row[w - 1 + k] = row[mirror(w - 1 + k, w)];
  }
  halve_row(row, out, (w + 1) / 2);
}

// Pixel x of n lies at (x + 1/2) m / n - 1/2 of the m pixels of a grid: t of the way from pixel low to pixel high.
struct Between {
  int low, high;
  float t;

  Between() = default;
  Between(int x, int n, int m) {
    const double place = std::min(std::max((x + 0.5) * ((double)m / n) - 0.5, 0.0), m - 1.0);
    low = std::min((int)place, std::max(m - 2, 0));
    high = std::min(low + 1, m - 1);
    t = (float)(place - low);
  }
  float mixed(float at_low, float at_high) const { return at_low * (1 - t) + at_high * t; }
};

DUALPIX_CLONES void scale_part(float* plane, int n, float factor) {
  for (int i = 0; i < n; ++i) plane[i] *= factor;
}

DUALPIX_CLONES float largest_part(const float* plane, int n) {
  vfloat most = splat(-std::numeric_limits<float>::infinity());
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) most = max(load(plane + i), most);
  float found = most[0];
  for (int lane = 1; lane < kLanes; ++lane) found = std::max(found, most[lane]);
  for (; i < n; ++i) found = plane[i] > found ? plane[i] : found;
  return found;
}

DUALPIX_CLONES void widen(const float* grid, const Between* across, float* row, int w) {
  for (int x = 0; x < w; ++x) row[x] = across[x].mixed(grid[across[x].low], grid[across[x].high]);
}

DUALPIX_CLONES void multiply_row(float* plane, const Between& at, const float* low, const float* high, int w) {
  for (int x = 0; x < w; ++x) plane[x] *= at.mixed(low[x], high[x]);
}

}  // namespace

template <class T>
void to_plane(const T* pixels, float* plane, size_t count, int channels, const float* weights, const Tone& tone,
              int threads) {
  const float log2_scale = (1 - tone.gamma) * std::log2(tone.full);
  parallel_pixels(count, threads, [&](size_t begin, int n) {
    float* part = plane + begin;
    weigh(pixels + begin * channels, part, n, channels, weights, tone.scale);
    if (tone.bounded()) bound(part, n, tone.black, tone.most);
    if (tone.gamma != 1) raise(part, n, tone.gamma, log2_scale);
  });
}

template void to_plane(const uint8_t*, float*, size_t, int, const float*, const Tone&, int);
template void to_plane(const uint16_t*, float*, size_t, int, const float*, const Tone&, int);
template void to_plane(const float*, float*, size_t, int, const float*, const Tone&, int);

void pyramid_up(const float* in, float* out, int h, int w, bool add, int threads) {
  const int rows = (h + 1) / 2, columns = (w + 1) / 2;
  using Row = std::vector<float>;
  parallel_for((h + kRows - 1) / kRows, threads, [&] { return Row(columns + 1); }, [&](int block, Row& mean) {
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      const float *row = in + (size_t)(y / 2) * columns, *next = y % 2 && y / 2 + 1 < rows ? row + columns : row;
      double_row(row, next, mean.data(), out + (size_t)y * w, w, add);
    }
  });
}

void pyramid_down(const float* in, float* out, int h, int w, int threads) {
  const int out_h = (h + 1) / 2, out_w = (w + 1) / 2;
  using Row = std::vector<float>;
  parallel_for((out_h + kRows - 1) / kRows, threads, [&] { return Row(w + 4); }, [&](int block, Row& padded) {
    for (int y = block * kRows; y < std::min(out_h, (block + 1) * kRows); ++y)
      pyramid_row(in, out + (size_t)y * out_w, padded.data(), y, h, w);
  });
}

void multiply(float* plane, int h, int w, const float* grid, int rows, int columns, Part part, int threads) {
  std::vector<Between> across(w);
  for (int x = 0; x < w; ++x) across[x] = Between(part.left + part.step * x, part.width, columns);
  // The two rows of the grid around a row of the plane, at the width of the plane.
  struct Wide {
    std::vector<float> low, high;
    int at;
  };
  auto make_wide = [&] { return Wide{std::vector<float>(w), std::vector<float>(w), -1}; };
  parallel_for((h + kRows - 1) / kRows, threads, make_wide, [&](int block, Wide& wide) {
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      const Between at(part.top + part.step * y, part.height, rows);
      if (wide.at != at.low) {
        widen(grid + (size_t)at.low * columns, across.data(), wide.low.data(), w);
        widen(grid + (size_t)at.high * columns, across.data(), wide.high.data(), w);
        wide.at = at.low;
      }
      multiply_row(plane + (size_t)y * w, at, wide.low.data(), wide.high.data(), w);
    }
  });
}

void scale(float* plane, size_t count, float factor, int threads) {
  parallel_pixels(count, threads, [&](size_t begin, int n) { scale_part(plane + begin, n, factor); });
}

float largest(const float* plane, size_t count, int threads) {
  std::mutex mutex;
  float most = -std::numeric_limits<float>::infinity();
  parallel_pixels(count, threads, [&](size_t begin, int n) {
    const float part = largest_part(plane + begin, n);
    std::lock_guard<std::mutex> lock(mutex);
    most = std::max(most, part);
  });
  return most;
}

void sample(const float* in, float* out, int h, int w, int step, int threads) {
  const int rows = (h + step - 1) / step, columns = (w + step - 1) / step;
  parallel_for((rows + kRows - 1) / kRows, threads, [] { return 0; }, [&](int block, int) {
    for (int y = block * kRows; y < std::min(rows, (block + 1) * kRows); ++y)
      for (int x = 0; x < columns; ++x) out[(size_t)y * columns + x] = in[(size_t)y * step * w + (size_t)x * step];
  });
}

}  // namespace dualpix
