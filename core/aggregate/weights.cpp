#include "aggregate/weights.h"

#include "common/paths.h"

namespace dualpix {

namespace {

// Subtracting this from the bits of a float divides it by kCodeScale.
constexpr int kCodeShift = 64 << 23;
constexpr float kLeast = 4 / kCodeScale;  // 2^-62

constexpr float kNoSpread = 1e-30f;  // least divisor of a share

typedef uint16_t vcode __attribute__((vector_size(2 * kLanes)));

DUALPIX_INLINE void store_weights(uint16_t* p, vfloat w, int n) {
  const vint rounded = (vint)((vuint)w - (uint32_t)kCodeShift + (1u << (kDropped - 1)));
  const vcode code = __builtin_convertvector((w < kLeast ? vint{} : rounded) >> kDropped, vcode);
  if (n == kLanes)
    __builtin_memcpy(p, &code, sizeof code);
  else
    for (int i = 0; i < n; ++i) p[i] = code[i];
}

// The weights of one row of the guide and the row above it. The square of a difference counts by the share of its pixel.
DUALPIX_CLONES void weigh_row(const float* row, const float* above, const float* share, uint16_t* weights, int w,
                              float sigma, int edges) {
  const float minus_log2_e_over_sigma2 = -1.44269504f / (sigma * sigma);
  for (int x = 0; x < w; x += kLanes) {
    const int n = std::min(w - x, kLanes);
    const vfloat Ip = load(row + x, n), exponent = load(share + x, n) * minus_log2_e_over_sigma2;
    auto weigh = [&](int edge, vfloat Iq) __attribute__((always_inline)) {
      const vfloat contrast = Ip - Iq;
      store_weights(weights + (size_t)edge * w + x, exp2(contrast * contrast * exponent), n);
    };
    weigh(0, load_beside(row, x - 1, w));
    for (int k = 0; k + 1 < edges; ++k) weigh(k + 1, load_beside(above, x - kSteps[k], w));
  }
}

// The share of every pixel of a row: s = R^2 / (R^2 + flat^2).
DUALPIX_CLONES void share_row(const float* spread, float flat, float* share, int w) {
  auto of = [flat](float R) { return R * R / std::max(R * R + flat * flat, kNoSpread); };
  for (int i = 0; i < w / kShareStep; ++i)
    for (int k = 0; k < kShareStep; ++k) share[i * kShareStep + k] = of(spread[i]);
  for (int x = w / kShareStep * kShareStep; x < w; ++x) share[x] = of(spread[x / kShareStep]);
}

}  // namespace

void edge_weights(const float* guide, const float* spread, float flat, uint16_t* weights, int h, int w, float sigma,
                  int edges, int threads) {
  const int bands = (h + kShareStep - 1) / kShareStep, spreads = (w + kShareStep - 1) / kShareStep;
  parallel_for(bands, threads, [&] { return std::vector<float>(w, 1.0f); }, [&](int band, std::vector<float>& share) {
    if (spread) share_row(spread + (size_t)band * spreads, flat, share.data(), w);
    for (int y = band * kShareStep; y < std::min(h, (band + 1) * kShareStep); ++y) {
      const float* row = guide + (size_t)y * w;
      weigh_row(row, y > 0 ? row - w : row, share.data(), weights + (size_t)edges * y * w, w, sigma, edges);
    }
  });
}

}  // namespace dualpix
