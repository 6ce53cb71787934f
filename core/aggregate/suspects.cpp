#include "aggregate/suspects.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/half.h"
#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 32;  // rows of a task
constexpr int kReach = 5, kSide = 2 * kReach + 1;
constexpr int kDoubled = 8;  // side of the largest window that doubling gives
static_assert(kDoubled <= kSide && kSide <= 2 * kDoubled);

// highest[x] = the highest value of `rows` rows in column x.
DUALPIX_CLONES void highest_of_columns(const float* d, int rows, int w, float* highest) {
  for (int x = 0; x < w; ++x) highest[x] = d[x];
  for (int i = 1; i < rows; ++i) {
    const float* row = d + (size_t)i * w;
    for (int x = 0; x < w; ++x) highest[x] = std::max(highest[x], row[x]);
  }
}

// Each of n values becomes the highest of itself and the kSide - 1 after it: windows of 2, 4, 8 and 11.
DUALPIX_CLONES void highest_of_rows(float* values, int n) {
  for (int side = 1; side < kDoubled; side *= 2)
    for (int x = 0; x < n; ++x) values[x] = std::max(values[x], values[x + side]);
  for (int x = 0; x < n; ++x) values[x] = std::max(values[x], values[x + kSide - kDoubled]);
}

DUALPIX_CLONES void limit_row(const uint16_t* vertex, const float* d, const float* H, uint16_t* limited, int w, float slack) {
  for (int x = 0; x < w; ++x) {
    // v = min(v, max(H, d + slack))
    const float most = std::max(std::max(H[x], d[x] + slack), -kHalfMost);  // minus infinity stays
    const uint16_t limit = half_of(most);
    limited[x] = float_of(vertex[x]) > most ? limit : vertex[x];
  }
}

}  // namespace

void limit_suspects(const uint16_t* vertex, const float* d, uint16_t* limited, int h, int w, float slack, int threads) {
  // kReach values lower than all before a row, and after it what windows reach beyond it.
  const size_t room = (size_t)w + 2 * kSide;
  parallel_for((h + kRows - 1) / kRows, threads, [&] { return std::vector<float>(room); },
               [&](int block, std::vector<float>& H) {
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      const int top = std::max(y - kReach, 0), rows = std::min(y + kReach + 1, h) - top;
      const size_t row = (size_t)y * w;
      std::fill(H.begin(), H.end(), -std::numeric_limits<float>::max());
      highest_of_columns(d + (size_t)top * w, rows, w, H.data() + kReach);
      highest_of_rows(H.data(), w + kReach);
      limit_row(vertex + row, d + row, H.data(), limited + row, w, slack);
    }
  });
}

}  // namespace dualpix
