#include "image/texture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/half.h"
#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 128;  // rows of a task

struct Scratch {
  std::vector<uint16_t> count;        // in how many rows of the window there is texture, of every column
  std::vector<unsigned char> padded;  // whether there is any, with the window's reach on both sides
};

DUALPIX_CLONES void count_row(const float* A, uint16_t* count, int w, uint16_t by) {
  for (int x = 0; x < w; ++x) count[x] = (uint16_t)(count[x] + (A[x] > 0 ? by : 0));
}

DUALPIX_CLONES void count_row(const uint16_t* vertex, uint16_t* count, int w, uint16_t by) {
  for (int x = 0; x < w; ++x) count[x] = (uint16_t)(count[x] + (vertex[x] != kHalfMinusInfinity ? by : 0));
}

// found[x] = the OR of found[x .. x + side - 1]; the reach doubles with every step.
DUALPIX_CLONES void widen(const uint16_t* count, unsigned char* padded, unsigned char* out, int w, int side) {
  const int before = side / 2;
  std::fill(padded, padded + before, 0);
  for (int x = 0; x < w; ++x) padded[before + x] = count[x] > 0;
  std::fill(padded + before + w, padded + w + side, 0);
  int reach = 1;
  for (; 2 * reach <= side; reach *= 2)
    for (int x = 0; x < w + side - 2 * reach + 1; ++x) padded[x] |= padded[x + reach];
  for (int x = 0; x < w; ++x) out[x] = padded[x] | padded[x + side - reach];
}

DUALPIX_CLONES void add_coarser(const unsigned char* coarser, unsigned char* out, int w) {
  for (int x = 0; x < w / 2; ++x) {
    out[2 * x] |= coarser[x];
    out[2 * x + 1] |= coarser[x];
  }
  if (w % 2) out[w - 1] |= coarser[w / 2];
}

// Of a map of either kind.
template <class T>
void find(const T* map, const unsigned char* coarser, unsigned char* out, int h, int w, int side, int threads) {
  const int before = side / 2, after = side - 1 - before;
  auto make_scratch = [&] { return Scratch{std::vector<uint16_t>(w), std::vector<unsigned char>(w + side)}; };
  parallel_for((h + kRows - 1) / kRows, threads, make_scratch, [&](int block, Scratch& scratch) {
    const int first = block * kRows;
    std::fill(scratch.count.begin(), scratch.count.end(), 0);
    for (int y = std::max(0, first - before); y < std::min(h, first + after); ++y)
      count_row(map + (size_t)y * w, scratch.count.data(), w, 1);
    for (int y = first; y < std::min(h, first + kRows); ++y) {
      unsigned char* row = out + (size_t)y * w;
      if (y + after < h) count_row(map + (size_t)(y + after) * w, scratch.count.data(), w, 1);
      widen(scratch.count.data(), scratch.padded.data(), row, w, side);
      if (coarser) add_coarser(coarser + (size_t)(y / 2) * ((w + 1) / 2), row, w);
      if (y - before >= 0) count_row(map + (size_t)(y - before) * w, scratch.count.data(), w, (uint16_t)-1);
    }
  });
}

}  // namespace

void near_texture(const float* A, const unsigned char* coarser, unsigned char* out, int h, int w, int side, int threads) {
  find(A, coarser, out, h, w, side, threads);
}

void near_texture(const uint16_t* vertex, const unsigned char* coarser, unsigned char* out, int h, int w, int side,
                  int threads) {
  find(vertex, coarser, out, h, w, side, threads);
}

}  // namespace dualpix
