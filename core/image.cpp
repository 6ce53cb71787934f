#include "image.h"

#include <cmath>
#include <cstdint>

#include "mirror.h"
#include "parallel.h"
#include "simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 32;          // rows a task of the parallel loops takes
constexpr size_t kPixels = 1 << 16;  // pixels a task takes where rows do not matter

int blocks(int rows) { return (rows + kRows - 1) / kRows; }

// part(begin, n) of every kPixels pixels
template <class Part>
void in_parts(size_t count, int threads, const Part& part) {
  const int tasks = (int)((count + kPixels - 1) / kPixels);
  parallel_for(tasks, threads, [] { return 0; }, [&](int task, int) {
    const size_t begin = task * kPixels;
    part(begin, (int)std::min(kPixels, count - begin));
  });
}

// sum_c weights[c] * pixels[c], the number of channels known to the compiler where it is that of a picture
template <class T, int known>
DUALPIX_INLINE void weigh_pixels(const T* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  if (known) channels = known;
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int c = 0; c < channels; ++c) sum += weights[c] * (float)pixels[(size_t)i * channels + c];
    plane[i] = scale * sum;
  }
}

template <class T>
DUALPIX_INLINE void weigh_any(const T* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  if (channels == 3)
    weigh_pixels<T, 3>(pixels, plane, n, channels, weights, scale);
  else if (channels == 1)
    weigh_pixels<T, 1>(pixels, plane, n, channels, weights, scale);
  else
    weigh_pixels<T, 0>(pixels, plane, n, channels, weights, scale);
}

DUALPIX_CLONES void weigh(const uint8_t* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  weigh_any(pixels, plane, n, channels, weights, scale);
}

DUALPIX_CLONES void weigh(const uint16_t* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  weigh_any(pixels, plane, n, channels, weights, scale);
}

DUALPIX_CLONES void weigh(const float* pixels, float* plane, int n, int channels, const float* weights, float scale) {
  weigh_any(pixels, plane, n, channels, weights, scale);
}

// v = scale v^gamma = 2^(gamma log2 v + log2 scale), 0 where v is not above 0
DUALPIX_CLONES void raise(float* plane, int count, float gamma, float log2_scale) {
  for (int x = 0; x < count; x += kLanes) {
    const int n = std::min(count - x, kLanes);
    const vfloat v = load(plane + x, n);
    const vfloat power = min(gamma * log2(v) + log2_scale, splat(127.9f));
    store(plane + x, select(v > 0, exp2(power), vfloat{}), n);
  }
}

// A' / (A' + sure) with 1 / A' = 1 / A + r^2 / 12:  A / (A (1 + r^2 sure / 12) + sure)
DUALPIX_CLONES void trust(const float* A, float* most, const float* least, const unsigned char* textured, int n,
                          float sure) {
  for (int i = 0; i < n; ++i) {
    const float r = most[i] - least[i];
    most[i] = (float)textured[i] * (A[i] / (A[i] * (1 + r * r * (sure / 12)) + sure));
  }
}

DUALPIX_CLONES void weigh_five_rows(const float* const rows[5], float* out, int w) {
  for (int x = 0; x < w; ++x)
    out[x] = (rows[0][x] + rows[4][x] + 4 * (rows[1][x] + rows[3][x]) + 6 * rows[2][x]) * (1.0f / 16);
}

void pyramid_row(const float* in, float* out, float* padded, int y, int h, int w) {
  const float* rows[5];
  for (int k = 0; k < 5; ++k) rows[k] = in + (size_t)mirror(2 * y + k - 2, h) * w;
  float* row = padded + 2;
  weigh_five_rows(rows, row, w);
  for (int k = 1; k <= 2; ++k) {
    row[-k] = row[mirror(-k, w)];
    row[w - 1 + k] = row[mirror(w - 1 + k, w)];
  }
  for (int i = 0; i < (w + 1) / 2; ++i) {
    const float* p = row + 2 * i;
    out[i] = (p[-2] + p[2] + 4 * (p[-1] + p[1]) + 6 * p[0]) * (1.0f / 16);
  }
}

// Row y of a coarse map on the finer grid, times scale: bilinear, fine pixel x lies at coarse x / 2.
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

void add_row(float* alpha, float* beta, int w, const float* A, const float* B, float weight, float inverse_limit) {
  for (int x = 0; x < w; ++x) {
    const float share = weight / (1 + A[x] * inverse_limit);
    alpha[x] += share * A[x];
    beta[x] += share * B[x];
  }
}

// Below Ta a pixel keeps its vertex but has next to no say.
void invalidate_row(float* alpha, float* beta, int w, float Ta) {
  for (int x = 0; x < w; ++x) {
    const float a = alpha[x], b = beta[x];
    const bool ok = a >= Ta;
    alpha[x] = ok ? a : std::min(a, 1e-4f * Ta);
    beta[x] = ok ? b : b * (alpha[x] / std::max(a, 1e-30f));
  }
}

}  // namespace

template <class T>
void to_plane(const T* pixels, float* plane, size_t count, int channels, const float* weights, float scale,
              int threads) {
  in_parts(count, threads, [&](size_t begin, int n) {
    weigh(pixels + begin * channels, plane + begin, n, channels, weights, scale);
  });
}

template void to_plane(const uint8_t*, float*, size_t, int, const float*, float, int);
template void to_plane(const uint16_t*, float*, size_t, int, const float*, float, int);
template void to_plane(const float*, float*, size_t, int, const float*, float, int);

void power(float* plane, size_t count, float gamma, float scale, int threads) {
  const float log2_scale = std::log2(scale);
  in_parts(count, threads, [&](size_t begin, int n) { raise(plane + begin, n, gamma, log2_scale); });
}

void confidence(const float* A, float* most, const float* least, const unsigned char* textured, size_t count, float sure,
                int threads) {
  in_parts(count, threads, [&](size_t begin, int n) {
    trust(A + begin, most + begin, least + begin, textured + begin, n, sure);
  });
}

void pyramid_down(const float* in, float* out, int h, int w, int threads) {
  const int out_h = (h + 1) / 2, out_w = (w + 1) / 2;
  using Row = std::vector<float>;
  parallel_for(blocks(out_h), threads, [&] { return Row(w + 4); }, [&](int block, Row& padded) {
    for (int y = block * kRows; y < std::min(out_h, (block + 1) * kRows); ++y)
      pyramid_row(in, out + (size_t)y * out_w, padded.data(), y, h, w);
  });
}

void condition(float* alpha, float* beta, int h, int w, const float* divisor, const std::vector<Prior>& priors,
               float Ta, int threads) {
  struct Scratch {
    explicit Scratch(int w) : between(w / 2 + 2), A(w), B(w) {}
    std::vector<float> between, A, B;
  };
  parallel_for(blocks(h), threads, [&] { return Scratch(w); }, [&](int block, Scratch& fine) {
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      const size_t row = (size_t)y * w;
      divide_row(alpha + row, beta + row, w, divisor);
      for (const Prior& prior : priors) {
        const float *A = prior.A + row, *B = prior.B + row;
        if (prior.factor == 2) {
          // d doubles with the size: A / F^2 and B / F keep the parabola the same function, F = 2.
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
