// The left-right check: the disparities of the two views must agree.
#pragma once

namespace dualpix {

// With the left view's disparity d at x: consistent is 1 where the right view's disparity at the pixel nearest to x - d
// differs from d by at most `most` px, 0 where it differs by more, is NaN or lies outside the image. Maps are h x w.
void check_views(const float* left, const float* right, unsigned char* consistent, int h, int w, float most,
                 int threads);

}  // namespace dualpix
