#include "match/check.h"

#include <cmath>
#include <cstddef>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

DUALPIX_INLINE bool consistent_at(int x, float d, const float* right, int w, float most) {
  const float at = std::nearbyint((float)x - d);
  const bool inside = at >= 0 && at < (float)w;
  return inside && std::fabs(d - right[(size_t)at]) <= most;
}

DUALPIX_CLONES void check_row(const float* left, const float* right, unsigned char* consistent, int w, float most) {
  for (int x = 0; x < w; ++x) consistent[x] = consistent_at(x, left[x], right, w, most);
}

// One row of confirm; returns its numbers of pixels.
DUALPIX_CLONES Confirmed confirm_row(const float* d, const float* curvature, const float* right, const float* sure,
                                     float* S, int w, const Doubt& doubt) {
  int matched = 0, confirmed = 0, low = 0, high = 0;
  for (int x = 0; x < w; ++x) {
    const bool minimum = curvature[x] > 0;
    const bool good = minimum && !std::isnan(sure[x]) && consistent_at(x, d[x], right, w, doubt.most);
    if (!good) S[x] = doubt.trust;
    matched += minimum;
    confirmed += good;
    low += good && std::fabs(d[x] - doubt.low) <= 1;
    high += good && std::fabs(d[x] - doubt.high) <= 1;
  }
  return {matched, confirmed, low, high};
}

}  // namespace

void check_views(const float* left, const float* right, unsigned char* consistent, int h, int w, float most,
                 int threads) {
  parallel_for(h, threads, [] { return 0; }, [&](int y, int) {
    const size_t row = (size_t)y * w;
    check_row(left + row, right + row, consistent + row, w, most);
  });
}

Confirmed confirm(const float* d, const float* curvature, const float* right, const float* sure, float* S, int h, int w,
                  const Doubt& doubt, int threads) {
  std::atomic<int64_t> matched{0}, confirmed{0}, low{0}, high{0};
  parallel_for(h, threads, [] { return 0; }, [&](int y, int) {
    const size_t row = (size_t)y * w;
    const Confirmed n = confirm_row(d + row, curvature + row, right + row, sure + row, S + row, w, doubt);
    matched += n.matched;
    confirmed += n.confirmed;
    low += n.low;
    high += n.high;
  });
  return {matched, confirmed, low, high};
}

void weaken(const float* d, const float* curvature, const float* S, float* alpha, float* beta, int h, int w,
            int threads) {
  parallel_pixels((size_t)h * w, threads, [&](size_t begin, int n) {
    for (size_t p = begin; p < begin + n; ++p) {
      const float weakened = curvature[p] * S[p];
      alpha[p] = weakened;
      beta[p] = -2.0f * weakened * d[p];
    }
  });
}

}  // namespace dualpix
