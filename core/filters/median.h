// Weighted median: of the values around a pixel, most from pixels that look like it.
#pragma once

#include "filters/measured.h"

namespace dualpix {

// out = the smallest value of the window of 2 radius + 1 pixels, cut at the border, such that the values up to it have
// half the weight or more; weight is confidence * exp(-|I_p - I_q|^2 / (2 sigma^2)). NaN where the window has no data.
void weighted_median(const Measured& in, float* out, int radius, float sigma, int threads);

}  // namespace dualpix
