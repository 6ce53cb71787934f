// How far out of focus every pixel is, as a small integer, and what lies behind the edges of near objects.
#pragma once

#include <cstdint>

namespace dualpix {

// The code of a signed blur radius r in px, r > 0 in front of the focus:
//   code = round(80 asinh(r / 8))
// Near focus a step of 1 is 0.1 px. Beyond 8 px the steps grow with the radius.
constexpr float kCodes = 80, kLinear = 8;
constexpr int kMostRadius = 256;  // px
constexpr int kMostCode = 333;    // the code of kMostRadius

// Pixels of one slice are blurred together. A slice hides those that lie two or more behind it. A nearer one is the same
// surface.
constexpr int kSlice = 5;   // codes
constexpr int kHiding = 2;  // slices
constexpr int kEdge = kHiding * kSlice;  // codes; a larger step between neighbouring pixels is a depth edge

inline int slice_of(int code) { return (code + kMostCode * kSlice + kSlice / 2) / kSlice - kMostCode; }

float radius_of(int code);

// A blur radius for every pixel, r = gain (d - focus).
struct Defocus {
  const float* d;  // finite
  float focus, gain;
};

// The codes of a map of h x w pixels. Radii are limited to kMostRadius.
void defocus_codes(const Defocus& defocus, int16_t* codes, int h, int w, int threads);

// The four directions in which background is looked for: left, right, up, down.
constexpr int kAcross[4] = {-1, 1, 0, 0}, kDown[4] = {0, 0, -1, 1};

// For every pixel, where to take the background that it hides: 4 * distance + direction, or 0 if it hides nothing that
// could be seen.
//
// The last pixel of the background before a depth edge is its foot; a ramp of several edges has one. A pixel looks for
// the nearest foot that is more than kEdge farther than itself, along its row and column, at most as far as the blur of
// both reaches. The background is mirrored at the foot if its surface continues there. Otherwise the foot is repeated.
void find_background(const int16_t* codes, int16_t* behind, int h, int w, int threads);

}  // namespace dualpix
