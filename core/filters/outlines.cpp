#include "filters/outlines.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kSide = 7, kApart = 2, kReach = kSide / 2 * kApart;
constexpr int kHalvings = 8;      // of the span, until the median is known
constexpr float kAlike = 1.5f;    // times sigma: a smaller difference in brightness does not tell near from far
// Pixels of a cell. A window lies within the cell of its pixel and the eight cells around it.
constexpr int kCellRows = 8, kCellColumns = 16;
static_assert(kReach <= kCellRows && kReach <= kCellColumns && kCellColumns % kWide == 0, "windows within cells");

struct Maps {
  const float* d;
  const uint8_t* guide;
  float* out;
  int h, w;

  size_t row(int y) const { return (size_t)std::min(std::max(y, 0), h - 1) * w; }
};

// The least and the greatest disparity of every cell.
struct Cells {
  Cells(int h, int w)
      : rows((h + kCellRows - 1) / kCellRows), columns((w + kCellColumns - 1) / kCellColumns),
        least((size_t)rows * columns), most(least.size()) {}

  // What the disparities span in a cell and those around it.
  float span(int row, int column) const {
    float low = least[(size_t)row * columns + column], high = most[(size_t)row * columns + column];
    for (int y = std::max(row - 1, 0); y <= std::min(row + 1, rows - 1); ++y)
      for (int x = std::max(column - 1, 0); x <= std::min(column + 1, columns - 1); ++x) {
        low = std::min(low, least[(size_t)y * columns + x]);
        high = std::max(high, most[(size_t)y * columns + x]);
      }
    return high - low;
  }

  int rows, columns;
  std::vector<float> least, most;
};

DUALPIX_CLONES void measure_cell(const Maps& maps, int row, int column, float* least, float* most) {
  const int x = column * kCellColumns, end = std::min(maps.w, x + kCellColumns);
  float low = maps.d[maps.row(row * kCellRows) + x], high = low;
  for (int y = row * kCellRows; y < std::min(maps.h, (row + 1) * kCellRows); ++y) {
    const float* d = maps.d + maps.row(y);
    for (int i = x; i < end; ++i) low = d[i] < low ? d[i] : low, high = d[i] > high ? d[i] : high;
  }
  *least = low, *most = high;
}

// The pixels at p, as floats. GCC makes one instruction of the loop over all lanes.
template <class V>
DUALPIX_INLINE V load_floats(const float* p) {
  return load_as<V>(p);
}

template <class V>
DUALPIX_INLINE V load_floats(const uint8_t* p) {
  ints_of<V> numbers;
  for (int i = 0; i < lanes_of<V>; ++i) numbers[i] = p[i];
  return __builtin_convertvector(numbers, V);
}

// The pixels at x of a row of w, as floats. Outside the row its outermost pixels are repeated.
template <class V, class T>
DUALPIX_INLINE V load_at(const T* row, int x, int w) {
  if (x >= 0 && x + lanes_of<V> <= w) return load_floats<V>(row + x);
  T v[lanes_of<V>];
  for (int i = 0; i < lanes_of<V>; ++i) v[i] = row[std::min(std::max(x + i, 0), w - 1)];
  return load_floats<V>(v);
}

template <class Mask>
DUALPIX_INLINE bool some(const Mask& mask) {
  uint64_t pairs[sizeof mask / sizeof(uint64_t)], all = 0;
  __builtin_memcpy(pairs, &mask, sizeof mask);
  for (uint64_t pair : pairs) all |= pair;
  return all != 0;
}

