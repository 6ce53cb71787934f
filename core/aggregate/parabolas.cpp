#include "aggregate/parabolas.h"

#include <algorithm>
#include <limits>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 32;  // rows of a task

// out = scale * row y of a coarse map on the finer h x w grid. Bilinear: fine pixel x lies at coarse x / 2.
void upsample_row(const float* coarse, float scale, float* between, float* out, int y, int h, int w) {
  const int coarse_h = (h + 1) / 2, coarse_w = (w + 1) / 2;
  const int low = y / 2, high = std::min(low + y % 2, coarse_h - 1);
  const float *a = coarse + (size_t)low * coarse_w, *b = coarse + (size_t)high * coarse_w;
  for (int x = 0; x < coarse_w; ++x) between[x] = 0.5f * (a[x] + b[x]);
  between[coarse_w] = between[coarse_w - 1];
  for (int x = 0; x < w; ++x) {
    const int i = x / 2, j = i + x % 2;
    out[x] = scale * 0.5f * (between[i] + between[j]);
  }
}

void divide_row(float* alpha, float* beta, int w, const float* divisor) {
  for (int x = 0; x < w; ++x) {
    alpha[x] /= divisor[x];
    beta[x] /= divisor[x];
  }
}

// The vertices of the matches. Without texture it is minus infinity, which is never too near.
void vertex_row(const float* alpha, const float* beta, int w, float* vertex) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  for (int x = 0; x < w; ++x) vertex[x] = alpha[x] > 0 ? -0.5f * beta[x] / alpha[x] : kNone;
}

// The prior of section 3.4 of the paper, with a bound of its curvature.
void add_row(float* alpha, float* beta, int w, const float* A, const float* B, float weight, float inverse_limit) {
  for (int x = 0; x < w; ++x) {
    const float share = weight / (1 + A[x] * inverse_limit);
    alpha[x] += share * A[x];
    beta[x] += share * B[x];
  }
}

// A pixel with a curvature below Ta keeps its vertex, but almost no weight. The paper (after equation 5) sets beta = 0.
void invalidate_row(float* alpha, float* beta, int w, float Ta) {
  for (int x = 0; x < w; ++x) {
    const float a = alpha[x], b = beta[x];
    const bool ok = a >= Ta;
    alpha[x] = ok ? a : std::min(a, 1e-4f * Ta);
    beta[x] = ok ? b : b * (alpha[x] / std::max(a, 1e-30f));
  }
}

}  // namespace

void condition(float* alpha, float* beta, int h, int w, const float* divisor, const std::vector<Prior>& priors,
               float Ta, float* vertex, int threads) {
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
          upsample_row(prior.A, 0.25f, fine.between.data(), fine.A.data(), y, h, w);
          upsample_row(prior.B, 0.5f, fine.between.data(), fine.B.data(), y, h, w);
          A = fine.A.data(), B = fine.B.data();
        }
        add_row(alpha + row, beta + row, w, A, B, prior.weight, prior.inverse_limit);
      }
      invalidate_row(alpha + row, beta + row, w, Ta);
    }
  });
}

}  // namespace dualpix
