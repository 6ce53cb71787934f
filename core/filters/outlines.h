// Outlines that follow the picture.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dualpix {

// The weighted median of 5 x 5 pixels of the map d, three apart, around every pixel at a depth edge, in place. At an edge
// means that these pixels span more than `step`. A pixel q counts by its brightness I in the guide:
//   w = 1 / (1 + (I_p - I_q)^2 / (4 sigma^2))^4
// and the median is the least of the disparities m for which those above m weigh no more than the others. It is found to
// 1/1024 of what the window spans. If the pixels nearer and farther than the middle of that span are about as bright, a
// pixel nearer than it does not become farther: a thin thing would be lost. Where the median is not the pixel's own
// disparity, the pixel gets the median of the 3 x 3 results around it. Outside the map its outermost pixels are repeated.
// d and room are distinct h x w maps of finite numbers; room is overwritten.
void follow_outlines(float* d, const uint8_t* guide, float* room, int h, int w, float sigma, float step, int threads);

// A map takes over what changed in a small one: where after is not before, d = after. A pixel of the small maps stands for
// a block of `every` x `every` pixels of d. d is h x w, before and after are ceil(h / every) x ceil(w / every).
void take_changes(float* d, const float* before, const float* after, int h, int w, int every, int threads);

// bytes = the nearest whole number to plane, 0 to 255.
void to_bytes(const float* plane, uint8_t* bytes, size_t count, int threads);

}  // namespace dualpix
