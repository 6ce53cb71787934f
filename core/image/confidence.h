// How sure a map is, pixel by pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dualpix {

// What tells about the error of a match: a map, and what is added to it.
struct Sign {
  const float* map;
  float floor, exponent;
};

// The squared error of the lens at row y and column x is (factor ((y - y0)^2 + (x - x0)^2))^2 + middle^2.
struct LensError {
  float factor, middle, y0, x0;
};

// sigma^2 = (scale * product of (sign + floor)^exponent)^2 + (error of the lens)^2, for h x w pixels whose rows and
// columns lie `step` apart. sign + floor is finite; below 1e-30 it counts as 1e-30.
void expected_error(const std::vector<Sign>& signs, float scale, const LensError& lens, float* sigma, int h, int w,
                    int step, int threads);

// At every step-th pixel of every step-th row of h x w pixels: weight = A, 0 where the vertex (a half float) is minus infinity,
// and apart = weight * (vertex - d), where a vertex that lies farther away than `farthest` counts as this far.
void weigh_offsets(const float* A, const uint16_t* vertex, const float* d, float* weight, float* apart, int h, int w,
                   int step, float farthest, int threads);

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
