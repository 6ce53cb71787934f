#include "image/census.h"

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRadius = 2, kSide = 2 * kRadius + 1, kRows = 32;
constexpr float kDarker = 0.75f;  // least difference, 0..255 scale: above the noise of a good picture

// Codes the middle one of five padded rows.
DUALPIX_CLONES void code_row(const float* const* rows, int w, float* codes) {
  for (int x = 0; x < w; x += kLanes) {
    const vfloat limit = load(rows[kRadius] + x + kRadius) - kDarker;
    vint code = {};
    for (int k = 0; k < kSide * kSide; ++k)
      if (k != kSide * kSide / 2) code = 2 * code - (load(rows[k / kSide] + x + k % kSide) < limit);  // true is -1
    store(codes + x, __builtin_convertvector(code, vfloat), w - x < kLanes ? w - x : kLanes);
  }
}

void pad(const float* row, int w, float* out) {
  std::fill_n(out, kRadius, row[0]);
  std::copy_n(row, w, out + kRadius);
  std::fill_n(out + kRadius + w, kRadius, row[w - 1]);
}

}  // namespace

void census(const float* image, float* codes, int h, int w, int threads) {
  const int stride = w + 2 * kRadius + kLanes;
  auto clamp = [=](int y) { return std::min(std::max(y, 0), h - 1); };
  auto scratch = [=] { return std::vector<float>((size_t)kSide * stride); };
  parallel_for((h + kRows - 1) / kRows, threads, scratch, [&](int block, std::vector<float>& ring) {
    auto padded_row = [&](int y) { return &ring[(size_t)((y + kSide) % kSide) * stride]; };
    const int first = block * kRows, end = std::min(h, first + kRows);
    for (int y = first - kRadius; y < first + kRadius; ++y) pad(image + (size_t)clamp(y) * w, w, padded_row(y));
    for (int y = first; y < end; ++y) {
      pad(image + (size_t)clamp(y + kRadius) * w, w, padded_row(y + kRadius));
      const float* rows[kSide];
      for (int k = 0; k < kSide; ++k) rows[k] = padded_row(y - kRadius + k);
      code_row(rows, w, codes + (size_t)y * w);
    }
  });
}

}  // namespace dualpix
