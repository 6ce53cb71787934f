// The images of points out of focus, for every code of defocus.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "render/defocus.h"

namespace dualpix {

// The opening of the lens as lines across the unit disc: line k lies at v = (2 k + 1 - lines) / lines and is open from
// chords[0][k] to chords[1][k]. There may be one opening, or a grid of rows x columns over the picture.
struct Openings {
  const float* chords;  // rows x columns x 2 x lines
  int rows, columns, lines;
};

// One weight of a spot, and its place in an array whose rows are `stride` pixels apart.
struct Tap {
  int offset;
  float weight;
};

// The image of a point in row 0, column 0. Its mass is 1. If it is `summed`, its taps are differences along the row:
// the weights are their running sums. There are few of them, since they are 0 inside the spot.
struct Spot {
  int top = 0;  // the first row
  bool summed = false;
  std::vector<int> start;  // row top + i has the taps start[i] .. start[i + 1] - 1
  std::vector<Tap> taps;
};

// Spots of codes up to this, which are the slices -1 to 1, are not summed: what is in focus stays exact.
constexpr int kDense = kSlice + kSlice / 2;

// A grid of openings has thousands of spots, and a picture uses few of them, so each is made when it is first needed.
class Spots {
 public:
  // For the codes 0 to `largest`. The openings must stay.
  Spots(const Openings& openings, int largest, int stride);

  // The number of a spot: at a pixel of a picture of h x w pixels, for a signed code. Behind the focus, spots are
  // reflected through their origin, which is what the opposite place of the picture has.
  int number(int x, int y, int h, int w, int code) const;
  // Makes a spot, which must be done before it is used. Several threads may ask for the same one.
  void make(int number);
  const Spot& operator[](int number) const { return spots_[number]; }

 private:
  const Openings openings_;
  float extent_;
  int codes_, stride_;
  std::vector<Spot> spots_;
  std::unique_ptr<std::once_flag[]> made_;
};

// How far the openings extend from the origin, in radii of the disc; 1 at least.
float extent_of(const Openings& openings);

// How far a spot of openings of this extent reaches from its origin, in whole pixels.
int spot_reach(float extent, int code);

}  // namespace dualpix
