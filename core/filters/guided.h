// Guided filter: in every window the map is fitted by a linear function of the guide's colours. Overlapping fits are
// averaged.
#pragma once

#include "filters/measured.h"

namespace dualpix {

// out = the filtered map, NaN where no window that contains the pixel has data. Windows have a side of 2 radius + 1
// pixels and are cut at the border. The guide has 1 or 3 planes. eps is added to its variance in a window.
void guided_filter(const Measured& in, float* out, int radius, float eps, int threads);

}  // namespace dualpix
