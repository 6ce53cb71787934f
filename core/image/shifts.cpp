#include "image/shifts.h"

#include <algorithm>
#include <cstddef>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

// One pixel after the other in each of kLanes sums, so that the order is the same on every CPU.
struct Sums {
  double of[kLanes] = {};
  double total() const {
    double sum = 0;
    for (double lane : of) sum += lane;
    return sum;
  }
};

// The unexplained variance of the tile L with the tile R.
DUALPIX_CLONES double unexplained(const float* L, const float* R, int w, int side, double alike) {
  Sums l, r, ll, rr, lr;
  for (int y = 0; y < side; ++y, L += w, R += w)
    for (int x = 0; x < side; x += kLanes)
      for (int lane = 0; lane < std::min(kLanes, side - x); ++lane) {
        const double a = L[x + lane], b = R[x + lane];
        l.of[lane] += a;
        r.of[lane] += b;
        ll.of[lane] += a * a;
        rr.of[lane] += b * b;
        lr.of[lane] += a * b;
      }
  const double n = (double)side * side, mean_l = l.total() / n, mean_r = r.total() / n;
  const double v_l = ll.total() / n - mean_l * mean_l, v_r = std::max(rr.total() / n - mean_r * mean_r, 0.0) + alike;
  const double c = std::max(lr.total() / n - mean_l * mean_r, 0.0);
  return std::max(v_l - c * c / v_r, 0.0);
}

}  // namespace

void tile_shifts(const float* left, const float* right, double* rest, int h, int w, int side, int reach, double alike,
                 int threads) {
  const int down = h / side, across = w / side;
  const size_t tiles = (size_t)down * across;
  parallel_for((int)tiles, threads, [] { return 0; }, [&](int i, int) {
    const int y = i / across * side, x = i % across * side;
    const float *L = left + (size_t)y * w + x, *R = right + (size_t)y * w + x;
    const double still = unexplained(L, R, w, side, alike);
    double along_x = still, along_y = still;
    for (int s = std::max(-reach, -x); s <= std::min(reach, w - side - x); ++s)
      along_x = std::min(along_x, unexplained(L, R + s, w, side, alike));
    for (int s = std::max(-reach, -y); s <= std::min(reach, h - side - y); ++s)
      along_y = std::min(along_y, unexplained(L, R + (ptrdiff_t)s * w, w, side, alike));
    rest[i] = still;
    rest[tiles + i] = along_x;
    rest[2 * tiles + i] = along_y;
  });
}

}  // namespace dualpix
