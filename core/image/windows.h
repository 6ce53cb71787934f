// Windows around pixels, and means of areas. Sums are in double and in a fixed order.
#pragma once

namespace dualpix {

// out = image weighted with the taps along x and y, mirrored at the borders. Tap n / 2 of n lies at the pixel.
void smooth(const float* image, float* out, int h, int w, const double* taps, int n, int threads);

// out = largest minus smallest value in the window of `side` pixels around a pixel, as far as it lies in the image.
void spread(const float* d, float* out, int h, int w, int side, int threads);

// out = the image with fewer rows and columns: each pixel is the mean of the area it covers.
void shrink(const float* image, float* out, int h, int w, int rows, int columns, int threads);

}  // namespace dualpix
