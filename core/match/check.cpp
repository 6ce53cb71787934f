#include "match/check.h"

#include <cmath>
#include <cstddef>

#include "common/parallel.h"

namespace dualpix {

void check_views(const float* left, const float* right, unsigned char* consistent, int h, int w, float most,
                 int threads) {
  parallel_for(h, threads, [] { return 0; }, [&](int y, int) {
    const size_t row = (size_t)y * w;
    for (int x = 0; x < w; ++x) {
      const float d = left[row + x], at = std::nearbyint((float)x - d);
      const bool inside = at >= 0 && at < (float)w;
      consistent[row + x] = inside && std::fabs(d - right[row + (size_t)at]) <= most;
    }
  });
}

}  // namespace dualpix
