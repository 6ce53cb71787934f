// Semi-global matching (Hirschmueller 2008) over the whole cost volume, a baseline.
#pragma once

#include "match/cost.h"

namespace dualpix {

constexpr float kMostPenalty = 127.0f;

struct SemiGlobal {
  int first, count;  // the integer disparities first .. first + count - 1
  Window window;     // of the Birchfield-Tomasi cost
  float P1, P2;      // cost of a step of 1, and of a larger step; in intensities, 0 <= P1 <= P2 <= kMostPenalty
};

// d = the disparity that minimises the sum of eight path costs, refined by the parabola through its neighbours. Maps
// are h x w. Pixel costs are clipped at 255 and, like P1 and P2, rounded to sixteenths. Needs 4 bytes for every pixel
// and disparity, with the number of disparities rounded up to a multiple of 16.
void sgm(const float* left, const float* right, float* d, int h, int w, const SemiGlobal& options, int threads);

}  // namespace dualpix