// The weighted medians around the pixels at x of row y, if their windows span more than `step`.
template <class V>
DUALPIX_INLINE V medians(const Maps& maps, int y, int x, float sigma, float step) {
  const float inverse = 1.0f / (4 * sigma * sigma);
  V values[kSide][kSide], weights[kSide][kSide];
  const V d = load_at<V>(maps.d + maps.row(y), x, maps.w);
  V low = d, high = d;
  for (int i = 0; i < kSide; ++i) {
    const float* row = maps.d + maps.row(y + i * kApart - kReach);
    for (int k = 0; k < kSide; ++k) {
      values[i][k] = load_at<V>(row, x + k * kApart - kReach, maps.w);
      low = min(values[i][k], low), high = max(values[i][k], high);
    }
  }
  const auto near = high - low > step;
  if (!some(near)) return d;
  const V own = load_at<V>(maps.guide + maps.row(y), x, maps.w), between = 0.5f * (low + high);
  V half = {}, count = {}, bright = {}, all = {};  // count, bright: of the near samples
  for (int i = 0; i < kSide; ++i) {
    const uint8_t* row = maps.guide + maps.row(y + i * kApart - kReach);
    for (int k = 0; k < kSide; ++k) {
      const V apart = load_at<V>(row, x + k * kApart - kReach, maps.w) - own;
      const V u = apart * apart * inverse + 1.0f, u2 = u * u;
      weights[i][k] = 1.0f / (u2 * u2);
      half += 0.5f * weights[i][k];
      all += apart;
      bright += select(values[i][k] > between, apart, V{});
      count += select(values[i][k] > between, splat_as<V>(1.0f), V{});
    }
  }
  // the median lies above low, and not above high
  low -= (high - low) * (1.0f / (1 << kHalvings));
  for (int round = 0; round < kHalvings; ++round) {
    const V middle = 0.5f * (low + high);
    V sums[kSide] = {};  // a chain of additions for each column
    for (int i = 0; i < kSide; ++i)
#pragma GCC unroll 7
      for (int k = 0; k < kSide; ++k) sums[k] += select(values[i][k] > middle, weights[i][k], V{});
    const V above = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + sums[6]);
    low = select(above > half, middle, low);
    high = select(above > half, high, middle);
  }
  const V never = splat_as<V>(std::numeric_limits<float>::infinity());
  V median = never;
  for (const auto& row : values)
    for (const V& v : row) median = min(select(v > low, v, never), median);
  // what is near stays near if it looks like what is far
  const V one = splat_as<V>(1.0f), contrast = bright / max(count, one) - (all - bright) / max(kSide * kSide - count, one);
  const V kept = select(d > between, max(median, d), median);
  return select(near, select(max(contrast, -contrast) < kAlike * sigma, kept, median), d);
}

// The pixels of a cell.
template <class V>
DUALPIX_INLINE void follow(const Maps& maps, int row, int column, float sigma, float step) {
  const int first = column * kCellColumns, end = std::min(maps.w, first + kCellColumns);
  for (int y = row * kCellRows; y < std::min(maps.h, (row + 1) * kCellRows); ++y)
    for (int x = first; x < end; x += lanes_of<V>)
      store_part(maps.out + maps.row(y) + x, medians<V>(maps, y, x, sigma, step), std::min(end - x, lanes_of<V>));
}

DUALPIX_CLONES void follow_cell(const Maps& maps, int row, int column, float sigma, float step) {
  follow<vfloat>(maps, row, column, sigma, step);
}

DUALPIX_WIDE void follow_cell_wide(const Maps& maps, int row, int column, float sigma, float step) {
  follow<vlongest>(maps, row, column, sigma, step);
}

DUALPIX_CLONES void bytes_of(const float* plane, uint8_t* bytes, int n) {
  for (int i = 0; i < n; ++i) bytes[i] = (uint8_t)(std::min(std::max(plane[i], 0.0f), 255.0f) + 0.5f);
}

}  // namespace

void follow_outlines(const float* d, const uint8_t* guide, float* out, int h, int w, float sigma, float step, int threads) {
  const Maps maps = {d, guide, out, h, w};
  Cells cells(h, w);
  auto for_rows = [&](auto body) { parallel_for(cells.rows, threads, [] { return 0; }, [&](int row, int) { body(row); }); };
  for_rows([&](int row) {
    for (int column = 0; column < cells.columns; ++column) {
      const size_t cell = (size_t)row * cells.columns + column;
      measure_cell(maps, row, column, &cells.least[cell], &cells.most[cell]);
    }
  });
  for_rows([&](int row) {
    for (int y = row * kCellRows; y < std::min(h, (row + 1) * kCellRows); ++y)
      std::copy_n(d + (size_t)y * w, w, out + (size_t)y * w);
    for (int column = 0; column < cells.columns; ++column)
      if (cells.span(row, column) > step)
        (kHasWide ? follow_cell_wide : follow_cell)(maps, row, column, sigma, step);
  });
}

void to_bytes(const float* plane, uint8_t* bytes, size_t count, int threads) {
  parallel_pixels(count, threads, [&](size_t begin, int n) { bytes_of(plane + begin, bytes + begin, n); });
}

}  // namespace dualpix
