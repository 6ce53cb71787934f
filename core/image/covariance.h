// How two views vary together, tile by tile: what a small shift between them is found from.
#pragma once

namespace dualpix {

constexpr int kMostSide = 32;
constexpr int kTerms = 6;

// The covariances, kTerms x kTerms, of E = L - R, the slopes M_x and M_y of M = (L + R) / 2 over two pixels, M, x M and
// y M in every whole tile of side x side pixels, x and y being counted from its middle. Tiles begin one pixel inside
// of the h x w image and end one pixel before its end: (h - 2) / side by (w - 2) / side of them, row by row.
void tile_covariances(const float* left, const float* right, double* C, int h, int w, int side, int threads);

}  // namespace dualpix
