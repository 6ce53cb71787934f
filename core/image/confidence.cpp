#include "image/confidence.h"

#include <vector>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

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

DUALPIX_CLONES void clip_part(float* d, int n, float low, float high) {
  for (int i = 0; i < n; ++i) {
    const float raised = d[i] < low ? low : d[i];
    d[i] = raised > high ? high : raised;
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

void fill_untextured(float* sigma, const unsigned char* textured, size_t n, float value, int threads) {
  parallel_pixels(n, threads, [&](size_t at, int m) { fill_part(sigma + at, textured + at, m, value); });
}

void confidence_of(const float* sigma, const unsigned char* textured, float* confidence, size_t n, float sure,
                   int threads) {
  parallel_pixels(n, threads, [&](size_t at, int m) {
    confidence_part(sigma + at, textured + at, confidence + at, m, sure);
  });
}

void limit(float* d, float* confidence, float* sigma, size_t n, float low, float high, float beyond, int threads) {
  const float least = low - beyond, most = high + beyond;
  parallel_pixels(n, threads, [&](size_t at, int m) {
    doubt_part(d + at, confidence + at, m, least, most, 0);
    if (sigma) doubt_part(d + at, sigma + at, m, least, most, high - low);
    clip_part(d + at, m, low, high);
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
