// Where there is texture.
#pragma once

namespace dualpix {

// out = 1 where A > 0 somewhere in the window of `side` pixels around a pixel, or where coarser, ceil(h/2) x ceil(w/2),
// is 1 (nullptr: nowhere). Else 0.
void near_texture(const float* A, const unsigned char* coarser, unsigned char* out, int h, int w, int side, int threads);

}  // namespace dualpix
