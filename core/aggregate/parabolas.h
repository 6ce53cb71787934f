// What happens to every parabola on its own: before the aggregation and after it.
#pragma once

#include <cstddef>
#include <vector>

namespace dualpix {

// What is known about a pixel beforehand: a parabola A, B each, whose weight in the sum is
//   weight / (1 + A / limit),
// so that no prior counts more than the curvature `limit`: its errors are not those of noise alone.
struct Prior {
  const float *A, *B;
  int factor;           // 1: maps of the same size; 2: of the coarser scale, ceil(h/2) x ceil(w/2)
  float weight;
  float inverse_limit;  // 1 / limit, 0 for no limit
};

// In place: divides alpha and beta by the border's divisor (one a column), adds the priors in their order, and lowers
// every curvature below Ta to at most 1e-4 Ta. The vertex of such a parabola stays.
void condition(float* alpha, float* beta, int h, int w, const float* divisor, const std::vector<Prior>& priors,
               float Ta, int threads);

// How far to trust pixels of curvature A, in `most`, given the most and the least disparity around them: the curvature
// for a confidence of 1/2 is `sure`. 0 where textured is 0, else it is 1.
void confidence(const float* A, float* most, const float* least, const unsigned char* textured, size_t count, float sure,
                int threads);

}  // namespace dualpix
