// Operations on single parabolas: priors before the aggregation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dualpix {

// A prior: a parabola A, B for every pixel, from the coarser scale, a previous frame or a user. It is added with the
// weight
//   weight / (1 + A / limit)
// so that its curvature counts at most weight * limit: the errors of a prior are not only noise.
struct Prior {
  const float *A, *B;
  int factor;           // 1: maps of h x w; 2: maps of the coarser scale, ceil(h/2) x ceil(w/2)
  float weight;
  float inverse_limit;  // 1 / limit, 0 for no limit
};

// In place: divides alpha and beta by the divisor of their column (for the border), adds the priors in their order, and
// lowers every curvature below Ta to at most 1e-4 Ta. The vertex stays. vertex = that of alpha and beta as they come in,
// as half floats, minus infinity where alpha is 0; null: not wanted.
void condition(float* alpha, float* beta, int h, int w, const float* divisor, const std::vector<Prior>& priors,
               float Ta, uint16_t* vertex, int threads);

}  // namespace dualpix
