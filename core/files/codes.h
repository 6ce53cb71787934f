// Compressed bytes of TIFF, its differences, and the numbers of ASCII files. The caller gives the room for the result,
// and nothing is written beyond it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dualpix {

// Each returns the number of bytes it wrote, at most `room`. It stops where the codes end or make no sense.
size_t unpack_bits(const uint8_t* in, size_t size, uint8_t* out, size_t room);
size_t unpack_lzw(const uint8_t* in, size_t size, uint8_t* out, size_t room);

// In place: every value is the sum of the stored values up to it, in its row and its channel. Sums wrap around.
template <class T>
void add_up(T* values, size_t h, size_t w, int channels);

// Whole numbers between white space. Returns how many there are, even if there is no room for all of them; -1 if a word
// is no number; -2 if one is negative or above `largest`.
long long parse_numbers(const uint8_t* text, size_t size, uint16_t* out, size_t room, unsigned largest);

}  // namespace dualpix
