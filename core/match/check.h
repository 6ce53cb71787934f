// The left-right check: what one view sees, the other must see too.
#pragma once

namespace dualpix {

// consistent is 1 where the right view's disparity at x - d, to the nearest pixel, differs from the left view's d at x
// by at most `most` px; 0 where it differs by more, is NaN, or lies outside. Maps are h x w.
void check_views(const float* left, const float* right, unsigned char* consistent, int h, int w, float most,
                 int threads);

}  // namespace dualpix
