// Fast bilateral solver: a map close to the data and smooth where pixels are near each other and similar in colour.
#pragma once

#include "filters/grid.h"

namespace dualpix {

// out = y, the minimiser of
//   lambda sum W_pq (y_p - y_q)^2 + sum c_p (y_p - d_p)^2
// on the vertices of a bilateral grid, with the bistochastic bilateral weights W and the confidence c. The guide has 1
// plane (luma) or 3 (luma and two chromas). NaN where no chain of neighbours leads to data.
void bilateral_solver(const Measured& in, float* out, const CellSize& size, float lambda, int iterations, int threads);

}  // namespace dualpix
