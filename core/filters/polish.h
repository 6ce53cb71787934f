// Smoothing of small steps and ridges.
#pragma once

namespace dualpix {

// The guided filter of a map by itself, in windows of 5 x 5 pixels, cut at the border. With mean m and variance v of the
// window around each pixel,
//   a = v^2 / (v^2 + eps^2),  b = (1 - a) m,  out = mean(a) d + mean(b), clipped to low..high
// The squares make the change from smoothed to kept sharper than v / (v + eps), so thin things lose less height. Steps
// well below sqrt(eps) are smoothed, larger ones stay. If `minus` is not null, it is subtracted then. All are distinct h x w
// maps of finite numbers.
void polish(const float* d, const float* minus, float* out, int h, int w, float eps, float low, float high, int threads);

}  // namespace dualpix
