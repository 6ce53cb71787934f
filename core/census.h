// The census transform: a pixel as the signs of its differences from its neighbours.
#pragma once

namespace dualpix {

// A code of 24 bits a pixel, as a whole float: bit k is set where neighbour k of the 5 x 5 is darker than the pixel.
// The image goes on beyond its ends with the last pixel. Gain, offset and any rising curve of the camera change nothing.
void census(const float* image, float* codes, int h, int w, int threads);

}  // namespace dualpix
