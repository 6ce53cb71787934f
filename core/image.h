// Grey planes, the Gaussian pyramid, and the coefficients of the local parabolas made ready for aggregation.
#pragma once

#include <cstddef>
#include <vector>

namespace dualpix {

// plane = scale * sum_c weights[c] * pixels[c], for `channels` interleaved channels.
template <class T>
void to_plane(const T* pixels, float* plane, size_t count, int channels, const float* weights, float scale,
              int threads);

// v = scale v^gamma in place, 0 where v is not above 0.
void power(float* plane, size_t count, float gamma, float scale, int threads);

// How far to trust pixels of curvature A, in `most`, given the most and the least disparity around them: the curvature
// for a confidence of 1/2 is `sure`. 0 where textured is 0, else it is 1.
void confidence(const float* A, float* most, const float* least, const unsigned char* textured, size_t count, float sure,
                int threads);

// Half size by 1 4 6 4 1 with symmetric borders: out(i) lies at in(2 i). out is ceil(h/2) x ceil(w/2).
void pyramid_down(const float* in, float* out, int h, int w, int threads);

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

}  // namespace dualpix
