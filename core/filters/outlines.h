// Outlines that follow the picture.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dualpix {

// The weighted median of 7 x 7 pixels of the map, two apart, around every pixel near a depth edge; elsewhere out = d. Near
// means that these pixels span more than `step`. A neighbour q counts by its brightness I in the guide:
//   w = 1 / (1 + (I_p - I_q)^2 / (4 sigma^2))^4
// and the median is the least of the disparities m for which those above m weigh no more than the others. It is found to
// 1/256 of what the window spans. If the pixels before and behind the middle of that span are about as bright, a pixel
// before it does not become farther: a thin thing would be lost. Outside the map its outermost pixels are repeated. d and out are distinct h x w maps of finite numbers.
void follow_outlines(const float* d, const uint8_t* guide, float* out, int h, int w, float sigma, float step, int threads);

// bytes = the nearest whole number to plane, 0 to 255.
void to_bytes(const float* plane, uint8_t* bytes, size_t count, int threads);

}  // namespace dualpix
