#include "aggregate/parabolas.h"

#include <algorithm>

#include "common/half.h"
#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 32;  // rows of a task

// out = scale * the mean of two rows of a coarse map, on a grid twice as fine: fine pixel x lies at coarse x / 2.
DUALPIX_CLONES void upsample_row(const float* a, const float* b, float scale, float* between, float* out, int w) {
  const int coarse_w = (w + 1) / 2;
  for (int x = 0; x < coarse_w; ++x) between[x] = 0.5f * (a[x] + b[x]);
  between[coarse_w] = between[coarse_w - 1];
  for (int x = 0; x < w / 2; ++x) {
    out[2 * x] = scale * between[x];
    out[2 * x + 1] = scale * 0.5f * (between[x] + between[x + 1]);
  }
  if (w % 2) out[w - 1] = scale * between[coarse_w - 1];
}

DUALPIX_CLONES void divide_row(float* alpha, float* beta, int w, const float* divisor) {
  for (int x = 0; x < w; ++x) {
    alpha[x] /= divisor[x];
    beta[x] /= divisor[x];
  }
}

// The vertices of the matches. Without texture it is minus infinity, which is never too near.
DUALPIX_CLONES void vertex_row(const float* alpha, const float* beta, int w, uint16_t* vertex) {
  for (int x = 0; x < w; ++x) {
    const uint16_t matched = half_of(-0.5f * beta[x] / alpha[x]);
    vertex[x] = alpha[x] > 0 ? matched : kHalfMinusInfinity;
  }
}

// The prior of section 3.4 of the paper, with a bound of its curvature.
DUALPIX_CLONES void add_row(float* alpha, float* beta, int w, const float* A, const float* B, float weight, float inverse_limit) {
  for (int x = 0; x < w; ++x) {
    const float share = weight / (1 + A[x] * inverse_limit);
    alpha[x] += share * A[x];
    beta[x] += share * B[x];
  }
}

// A pixel with a curvature below Ta keeps its vertex, but almost no weight. The paper (after equation 5) sets beta = 0.
DUALPIX_CLONES void invalidate_row(float* alpha, float* beta, int w, float Ta) {
  for (int x = 0; x < w; ++x) {
    const float a = alpha[x], b = beta[x];
    const bool ok = a >= Ta;
    alpha[x] = ok ? a : std::min(a, 1e-4f * Ta);
    beta[x] = ok ? b : b * (alpha[x] / std::max(a, 1e-30f));
  }
}

}  // namespace

void condition(float* alpha, float* beta, int h, int w, const float* divisor, const std::vector<Prior>& priors,
               float Ta, uint16_t* vertex, int threads) {
  struct Scratch {
    explicit Scratch(int w) : between(w / 2 + 2), A(w), B(w) {}
    std::vector<float> between, A, B;
  };
  parallel_for((h + kRows - 1) / kRows, threads, [&] { return Scratch(w); }, [&](int block, Scratch& fine) {
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      const size_t row = (size_t)y * w;
      if (vertex) vertex_row(alpha + row, beta + row, w, vertex + row);
      divide_row(alpha + row, beta + row, w, divisor);
      for (const Prior& prior : priors) {
        const float *A, *B;
        if (prior.factor == 1) {
          A = prior.A + row, B = prior.B + row;
        } else {
          // Disparities are F = 2 times as large at the finer scale: the same parabola has A / F^2 and B / F.
          const size_t low = y / 2, high = std::min<size_t>(low + y % 2, (h - 1) / 2), coarse_w = (w + 1) / 2;
          auto upsample = [&](const float* map, float scale, float* out) {
            upsample_row(map + low * coarse_w, map + high * coarse_w, scale, fine.between.data(), out, w);
          };
          upsample(prior.A, 0.25f, fine.A.data());
          upsample(prior.B, 0.5f, fine.B.data());
          A = fine.A.data(), B = fine.B.data();
        }
        add_row(alpha + row, beta + row, w, A, B, prior.weight, prior.inverse_limit);
      }
      invalidate_row(alpha + row, beta + row, w, Ta);
    }
  });
}

}  // namespace dualpix
