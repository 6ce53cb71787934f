// Regions of a map: small regions are removed, holes are filled. A hole is where is_data() is false.
#pragma once

namespace dualpix {

// A pixel and one of its four neighbours belong to the same region if they differ by at most `step`. Regions with fewer
// than `size` pixels become NaN.
void remove_speckles(float* map, int h, int w, int size, float step);

// Holes are filled ring by ring: a pixel becomes the median of its valid neighbours, eight at most. For an even number
// it is the lower of the middle two, since occluded surfaces lie behind. A map without data does not change.
void fill_holes(float* map, int h, int w);

}  // namespace dualpix
