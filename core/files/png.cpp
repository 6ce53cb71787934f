#include "files/png.h"

#include <cstdlib>
#include <cstring>

namespace dualpix {
namespace {

enum Filter : uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

// The neighbour that is nearest to a + b - c: a to the left, b above, c above to the left.
inline uint8_t paeth(int a, int b, int c) {
  const int to_a = std::abs(b - c), to_b = std::abs(a - c), to_c = std::abs(a + b - 2 * c);
  const int best = to_a <= to_b ? a : b;
  return (uint8_t)((to_a <= to_b ? to_a : to_b) <= to_c ? best : c);
}

// A row whose pixels have P bytes: the compiler keeps the pixel to the left in registers.
template <int P>
void row_of(uint8_t filter, const uint8_t* in, const uint8_t* above, uint8_t* out, size_t stride) {
  uint8_t a[P] = {}, c[P] = {};
  for (size_t x = 0; x < stride; x += P) {
    for (int k = 0; k < P; ++k) {
      const uint8_t b = above[x + k];
      uint8_t guess = 0;
      if (filter == kSub) guess = a[k];
      if (filter == kAverage) guess = (uint8_t)((a[k] + b) >> 1);
      if (filter == kPaeth) guess = paeth(a[k], b, c[k]);
      out[x + k] = a[k] = (uint8_t)(in[x + k] + guess);
      c[k] = b;
    }
  }
}

template <int P>
void filtered(uint8_t filter, const uint8_t* in, const uint8_t* above, uint8_t* out, size_t stride) {
  if (filter == kSub) row_of<P>(kSub, in, above, out, stride);
  if (filter == kAverage) row_of<P>(kAverage, in, above, out, stride);
  if (filter == kPaeth) row_of<P>(kPaeth, in, above, out, stride);
}

}  // namespace

bool unfilter(const uint8_t* in, uint8_t* out, size_t h, size_t stride, int pixel) {
  using Row = void (*)(uint8_t, const uint8_t*, const uint8_t*, uint8_t*, size_t);
  static constexpr Row kRows[9] = {nullptr,     filtered<1>, filtered<2>, filtered<3>, filtered<4>,
                                   filtered<5>, filtered<6>, filtered<7>, filtered<8>};
  const uint8_t* above = nullptr;
  for (size_t y = 0; y < h; ++y, in += stride + 1) {
    uint8_t* row = out + y * stride;
    uint8_t filter = in[0];
    if (filter > kPaeth) return false;
    if (above == nullptr) {  // the row above the first is 0
      std::memset(row, 0, stride);
      above = row;
    }
    if (filter == kNone) {
      std::memcpy(row, in + 1, stride);
    } else if (filter == kUp) {
      for (size_t x = 0; x < stride; ++x) row[x] = (uint8_t)(in[x + 1] + above[x]);
    } else {
      kRows[pixel](filter, in + 1, above, row, stride);
    }
    above = row;
  }
  return true;
}

}  // namespace dualpix
