// Covariances of two views in every tile. A small shift between the views is computed from them.
#pragma once

namespace dualpix {

constexpr int kMostSide = 32;
constexpr int kTerms = 6;

// C = the kTerms x kTerms covariances, for every whole tile of side x side pixels, of the six terms
//   E = L - R,  M_x,  M_y,  M,  x M,  y M
// with M = (L + R) / 2, its differences M_x and M_y over two pixels, and x, y from the middle of the tile. The tiles
// leave out the outermost pixels of the h x w image: there are (h - 2) / side rows of (w - 2) / side tiles.
void tile_covariances(const float* left, const float* right, double* C, int h, int w, int side, int threads);

}  // namespace dualpix
