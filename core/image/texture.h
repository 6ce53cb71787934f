// Where there is texture.
#pragma once

#include <cstdint>

namespace dualpix {

// out = 1 where A > 0 somewhere in the window of `side` pixels around a pixel, or where coarser, ceil(h/2) x ceil(w/2),
// is 1 (nullptr: nowhere). Else 0.
void near_texture(const float* A, const unsigned char* coarser, unsigned char* out, int h, int w, int side, int threads);

// The same from the vertices of matches: half floats, minus infinity where there is no texture.
void near_texture(const uint16_t* vertex, const unsigned char* coarser, unsigned char* out, int h, int w, int side,
                  int threads);

}  // namespace dualpix
