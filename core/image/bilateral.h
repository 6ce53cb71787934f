// The detail of an image: the image minus its edge-preserving smoothing.
#pragma once

namespace dualpix {

// out = I - bilateral(I) on a 0..255 scale, over a disc of radius 7, with symmetric borders:
//   bilateral(I)_p = sum_q w I_q / sum_q w,   w = exp(-|p - q|^2 / (2 3^2)) exp(-(I_p - I_q)^2 / (2 20^2))
void subtract_bilateral(const float* image, float* out, int h, int w, int threads);

}  // namespace dualpix
