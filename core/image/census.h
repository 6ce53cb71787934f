// The census transform: a pixel as the signs of its differences from its neighbours.
#pragma once

namespace dualpix {

// A code of 24 bits a pixel, as a whole float: bit k is set where neighbour k of the 5 x 5 is darker than the pixel, by
// more than noise. The image goes on beyond its ends with the last pixel. What differs in brightness, but not in which
// of two pixels is the darker, has the same codes.
void census(const float* image, float* codes, int h, int w, int threads);

}  // namespace dualpix
