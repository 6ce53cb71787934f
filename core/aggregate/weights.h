// The weights of the edges between neighbouring pixels: messages are weak where the guide has an edge.
#pragma once

#include <cstdint>

#include "common/simd.h"

namespace dualpix {

typedef uint8_t Weight;        // the code of a weight
constexpr int kShareStep = 4;  // px between the spreads of `edge_weights`

// w = exp(-s (I_p - I_q)^2 / sigma^2), a factor of P_adapt in equation 4, of every pixel p of the guide and its
// neighbours q: left, above and, with 4 edges, above left and above right. Every row of the image has `edges` rows of
// weights, one for each q. Where q lies outside the image, w is undefined. w is rounded to a 3-bit mantissa, and to 0
// below 2^-30; its code has 5 bits of exponent (31 for 2^0) and these 3 bits. s = R^2 / (R^2 + flat^2), with the spread
// R of the square of kShareStep pixels that p lies in; without spreads it is 1.
void edge_weights(const float* guide, const float* spread, float flat, Weight* weights, int h, int w, float sigma,
                  int edges, int threads);

// The code of a weight w: the upper bits of the float w / 2^96 without the sign and the three highest bits of the
// exponent, which are 0. Weights below 2^-30 would not be normal numbers; they become 0.
constexpr int kDropped = 20;                           // lower bits of the mantissa that are dropped
constexpr int kCodeShift = 96;                         // the binary logarithm of that divisor
constexpr float kCodeScale = 18446744073709551616.0f;  // 2^64: what remains of it in the kernels
constexpr float kCodeUnit = 4294967296.0f;             // 2^(96 - 64)

// Returns w / kCodeScale of the first n lanes of a vector, 1 <= n; the others are zero. GCC makes one instruction of the
// loop over all lanes, and five of a conversion of the vector.
template <class V>
DUALPIX_INLINE V load_weights(const Weight* p, int n) {
  ints_of<V> code = {};
  if (n == lanes_of<V>)
    for (int i = 0; i < lanes_of<V>; ++i) code[i] = p[i];
  else
    for (int i = 0; i < n; ++i) code[i] = p[i];
  return (V)(code << kDropped) * kCodeUnit;
}

}  // namespace dualpix
