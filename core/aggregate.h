// Continuous cost aggregation: parabola coefficients carried along straight image paths.
#pragma once

namespace dualpix {

struct Aggregation {
  float penalty;     // P
  float edge_sigma;  // sigma of the edge weight, in the guide's units
  int paths;         // 4 (along rows and columns) or 8 (and the diagonals)
  float scale;       // what the sums are multiplied by: 1, or 1 / paths between iterations
};

// A, B = scale * sum over paths of the aggregated alpha, beta. Inputs and outputs are distinct h x w maps.
// Every pixel's arithmetic is the same whatever the thread count.
void aggregate(const float* alpha, const float* beta, const float* guide, float* A, float* B, int h, int w,
               const Aggregation& options, int threads);

}  // namespace dualpix
