// Grey planes, the Gaussian pyramid, and the coefficients of the local parabolas made ready for aggregation.
#pragma once

#include <cstddef>

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

// The prior of the coarser scale (ceil(h/2) x ceil(w/2)): coefficients A, B there, weighted by w. Its curvature is
// limited, 1 / A' = 1 / A + inverse_limit: the more paths it has travelled, the less its errors are those of noise.
struct Prior {
  const float* A = nullptr;
  const float* B = nullptr;
  float weight = 0;
  float inverse_limit = 0;
};

// In place: divides alpha, beta by the border's divisor (one per column), adds the prior, and takes the weight of
// parabolas whose curvature is below Ta down to 1e-4 Ta at most.
void condition(float* alpha, float* beta, int h, int w, const float* divisor, const Prior& prior, float Ta,
               int threads);

}  // namespace dualpix
