// Regions of a map: small ones removed, holes filled. What is not finite is a hole.
#pragma once

namespace dualpix {

// Regions of pixels that hang together from neighbour to neighbour, of four, by differences of at most `step`, become
// NaN in `map` if they have fewer than `size` pixels.
void remove_speckles(float* map, int h, int w, int size, float step);

// Holes of `map` grow shut, a ring of pixels at a time: a pixel becomes the median of its neighbours, of eight, that are
// there; of an even number the lower, since what is hidden lies behind. A map with no data at all stays as it is.
void fill_holes(float* map, int h, int w);

}  // namespace dualpix
