// How sure a map is, pixel by pixel.
#pragma once

#include <cstddef>

namespace dualpix {

// In place: sigma = value where there is no texture.
void fill_untextured(float* sigma, const unsigned char* textured, size_t n, float value, int threads);

// confidence = textured / (1 + (sigma / sure)^2)
void confidence_of(const float* sigma, const unsigned char* textured, float* confidence, size_t n, float sure,
                   int threads);

// In place: clips d to low..high. Where it lay outside by more than `beyond`, confidence = 0, and sigma = high - low;
// sigma may be null.
void limit(float* d, float* confidence, float* sigma, size_t n, float low, float high, float beyond, int threads);

// The mean of n values. It does not depend on the number of threads.
double mean(const float* values, size_t n, int threads);

}  // namespace dualpix
