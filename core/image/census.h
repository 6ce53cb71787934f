// The census transform: which neighbours of a pixel are darker than it.
#pragma once

namespace dualpix {

// codes = a 24-bit code for every pixel, as a whole float. Bit k is set where neighbour k of the 5 x 5 window is darker
// than the pixel by more than noise. The image is padded with its outermost pixels. A change of brightness that keeps
// the order of the pixels keeps the codes.
void census(const float* image, float* codes, int h, int w, int threads);

}  // namespace dualpix
