// Fast bilateral solver: the map that is close to the data and smooth among pixels alike in place and colour.
#pragma once

#include "filters/grid.h"

namespace dualpix {

// out minimises  lambda sum W_pq (y_p - y_q)^2 + sum c_p (y_p - d_p)^2,  W the bistochastic bilateral weights, among
// maps that live on the vertices of a bilateral grid. The guide has 1 plane (luma) or 3 (luma and two chromas). NaN
// where no chain of links leads to any data.
void bilateral_solver(const Measured& in, float* out, const CellSize& size, float lambda, int iterations, int threads);

}  // namespace dualpix
