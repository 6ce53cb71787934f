// find_candidates for the census cost over a box: a sum of bits is a small whole number, so running sums are exact.
#pragma once

#include "match/candidates.h"

namespace dualpix {

// True if the cost is census, the window a box of up to 5 x 5 pixels, and there are fewer than 2^15 disparities.
bool in_whole_numbers(const Search& options);

// What find_candidates does, for options that are in_whole_numbers.
void find_in_whole_numbers(const float* left, const float* right, const Found& found, int h, int w,
                           const Search& options, int threads);

}  // namespace dualpix
