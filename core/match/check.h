// The left-right check: the disparities of the two views must agree. What they do not confirm is doubted.
#pragma once

#include <cstdint>

namespace dualpix {

// consistent is 1 where the left disparity d at x and the right disparity at the pixel nearest to x - d differ by at
// most `most` px, else 0: also where the right one is NaN or x - d lies outside the image. Maps are h x w.
void check_views(const float* left, const float* right, unsigned char* consistent, int h, int w, float most,
                 int threads);

struct Doubt {
  float most;       // px that the disparities of the two views may differ by
  float trust;      // of what is doubted
  float low, high;  // ends of the range of disparities
};

// Numbers of pixels: with a minimum, confirmed, and confirmed within 1 px of each end.
struct Confirmed {
  int64_t matched, confirmed, low, high;
};

// A pixel is confirmed if it has a minimum (curvature > 0), the views are consistent, and it is no speckle: there
// `sure` is NaN. The trust S of all others becomes that of what is doubted.
Confirmed confirm(const float* d, const float* curvature, const float* right, const float* sure, float* S, int h, int w,
                  const Doubt& doubt, int threads);

// The parabolas with their minimum at d: alpha = S curvature, beta = -2 alpha d.
void weaken(const float* d, const float* curvature, const float* S, float* alpha, float* beta, int h, int w,
            int threads);

}  // namespace dualpix
