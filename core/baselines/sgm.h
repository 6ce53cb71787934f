// Semi-global matching (Hirschmueller 2008) over the whole cost volume: what the streamed method is compared with.
#pragma once

#include "match/cost.h"

namespace dualpix {

constexpr float kMostPenalty = 127.0f;

struct SemiGlobal {
  int first, count;  // the integer disparities first .. first + count - 1
  Window window;     // of the Birchfield-Tomasi cost
  float P1, P2;      // what a step of one, and what any larger one costs; 0 <= P1 <= P2 <= kMostPenalty, in intensities
};

// The disparity that minimises the sum of eight path costs, refined by the parabola through its neighbours; maps are
// h x w. A pixel's cost is bounded by 255, and counted in sixteenths like P1 and P2. Needs 4 bytes for every pixel and
// disparity, the latter rounded up to a multiple of 16.
void sgm(const float* left, const float* right, float* d, int h, int w, const SemiGlobal& options, int threads);

}  // namespace dualpix
