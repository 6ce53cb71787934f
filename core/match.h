// The local term: matching cost, streamed over disparities, to one parabola a pixel.
#pragma once

namespace dualpix {

// What a pixel costs at disparity d, from L(x) and R(x - d), R being 0 outside the image; W* is the window's mean:
//   sad   W*|L - R|
//   ssd   W*(L - R)^2
//   ncc   1 - W*(L R) / sqrt(W*L^2 W*R^2)
//   zncc  the same of the images less their means over the window
//   bt    W* the Birchfield-Tomasi distance, which half a pixel between the two samplings does not change
// Beyond its ends the difference goes on mirrored, for bt with its last value.
enum class Cost { sad, ssd, ncc, zncc, bt };
enum class Subpixel { parabola, histeq, encc };

constexpr int kBiasSteps = 21;  // the bias table covers x = -1, -0.9 ... 1

struct Matching {
  Cost cost;
  int first, count;       // the integer disparities first .. first + count - 1; count >= 3
  const float* taps;      // centre tap and one side of the symmetric window: half + 1 values
  int half;
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

}  // namespace dualpix
