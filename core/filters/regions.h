// Regions of a map: small ones removed, holes filled. What is_data() denies is a hole.
#pragma once

namespace dualpix {

// Regions of pixels that hang together from neighbour to neighbour, of four, by differences of at most `step`, become
// NaN in `map` if they have fewer than `size` pixels.
void remove_speckles(float* map, int h, int w, int size, float step);

// Holes of `map` grow shut, a ring of pixels at a time: a pixel becomes the median of those of its eight neighbours
// that are there; of an even number the lower, since what is hidden lies behind. A map without data stays as it is.
void fill_holes(float* map, int h, int w);

}  // namespace dualpix
