// The local term: matching cost, streamed over disparities, to one parabola a pixel.
#pragma once

#include "match/cost.h"

namespace dualpix {

enum class Subpixel { parabola, histeq, encc };

constexpr int kBiasSteps = 21;  // the bias table covers x = -1, -0.9 ... 1

constexpr int kTile = 96;  // px, the side of the squares that are matched at once

struct Matching {
  Cost cost;
  int first, count;       // the integer disparities first .. first + count - 1; count >= 3
  const int* ranges;      // the same two numbers for each tile, within these, row by row of tiles; null is all for all
  Window window;
  Subpixel subpixel;
  const float* bias;      // kBiasSteps values, for histeq
  int encc_window;        // side of the window, odd, for encc
  const float* encc_left;  // the images that encc correlates
  const float* encc_right;
  float ratio_threshold;  // Tq
  float noise_floor;      // curvature is measured against C(d0) + this; 0 leaves it as it is
};

// alpha, beta of the cost C(d) around its minimum, scaled by the confidence in it. All maps are h x w. The cost volume
// is never stored: a tile's running minima stay in cache while d runs.
void match(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Matching& options,
           int threads);

// The least and the greatest disparity of the coarser scale (ceil(h/2) x ceil(w/2)) in each tile of the finer one, h x w,
// and up to `reach` coarse pixels around it: one of each a tile, row by row of tiles.
void tile_extremes(const float* d, int coarse_h, int coarse_w, int reach, float* least, float* most, int threads);

}  // namespace dualpix
