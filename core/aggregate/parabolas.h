// Operations on single parabolas: priors before the aggregation, confidence after it.
#pragma once

#include <cstddef>
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
// lowers every curvature below Ta to at most 1e-4 Ta. The vertex stays.
void condition(float* alpha, float* beta, int h, int w, const float* divisor, const std::vector<Prior>& priors,
               float Ta, int threads);

// most = the confidence A' / (A' + sure) of every pixel, 0 where textured is 0. A' is the curvature A reduced by the
// spread of the disparities around the pixel: 1 / A' = 1 / A + (most - least)^2 / 12. textured is 0 or 1.
void confidence(const float* A, float* most, const float* least, const unsigned char* textured, size_t count, float sure,
                int threads);

}  // namespace dualpix
