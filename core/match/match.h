// The local term: one parabola a pixel, fitted to the matching cost around its minimum.
#pragma once

#include "match/cost.h"

namespace dualpix {

enum class Subpixel { parabola, histeq, encc };

constexpr int kBiasSteps = 21;  // the bias table covers x = -1, -0.9 ... 1

constexpr int kTile = 96;  // px, side of the square tiles that are matched one by one

struct Matching {
  Cost cost;
  int first, count;       // the integer disparities first .. first + count - 1; count >= 3
  const int* ranges;      // first, count of every tile, inside the common range, row by row; null: the common range
  int side;               // px, side of the blocks that share a cost: 1, or 2 for sad and ssd
  Window window;          // its taps are blocks
  Subpixel subpixel;
  const float* bias;      // kBiasSteps values, for histeq
  int encc_window;        // side of the window of encc, odd
  const float* encc_left;  // the images that encc correlates
  const float* encc_right;
  float ratio_threshold;  // Tq
  float noise_floor;      // the curvature is divided by C(d0) + noise_floor; 0: it is not divided
};

// alpha, beta of the cost C(d) around its minimum, scaled by the confidence S in it. All maps are h x w. The cost
// volume is never stored: only the running minima of a tile are, and they stay in the cache. All pixels of a block have
// the same cost: the mean of their differences, smoothed by the window. With encc, their sub-pixel offsets are their own.
void match(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Matching& options,
           int threads);

// The minimum and maximum of the coarse map d in every tile of the scale that is twice as fine, and up to `reach`
// coarse pixels around it: one value a tile, row by row.
void tile_extremes(const float* d, int coarse_h, int coarse_w, int reach, float* least, float* most, int threads);

}  // namespace dualpix
