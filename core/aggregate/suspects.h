// Which matches may be fattened.
#pragma once

#include <cstdint>

namespace dualpix {

// Only something near beside it can make a match too near. So a vertex v counts as at most
//   max(H, d + slack)
// with the highest disparity H within 5 pixels, and d of the pixel itself, both of the first pass. vertex and limited
// are half floats; limited must not be vertex.
void limit_suspects(const uint16_t* vertex, const float* d, uint16_t* limited, int h, int w, float slack, int threads);

}  // namespace dualpix
