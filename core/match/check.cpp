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

}  // namespace

void check_views(const float* left, const float* right, unsigned char* consistent, int h, int w, float most,
                 int threads) {
  parallel_for(h, threads, [] { return 0; }, [&](int y, int) {
    const size_t row = (size_t)y * w;
    for (int x = 0; x < w; ++x) consistent[row + x] = consistent_at(x, left[row + x], right + row, w, most);
  });
}

Confirmed confirm(const float* d, const float* curvature, const float* right, const float* sure, float* S, int h, int w,
                  const Doubt& doubt, int threads) {
  std::atomic<int64_t> matched{0}, confirmed{0}, low{0}, high{0};
  parallel_for(h, threads, [] { return 0; }, [&](int y, int) {
    const size_t row = (size_t)y * w;
    int counts[4] = {};
    for (int x = 0; x < w; ++x) {
      const size_t p = row + x;
      const bool minimum = curvature[p] > 0;
      const bool good = minimum && !std::isnan(sure[p]) && consistent_at(x, d[p], right + row, w, doubt.most);
      S[p] = good ? S[p] : doubt.trust;
      counts[0] += minimum;
      counts[1] += good;
      counts[2] += good && std::fabs(d[p] - doubt.low) <= 1;
      counts[3] += good && std::fabs(d[p] - doubt.high) <= 1;
    }
    matched += counts[0];
    confirmed += counts[1];
    low += counts[2];
    high += counts[3];
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
