// Rows of PNG: the filters are undone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dualpix {

// out = h rows of `stride` bytes. Each row of `in` has one byte more before it, the number of its filter (0 to 4).
// `pixel` is the distance in bytes to the byte before, 1 to 8. Returns false if there is another filter.
bool unfilter(const uint8_t* in, uint8_t* out, size_t h, size_t stride, int pixel);

}  // namespace dualpix
