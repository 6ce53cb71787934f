// How two filtered views differ, tile by tile: what the local baselines compare.
#pragma once

namespace dualpix {

// Taps of a convolution, (2 half_h + 1) x (2 half_w + 1), the origin in the middle.
struct Kernel {
  const float* taps;
  int half_h, half_w;
};

// The sum of e = k_left * L - k_right * R and of e^2 over every tile of tile x tile pixels; those at the right and at
// the bottom are cut. The views are h x w with `margin` more pixels on each side, as many as the kernels reach.
void tile_sums(const float* left, const float* right, const Kernel& k_left, const Kernel& k_right, float* sums,
               float* squares, int h, int w, int margin, int tile, int threads);

}  // namespace dualpix
