// Grey planes and the Gaussian pyramid.
#pragma once

#include <cstddef>
#include <limits>

namespace dualpix {

// From pixel values to a plane. The defaults change nothing.
struct Tone {
  float scale = 1;
  float black = 0;                                       // subtracted after scaling
  float most = std::numeric_limits<float>::infinity();   // upper bound; the lower bound is 0
  float gamma = 1, full = 1;                             // full (v / full)^gamma

  bool bounded() const { return black != 0 || most < std::numeric_limits<float>::infinity(); }
};

// plane = the tone of sum_c weights[c] * pixels[c], for `channels` interleaved channels. Without black level and upper
// bound, the lower bound holds only with a gamma.
template <class T>
void to_plane(const T* pixels, float* plane, size_t count, int channels, const float* weights, const Tone& tone,
              int threads);

// out = the image at half size, ceil(h/2) x ceil(w/2): filtered by 1 4 6 4 1 with symmetric borders. Pixel i of out
// lies at pixel 2 i of in.
void pyramid_down(const float* in, float* out, int h, int w, int threads);

// out = the image at twice the size, h x w, by linear interpolation; or out += that. Pixel i of in, which is ceil(h/2) x
// ceil(w/2), lies at pixel 2 i of out. Pixels of out beyond the last one of in take its value.
void pyramid_up(const float* in, float* out, int h, int w, bool add, int threads);

// A part of an image of height x width pixels, that begins at row top and column left. It has every step-th pixel.
struct Part {
  int height, width, top, left, step;
};

// plane *= the grid of rows x columns, enlarged to the size of the whole image by linear interpolation. The plane, h x w,
// is a part of that image.
void multiply(float* plane, int h, int w, const float* grid, int rows, int columns, Part part, int threads);

// plane *= factor
void scale(float* plane, size_t count, float factor, int threads);

// The largest value; NaN does not count. Minus infinity if there is none.
float largest(const float* plane, size_t count, int threads);

// out = every step-th pixel of every step-th row of h x w pixels.
void sample(const float* in, float* out, int h, int w, int step, int threads);

}  // namespace dualpix
