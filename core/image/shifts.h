// Tiles of the left view explained by the right view, shifted by whole pixels.
#pragma once

namespace dualpix {

// For every whole tile of side x side pixels, the variance of L that remains when the tile is explained by R of another
// place, with a gain of 0 or more and an offset:  v_L - max(c, 0)^2 / (max(v_R, 0) + alike), 0 or more, where c is the
// covariance. rest = three rows of (h / side) * (w / side) tiles: at the same place, and the least of all shifts by up
// to `reach` pixels along x, then along y. Shifts that leave the view do not count.
void tile_shifts(const float* left, const float* right, double* rest, int h, int w, int side, int reach, double alike,
                 int threads);

}  // namespace dualpix
