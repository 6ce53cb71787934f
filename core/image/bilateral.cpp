#include "image/bilateral.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/mirror.h"
#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRadius = 7, kStripRows = 32;
constexpr float kSpace = 3.0f, kRange = 20.0f;

struct Tap {
  int dy, dx;
  float log_weight;
};

std::vector<Tap> disc() {
  std::vector<Tap> taps;
  for (int dy = -kRadius; dy <= kRadius; ++dy)
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      const int r2 = dy * dy + dx * dx;
      if (r2 && r2 <= kRadius * kRadius) taps.push_back({dy, dx, -(float)r2 / (2 * kSpace * kSpace)});
    }
  return taps;
}

// Rows of a strip with mirrored margins. Every row has space for one more vector at its end.
struct Strip {
  explicit Strip(int w) : stride(w + 2 * kRadius + kLanes), pixels((size_t)stride * (kStripRows + 2 * kRadius)) {}
  float* row(int y) { return &pixels[(size_t)y * stride]; }
  int stride;
  std::vector<float> pixels;
};

void fill(Strip& strip, const float* image, int h, int w, int first, int rows) {
  for (int y = 0; y < rows; ++y) {
    const float* from = image + (size_t)mirror(first + y, h) * w;
    float* to = strip.row(y) + kRadius;
    std::copy_n(from, w, to);
    for (int i = 0; i < kRadius; ++i) {
      to[-1 - i] = from[mirror(-1 - i, w)];
      to[w + i] = from[mirror(w + i, w)];
    }
  }
}

// I_p - sum w I_q / sum w = -sum w (I_q - I_p) / sum w; the weight of the pixel itself is 1
DUALPIX_CLONES void detail_row(const float* centre, int stride, int w, const Tap* taps, size_t count, float* out) {
  for (int x = 0; x < w; x += kLanes) {
    const vfloat I = load(centre + x);
    vfloat sum = {}, weights = splat(1.0f);
    for (size_t k = 0; k < count; ++k) {
      const vfloat step = load(centre + x + (ptrdiff_t)taps[k].dy * stride + taps[k].dx) - I;
      const vfloat weight = exp_negative(taps[k].log_weight - step * step * (1.0f / (2 * kRange * kRange)));
      sum += weight * step;
      weights += weight;
    }
    store(out + x, -sum / weights, w - x < kLanes ? w - x : kLanes);
  }
}

}  // namespace

void subtract_bilateral(const float* image, float* out, int h, int w, int threads) {
  const std::vector<Tap> taps = disc();
  parallel_for((h + kStripRows - 1) / kStripRows, threads, [&] { return Strip(w); }, [&](int i, Strip& strip) {
    const int first = i * kStripRows, rows = std::min(kStripRows, h - first);
    fill(strip, image, h, w, first - kRadius, rows + 2 * kRadius);
    for (int y = 0; y < rows; ++y)
      detail_row(strip.row(y + kRadius) + kRadius, strip.stride, w, taps.data(), taps.size(),
                 out + (size_t)(first + y) * w);
  });
}

}  // namespace dualpix
