// Weighted median: pixels with a similar colour have a greater weight.
#pragma once

#include "filters/measured.h"

namespace dualpix {

// out = the smallest value v of the window for which the values up to v have at least half the weight. The weight is
// confidence * exp(-|I_p - I_q|^2 / (2 sigma^2)). Windows have a side of 2 radius + 1 pixels and are cut at the border.
// NaN where the window has no data.
void weighted_median(const Measured& in, float* out, int radius, float sigma, int threads);

}  // namespace dualpix
