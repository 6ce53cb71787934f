// Parts of a picture without texture, and what lies around them.
#pragma once

#include <cstdint>

namespace dualpix {

// Numbers the connected parts where `blank` is not 0, 1, 2 ... in the order of their first pixels. Parts of fewer than
// `least` pixels do not count. Neighbours are the four beside a pixel.
//
// part: of every pixel the part that it is in, or the one that it is next to, within `reach` steps over the eight
// neighbours, not through other parts that count; 0 if there is none. steps: how many; 0 inside a part. beside: d
// of the first pixel outside of the part on the way to the pixel; d inside a part. Returns the number of parts.
int blank_parts(const uint8_t* blank, const float* d, int h, int w, int least, int reach, int32_t* part, uint8_t* steps,
                float* beside);

}  // namespace dualpix
