// Enhanced normalised cross-correlation: the subpixel disparity at which the correlation of two windows is greatest.
#pragma once

#include <cstddef>
#include <vector>

#include "common/aligned.h"

namespace dualpix {

// Part of an image: columns [x0, x1), rows [y0, y1).
struct Extent {
  int x0, x1, y0, y1;
};

// What the sums over n x n pixels, n odd and 3 or more, of rows of up to `width` pixels need: some rows, and for every k the last sums
// of 2^k rows of them.
struct BoxScratch {
  BoxScratch(int n, int width);
  int levels() const { return (int)rings_.size(); }
  // The sums of 2^k rows that ended `ago` rows before row y. The length of a ring is a power of two.
  float* back(int k, int y, int ago) { return rings_[k].data() + (size_t)((y - ago) & (lengths_[k] - 1)) * width_; }

  int n;
  Aligned<float> row, a, b;

 private:
  size_t width_;
  std::vector<int> lengths_;
  std::vector<Aligned<float>> rings_;
};

// Windows of n x n pixels, n odd and 3 or more, around the pixels of one tile. Images are padded with their outermost pixels. Sums
// over windows are built by doubling, in O(log n) a pixel. Every thread has its own object.
class Encc {
 public:
  // For tiles of up to rows x columns pixels and up to `most` disparities.
  Encc(int n, int rows, int columns, int most);

  // Begins a tile with the disparities first .. first + count - 1.
  void start(const float* left, const float* right, int h, int w, const Extent& tile, int first, int count);

  // |L - R_d|^2 of the zero-mean windows L around x and R_d around x - d, for every pixel of the tile.
  void measure(int d);
  const float* distances(int y) const { return row(distance_, y); }

  // For `count` pixels of row y, from x = 0 on, with x and y relative to the corner of the tile: the offset in [-1, 1]
  // from d = first + index at which the window, interpolated between those at d and d + 1 or d - 1, correlates best
  // with the left window. The distances at d - 1, d and d + 1 are given. NaN where the window has no texture.
  void peaks(int y, int count, const float* index, const float* before, const float* at, const float* after,
             float* offset) const;

 private:
  using Plane = Aligned<float>;  // rows of stride_ values
  float* row(Plane& plane, int y) { return plane.data() + (size_t)y * stride_; }
  const float* row(const Plane& plane, int y) const { return plane.data() + (size_t)y * stride_; }
  int n_, stride_, first_ = 0, count_ = 0;
  Extent tile_ = {};
  BoxScratch scratch_;
  Plane left_, right_;                  // the pixels of all windows, minus the mean of the tile
  Plane left_sum_, sum_;                // sums over the window of L and R
  Plane left_norm_, norm_, step_norm_;  // |.|^2 of the zero-mean windows of L, R and D with D(x) = R(x - 1) - R(x)
  Plane distance_;
};

// The same for one whole disparity d a pixel: d moves by its offset. Where the window has no texture, textured is 0 and
// d does not change. O(n^2) a pixel; maps are h x w.
void refine(const float* left, const float* right, float* d, unsigned char* textured, int h, int w, int n, int threads);

}  // namespace dualpix
