// Enhanced normalised cross-correlation: where between whole disparities the correlation of two windows peaks.
#pragma once

#include <cstddef>
#include <vector>

namespace dualpix {

// Part of an image: columns [x0, x1), rows [y0, y1).
struct Extent {
  int x0, x1, y0, y1;
};

// Windows of n x n pixels, n odd, around the pixels of one tile; images go on beyond their ends with the last pixel.
// Sums over windows are made by doubling, exact to rounding and O(log n) a pixel. One is made per thread.
class Encc {
 public:
  // For tiles of up to rows x columns pixels and so many disparities.
  Encc(int n, int rows, int columns, int most);

  // For the disparities first .. first + count - 1.
  void start(const float* left, const float* right, int h, int w, const Extent& tile, int first, int count);

  // |L - R_d|^2 of the zero-mean windows L around x and R_d around x - d, for every pixel of the tile.
  void measure(int d);
  const float* distances(int y) const { return row(distance_, y); }

  // For `count` pixels of row y, from x = 0 on, x and y counted from the tile's corner: the offset from
  // d = first + index, in [-1, 1], at which the window interpolated between those at d and d + 1, or d - 1, correlates
  // best with the left one, given the distances at d - 1, d and d + 1. Where the window has no texture it is NaN.
  void peaks(int y, int count, const float* index, const float* before, const float* at, const float* after,
             float* offset) const;

 private:
  using Plane = std::vector<float>;  // rows of stride_ values
  float* row(Plane& plane, int y) { return plane.data() + (size_t)y * stride_; }
  const float* row(const Plane& plane, int y) const { return plane.data() + (size_t)y * stride_; }
  void sum_windows(Plane& plane, int width);

  int n_, stride_, first_ = 0, count_ = 0;
  Extent tile_ = {};
  Plane left_, right_;                       // the images, less the tile's mean, where the windows reach
  Plane left_sum_, sum_, step_sum_;          // sums over the window of L, R and D with D(x) = R(x - 1) - R(x)
  Plane left_norm_, norm_, step_norm_;       // |.|^2 of the same, less their means
  Plane distance_, scratch_, row_a_, row_b_;
};

// The same for one disparity a pixel: d, whole, moves by its offset. Where a window has no texture, textured is 0 and d
// stays. O(n^2) a pixel; maps are h x w.
void refine(const float* left, const float* right, float* d, unsigned char* textured, int h, int w, int n, int threads);

}  // namespace dualpix
