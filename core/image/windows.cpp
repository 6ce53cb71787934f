#include "image/windows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "common/mirror.h"
#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kRows = 32;     // rows of a task
constexpr int kColumns = 256;  // columns that are summed together: their sums stay in the fastest cache

// sums += weight * row
DUALPIX_CLONES void add_row(const float* row, double* sums, int w, double weight) {
  for (int x = 0; x < w; ++x) sums[x] += weight * (double)row[x];
}

// out[x] = sum of taps[k] * padded[x + k]
DUALPIX_CLONES void weigh_row(const double* padded, float* out, int w, const double* taps, int n) {
  for (int first = 0; first < w; first += kColumns) {
    double sums[kColumns] = {};
    const int m = std::min(kColumns, w - first);
    for (int k = 0; k < n; ++k)
      for (int x = 0; x < m; ++x) sums[x] += taps[k] * padded[first + x + k];
    for (int x = 0; x < m; ++x) out[first + x] = (float)sums[x];
  }
}

DUALPIX_CLONES void widen_extremes(const float* row, float* most, float* least, int w) {
  for (int x = 0; x < w; ++x) {
    most[x] = row[x] > most[x] ? row[x] : most[x];
    least[x] = row[x] < least[x] ? row[x] : least[x];
  }
}

// out[x] = the largest of most[x .. x + side - 1] minus the smallest of least; the reach doubles with every step.
DUALPIX_CLONES void span_row(float* most, float* least, float* out, int w, int side) {
  int reach = 1;
  for (; 2 * reach <= side; reach *= 2)
    for (int x = 0; x < w + side - 2 * reach; ++x) {
      most[x] = most[x + reach] > most[x] ? most[x + reach] : most[x];
      least[x] = least[x + reach] < least[x] ? least[x + reach] : least[x];
    }
  const int last = side - reach;
  for (int x = 0; x < w; ++x) {
    const float high = most[x + last] > most[x] ? most[x + last] : most[x];
    const float low = least[x + last] < least[x] ? least[x + last] : least[x];
    out[x] = high >= low ? high - low : 0.0f;  // there may be NaN only
  }
}

// The pixels that a pixel of a smaller image covers along one axis: `count` of them from `first` on. The first and the
// last are covered in part.
struct Cover {
  int first, count;
  double begin, end;

  Cover(int i, int n, int small) : begin((double)n * i / small), end((double)n * (i + 1) / small) {
    first = std::min((int)begin, n - 1);
    count = std::max(1, std::min((int)std::ceil(end), n) - first);
  }
  double share(int k) const { return std::min(end, first + k + 1.0) - std::max(begin, (double)first + k); }
};

}  // namespace

void smooth(const float* image, float* out, int h, int w, const double* taps, int n, int threads) {
  const int before = n / 2;
  using Row = std::vector<double>;
  parallel_for((h + kRows - 1) / kRows, threads, [&] { return Row((size_t)w + n); }, [&](int block, Row& padded) {
    double* sums = padded.data() + before;
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      std::fill(sums, sums + w, 0.0);
      for (int k = 0; k < n; ++k) add_row(image + (size_t)mirror(y + k - before, h) * w, sums, w, taps[k]);
      for (int x = -before; x < 0; ++x) sums[x] = sums[mirror(x, w)];
      for (int x = w; x < w + n - 1 - before; ++x) sums[x] = sums[mirror(x, w)];
      weigh_row(padded.data(), out + (size_t)y * w, w, taps, n);
    }
  });
}

void spread(const float* d, float* out, int h, int w, int side, int threads) {
  const int before = side / 2, after = side - 1 - before;
  const float infinity = std::numeric_limits<float>::infinity();
  struct Scratch {
    std::vector<float> most, least;
  };
  auto make_scratch = [&] {
    return Scratch{std::vector<float>((size_t)w + side), std::vector<float>((size_t)w + side)};
  };
  parallel_for((h + kRows - 1) / kRows, threads, make_scratch, [&](int block, Scratch& scratch) {
    for (int y = block * kRows; y < std::min(h, (block + 1) * kRows); ++y) {
      std::fill(scratch.most.begin(), scratch.most.end(), -infinity);
      std::fill(scratch.least.begin(), scratch.least.end(), infinity);
      for (int i = std::max(0, y - before); i <= std::min(h - 1, y + after); ++i)
        widen_extremes(d + (size_t)i * w, scratch.most.data() + before, scratch.least.data() + before, w);
      span_row(scratch.most.data(), scratch.least.data(), out + (size_t)y * w, w, side);
    }
  });
}

void shrink(const float* image, float* out, int h, int w, int rows, int columns, int threads) {
  std::vector<Cover> across;
  for (int i = 0; i < columns; ++i) across.emplace_back(i, w, columns);
  const double area = ((double)h / rows) * ((double)w / columns);
  using Row = std::vector<double>;
  parallel_for(rows, threads, [&] { return Row(w); }, [&](int y, Row& sums) {
    const Cover down(y, h, rows);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int k = 0; k < down.count; ++k)
      add_row(image + (size_t)(down.first + k) * w, sums.data(), w, down.share(k));
    for (int x = 0; x < columns; ++x) {
      double sum = 0;
      for (int k = 0; k < across[x].count; ++k) sum += across[x].share(k) * sums[across[x].first + k];
      out[(size_t)y * columns + x] = (float)(sum / area);
    }
  });
}

}  // namespace dualpix
