// The difference of two filtered views in every tile, for the local baselines.
#pragma once

namespace dualpix {

// The (2 half_h + 1) x (2 half_w + 1) taps of a convolution, with the origin in the middle.
struct Kernel {
  const float* taps;
  int half_h, half_w;
};

// The sums of e = k_left * L - k_right * R and of e^2 over every tile of tile x tile pixels. Tiles at the right and at
// the bottom may be smaller. The views are h x w with `margin` more pixels on each side; the kernels must not reach
// further.
void tile_sums(const float* left, const float* right, const Kernel& k_left, const Kernel& k_right, float* sums,
               float* squares, int h, int w, int margin, int tile, int threads);

}  // namespace dualpix
