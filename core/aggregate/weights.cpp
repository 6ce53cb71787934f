#include "aggregate/weights.h"

#include "common/paths.h"

namespace dualpix {

namespace {

constexpr float kLeast = 4 / kCodeUnit;  // 2^-30

constexpr float kNoSpread = 1e-30f;  // least divisor of a share

// Codes of as many weights as V has lanes.
typedef Weight vcode __attribute__((vector_size(sizeof(Weight) * kLanes)));
typedef Weight vwidecode __attribute__((vector_size(sizeof(Weight) * kWide)));
template <class V>
using codes_of = std::conditional_t<lanes_of<V> == kWide, vwidecode, vcode>;

template <class V>
DUALPIX_INLINE void store_weights(Weight* p, V w, int n) {
  // The exponent of a float begins at bit 23.
  const auto rounded = (ints_of<V>)((uints_of<V>)w - ((uint32_t)kCodeShift << 23) + (1u << (kDropped - 1)));
  const auto code = __builtin_convertvector((w < kLeast ? ints_of<V>{} : rounded) >> kDropped, codes_of<V>);
  if (n == lanes_of<V>)
    __builtin_memcpy(p, &code, sizeof code);
  else
    for (int i = 0; i < n; ++i) p[i] = code[i];
}

// The weights of n pixels at x of one row of the guide and the row above it.
template <int edges, class V>
DUALPIX_INLINE void weigh(const float* row, const float* above, const float* share, Weight* weights, int x, int n, int w,
                          float minus_log2_e_over_sigma2) {
  const V Ip = load_part<V>(row + x, n), exponent = load_part<V>(share + x, n) * minus_log2_e_over_sigma2;
#pragma GCC unroll 4
  for (int k = 0; k < edges; ++k) {
    const V beside = k ? load_beside<V>(above, x - kSteps[k - 1], w) : load_beside<V>(row, x - 1, w);
    const V contrast = Ip - beside;
    store_weights(weights + (size_t)k * w + x, exp2(contrast * contrast * exponent), n);
  }
}

// The square of a difference counts by the share of its pixel.
template <int edges, class V>
DUALPIX_INLINE void weigh_all(const float* row, const float* above, const float* share, Weight* weights, int w,
                              float sigma) {
  const float minus_log2_e_over_sigma2 = -1.44269504f / (sigma * sigma);
  int x = 0;
  for (; x + lanes_of<V> <= w; x += lanes_of<V>)
    weigh<edges, V>(row, above, share, weights, x, lanes_of<V>, w, minus_log2_e_over_sigma2);
  if (x < w) weigh<edges, V>(row, above, share, weights, x, w - x, w, minus_log2_e_over_sigma2);
}

template <class V>
DUALPIX_INLINE void weigh_edges(const float* row, const float* above, const float* share, Weight* weights, int w,
                                float sigma, int edges) {
  if (edges == 4)
    weigh_all<4, V>(row, above, share, weights, w, sigma);
  else
    weigh_all<2, V>(row, above, share, weights, w, sigma);
}

DUALPIX_CLONES void weigh_row(const float* row, const float* above, const float* share, Weight* weights, int w,
                              float sigma, int edges) {
  weigh_edges<vfloat>(row, above, share, weights, w, sigma, edges);
}

DUALPIX_WIDE void weigh_row_wide(const float* row, const float* above, const float* share, Weight* weights, int w,
                                 float sigma, int edges) {
  weigh_edges<vlongest>(row, above, share, weights, w, sigma, edges);
}

// The share of every pixel of a row: s = R^2 / (R^2 + flat^2).
DUALPIX_CLONES void share_row(const float* spread, float flat, float* share, int w) {
  auto of = [flat](float R) { return R * R / std::max(R * R + flat * flat, kNoSpread); };
  for (int i = 0; i < w / kShareStep; ++i)
    for (int k = 0; k < kShareStep; ++k) share[i * kShareStep + k] = of(spread[i]);
  for (int x = w / kShareStep * kShareStep; x < w; ++x) share[x] = of(spread[x / kShareStep]);
}

}  // namespace

void edge_weights(const float* guide, const float* spread, float flat, Weight* weights, int h, int w, float sigma,
                  int edges, int threads) {
  const int bands = (h + kShareStep - 1) / kShareStep, spreads = (w + kShareStep - 1) / kShareStep;
  parallel_for(bands, threads, [&] { return std::vector<float>(w, 1.0f); }, [&](int band, std::vector<float>& share) {
    if (spread) share_row(spread + (size_t)band * spreads, flat, share.data(), w);
    for (int y = band * kShareStep; y < std::min(h, (band + 1) * kShareStep); ++y) {
      const float* row = guide + (size_t)y * w;
      (kHasWide ? weigh_row_wide : weigh_row)(row, y > 0 ? row - w : row, share.data(), weights + (size_t)edges * y * w, w, sigma, edges);
    }
  });
}

}  // namespace dualpix
