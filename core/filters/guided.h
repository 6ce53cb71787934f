// Guided filter: every window fits the map by a linear function of the guide's colours; fits that overlap are averaged.
#pragma once

#include "filters/measured.h"

namespace dualpix {

// out = the filtered map; NaN where no window of 2 radius + 1 pixels that holds the pixel has any data. Windows are cut
// at the border. The guide has 1 or 3 planes; eps is what its variance in a window is compared with.
void guided_filter(const Measured& in, float* out, int radius, float eps, int threads);

}  // namespace dualpix
