// The left-right check: the disparities of the two views must agree.
#pragma once

namespace dualpix {

// consistent is 1 where the left disparity d at x and the right disparity at the pixel nearest to x - d differ by at
// most `most` px, else 0: also where the right one is NaN or x - d lies outside the image. Maps are h x w.
void check_views(const float* left, const float* right, unsigned char* consistent, int h, int w, float most,
                 int threads);

}  // namespace dualpix
