// Lens blur of a photo with known defocus.
#pragma once

#include <cstdint>

#include "render/defocus.h"
#include "render/spots.h"

namespace dualpix {

// A photo of h x w pixels with 1 or 3 channels of uint8, uint16 or float in [0, 1].
template <class T>
struct Photo {
  const T* pixels;
  int h, w, channels;
  bool linear;  // the values are linear light, not sRGB
};

// Every pixel spreads its light over its spot. Slices of equal defocus are laid over each other, near ones over far ones.
// With the pixels i of slice b, their colours c_i and spots K_i, at each pixel p, the nearest slice first:
//   cover_b(p)  = sum_i K_i(p - i)             light_b(p) = sum_i c_i K_i(p - i)
//   seen_b      = max(0, 1 - sum of cover_a)   over the slices a >= b + kHiding
//   out         = sum_b seen_b light_b / sum_b seen_b cover_b
// A pixel with background behind it (find_background) adds a second one, with the colour and the code of that sample.
// Outside its borders the picture is mirrored. The map and `out` have the size of the photo.
template <class T>
void refocus(const Photo<T>& photo, const Defocus& defocus, const Openings& openings, T* out, int threads);

extern template void refocus(const Photo<uint8_t>&, const Defocus&, const Openings&, uint8_t*, int);
extern template void refocus(const Photo<uint16_t>&, const Defocus&, const Openings&, uint16_t*, int);
extern template void refocus(const Photo<float>&, const Defocus&, const Openings&, float*, int);

}  // namespace dualpix
