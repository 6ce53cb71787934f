// The matching cost of blocks of 2 x 2 pixels, for windows that are much larger than a block.
#pragma once

#include <vector>

#include "match/cost.h"

namespace dualpix {

// The number of blocks of a side, 1 or 2, along n pixels. The last may be cut off by the end of the image.
inline int blocks(int n, int side) { return (n + side - 1) / side; }

// The mean differences of the blocks in columns [s.x0, s.x1) and rows [y0, y1) of blocks, padded at the ends of the
// image and smoothed along x; s.left, s.right, s.w and s.d are those of the pixels. Row y0 + i goes to out + i * stride.
// The stride is a multiple of kWide and at least x1 - x0; values after the first x1 - x0 are undefined. Only for sad
// and ssd.
void smooth_blocks(const Strip& s, int h, int y0, int y1, Cost cost, const Window& window, int stride,
                   std::vector<float>& scratch, float* out);

}  // namespace dualpix
