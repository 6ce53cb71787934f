#include "image/confidence.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/half.h"
#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 16;  // rows of a task

DUALPIX_CLONES void fill_part(float* sigma, const unsigned char* textured, int n, float value) {
  for (int i = 0; i < n; ++i) sigma[i] = textured[i] ? sigma[i] : value;
}

DUALPIX_CLONES void confidence_part(const float* sigma, const unsigned char* textured, float* confidence, int n,
                                    float sure) {
  for (int i = 0; i < n; ++i) {
    const float s = sigma[i] / sure;
    confidence[i] = (float)textured[i] / (1 + s * s);
  }
}

DUALPIX_CLONES void doubt_part(const float* d, float* map, int n, float least, float most, float value) {
  for (int i = 0; i < n; ++i) map[i] = (d[i] < least) | (d[i] > most) ? value : map[i];
}

DUALPIX_CLONES void clip_part(const float* d, float* out, int n, float low, float high) {
  for (int i = 0; i < n; ++i) {
    const float raised = d[i] < low ? low : d[i];
    out[i] = raised > high ? high : raised;
  }
}

constexpr float kLeastSign = 1e-30f, kMostSign = 1e30f;  // log2 takes normal numbers

// log2 of the match's error: the logarithms of its signs, weighted by their exponents.
DUALPIX_INLINE vfloat log_match(const std::vector<Sign>& signs, float log2_scale, size_t at, int n) {
  vfloat sum = splat(log2_scale);
  for (const Sign& sign : signs) {
    const vfloat value = load(sign.map + at, n) + sign.floor;
    sum += sign.exponent * log2(min(max(value, splat(kLeastSign)), splat(kMostSign)));
  }
  return sum;
}

// `away` is the square of the distance from the middle of the picture: along y, and along x for every column.
DUALPIX_CLONES void error_row(const std::vector<Sign>& signs, size_t row, float log2_scale, const LensError& lens,
                              float away_y, const float* away_x, float* sigma, int w) {
  for (int x = 0; x < w; x += kLanes) {
    const int n = w - x < kLanes ? w - x : kLanes;
    const vfloat match = exp2(min(log_match(signs, log2_scale, row + x, n), splat(60.0f)));
    const vfloat off = lens.factor * (away_y + load(away_x + x, n));
    store(sigma + x, match * match + (off * off + lens.middle * lens.middle), n);
  }
  for (int x = 0; x < w; ++x) sigma[x] = std::sqrt(sigma[x]);
}

// Whether all of d lies in low..high.
DUALPIX_CLONES bool within(const float* d, int n, float low, float high) {
  int outside = 0;
  for (int i = 0; i < n; ++i) outside |= !(d[i] >= low && d[i] <= high);
  return !outside;
}

// Calls body(begin, m) for parts so small that most of them need no change.
template <class Body>
void parallel_small_parts(size_t n, int threads, const Body& body) {
  constexpr int kSmall = 1 << 12;
  parallel_pixels(n, threads, [&](size_t at, int m) {
    for (int i = 0; i < m; i += kSmall) body(at + i, std::min(kSmall, m - i));
  });
}

DUALPIX_CLONES void offsets_row(const float* A, const uint16_t* vertex, const float* d, float* weight, float* apart, int n,
                                int step, float farthest) {
  for (int i = 0; i < n; ++i) {
    const int x = i * step;
    const float off = float_of(vertex[x]) - d[x], near = off < farthest ? off : farthest;
    weight[i] = vertex[x] == kHalfMinusInfinity ? 0.0f : A[x];
    apart[i] = weight[i] * (near > -farthest ? near : -farthest);
  }
}

DUALPIX_CLONES double sum_part(const float* values, int n) {
  double sums[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane];
  double sum = 0;
  for (; i < n; ++i) sum += values[i];
  for (double lane : sums) sum += lane;
  return sum;
}

}  // namespace

void expected_error(const std::vector<Sign>& signs, float scale, const LensError& lens, float* sigma, int h, int w,
                    int step, int threads) {
  std::vector<float> away(w);
  for (int x = 0; x < w; ++x) away[x] = ((float)x * step - lens.x0) * ((float)x * step - lens.x0);
  parallel_for((h + kRows - 1) / kRows, threads, [] { return 0; }, [&](int block, int) {
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      const float down = (float)y * step - lens.y0;
      const size_t row = (size_t)y * w;
      error_row(signs, row, std::log2(scale), lens, down * down, away.data(), sigma + row, w);
    }
  });
}

void weigh_offsets(const float* A, const uint16_t* vertex, const float* d, float* weight, float* apart, int h, int w,
                   int step, float farthest, int threads) {
  const int rows = (h + step - 1) / step, columns = (w + step - 1) / step;
  parallel_for((rows + kRows - 1) / kRows, threads, [] { return 0; }, [&](int block, int) {
    for (int y = block * kRows; y < std::min(rows, (block + 1) * kRows); ++y) {
      const size_t in = (size_t)y * step * w, out = (size_t)y * columns;
      offsets_row(A + in, vertex + in, d + in, weight + out, apart + out, columns, step, farthest);
    }
  });
}

void fill_untextured(float* sigma, const unsigned char* textured, size_t n, float value, int threads) {
  parallel_small_parts(n, threads, [&](size_t at, int m) {
    if (std::memchr(textured + at, 0, m)) fill_part(sigma + at, textured + at, m, value);
  });
}

void confidence_of(const float* sigma, const unsigned char* textured, float* confidence, size_t n, float sure,
                   int threads) {
  parallel_pixels(n, threads, [&](size_t at, int m) {
    confidence_part(sigma + at, textured + at, confidence + at, m, sure);
  });
}

void limit(float* d, float* confidence, float* sigma, size_t n, float low, float high, float beyond, int threads) {
  const float least = low - beyond, most = high + beyond;
  parallel_small_parts(n, threads, [&](size_t at, int m) {
    if (within(d + at, m, low, high)) return;
    doubt_part(d + at, confidence + at, m, least, most, 0);
    if (sigma) doubt_part(d + at, sigma + at, m, least, most, high - low);
    clip_part(d + at, d + at, m, low, high);
  });
}

double mean(const float* values, size_t n, int threads) {
  constexpr size_t kPart = 1 << 16;
  std::vector<double> sums((n + kPart - 1) / kPart);
  parallel_for((int)sums.size(), threads, [] { return 0; }, [&](int i, int) {
    sums[i] = sum_part(values + i * kPart, (int)std::min(kPart, n - i * kPart));
  });
  double sum = 0;
  for (double part : sums) sum += part;
  return sum / (double)n;
}

}  // namespace dualpix
