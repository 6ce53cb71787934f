#include "filters/outlines.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kSide = 5, kApart = 3, kReach = kSide / 2 * kApart;
constexpr int kHalvings = 10;   // of the span, until the median is known
constexpr float kAlike = 1.5f;  // times sigma: a smaller difference in brightness does not tell near from far
// Pixels of a cell. A window lies within the cell of its pixel and the eight cells around it.
constexpr int kCellRows = 8, kCellColumns = 16;
static_assert(kReach <= kCellRows && kReach <= kCellColumns && kCellColumns % kWide == 0, "windows within cells");

struct Maps {
  float* d;
  const uint8_t* guide;
  float* medians;
  int h, w;

  // Where row y begins. Outside the map its outermost rows are repeated.
  size_t at(int y) const { return (size_t)std::min(std::max(y, 0), h - 1) * w; }
};

// The least and the greatest disparity of every cell, and whether it may have a depth edge.
struct Cells {
  Cells(int h, int w)
      : rows((h + kCellRows - 1) / kCellRows), columns((w + kCellColumns - 1) / kCellColumns),
        least((size_t)rows * columns), most(least.size()), edge(least.size()) {}

  size_t at(int row, int column) const { return (size_t)row * columns + column; }

  // Calls visit(cell) for a cell and those around it.
  template <class Visit>
  void around(int row, int column, const Visit& visit) const {
    for (int y = std::max(row - 1, 0); y <= std::min(row + 1, rows - 1); ++y)
      for (int x = std::max(column - 1, 0); x <= std::min(column + 1, columns - 1); ++x) visit(at(y, x));
  }

  bool spans(int row, int column, float step) const {
    float low = least[at(row, column)], high = most[at(row, column)];
    around(row, column, [&](size_t cell) { low = std::min(low, least[cell]), high = std::max(high, most[cell]); });
    return high - low > step;
  }

  bool beside_edge(int row, int column) const {
    bool found = false;
    around(row, column, [&](size_t cell) { found |= edge[cell] != 0; });
    return found;
  }

  int rows, columns;
  std::vector<float> least, most;
  std::vector<uint8_t> edge;
};

// The least and the greatest disparity of a row of cells. low, high: room for a row of pixels.
DUALPIX_CLONES void measure_cells(const Maps& maps, int row, float* low, float* high, float* least, float* most) {
  const int w = maps.w, first = row * kCellRows;
  std::copy_n(maps.d + maps.at(first), w, low);
  std::copy_n(low, w, high);
  for (int y = first + 1; y < std::min(maps.h, first + kCellRows); ++y) {
    const float* d = maps.d + maps.at(y);
    for (int x = 0; x < w; ++x) low[x] = d[x] < low[x] ? d[x] : low[x], high[x] = d[x] > high[x] ? d[x] : high[x];
  }
  for (int x = 0; x < w; x += kCellColumns, ++least, ++most) {
    vfloat lowest = load_beside<vfloat>(low, x, w), highest = load_beside<vfloat>(high, x, w);
    for (int i = x + kLanes; i < std::min(w, x + kCellColumns); i += kLanes) {
      lowest = min(load_beside<vfloat>(low, i, w), lowest);
      highest = max(load_beside<vfloat>(high, i, w), highest);
    }
    *least = lowest[0], *most = highest[0];
    for (int i = 1; i < kLanes; ++i) *least = std::min(*least, lowest[i]), *most = std::max(*most, highest[i]);
  }
}

// The pixels at x of a row. `inside`: they are known to lie within it.
template <class V, bool inside, class T>
DUALPIX_INLINE V load_at(const T* row, int x, int w) {
  return inside ? load_floats<V>(row + x) : load_beside<V>(row, x, w);
}

// The weighted medians around the pixels at x of row y, if their windows span more than `step`. `inside`: the windows
// lie within the row.
template <class V, bool inside>
DUALPIX_INLINE V medians(const Maps& maps, int y, int x, float sigma, float step) {
  const float inverse = 1.0f / (4 * sigma * sigma);
  V values[kSide][kSide], weights[kSide][kSide];
  const V d = load_at<V, inside>(maps.d + maps.at(y), x, maps.w);
  V low = d, high = d;
  for (int i = 0; i < kSide; ++i) {
    const float* row = maps.d + maps.at(y + i * kApart - kReach);
    for (int k = 0; k < kSide; ++k) {
      values[i][k] = load_at<V, inside>(row, x + k * kApart - kReach, maps.w);
      low = min(values[i][k], low), high = max(values[i][k], high);
    }
  }
  const auto at_edge = high - low > step;
  if (!any(at_edge)) return d;
  const V own = load_at<V, inside>(maps.guide + maps.at(y), x, maps.w), between = 0.5f * (low + high);
  V half = {}, count = {}, bright = {}, all = {};  // count, bright: of the near samples
  for (int i = 0; i < kSide; ++i) {
    const uint8_t* row = maps.guide + maps.at(y + i * kApart - kReach);
    for (int k = 0; k < kSide; ++k) {
      const V apart = load_at<V, inside>(row, x + k * kApart - kReach, maps.w) - own;
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
#pragma GCC unroll 5
      for (int k = 0; k < kSide; ++k) sums[k] += select(values[i][k] > middle, weights[i][k], V{});
    const V above = (sums[0] + sums[1]) + (sums[2] + sums[3]) + sums[4];
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
  return select(at_edge, select(max(contrast, -contrast) < kAlike * sigma, kept, median), d);
}

// The medians of the pixels of a cell.
template <class V>
DUALPIX_INLINE void follow(const Maps& maps, int row, int column, float sigma, float step) {
  const int first = column * kCellColumns, end = std::min(maps.w, first + kCellColumns);
  for (int y = row * kCellRows; y < std::min(maps.h, (row + 1) * kCellRows); ++y)
    for (int x = first; x < end; x += lanes_of<V>) {
      const bool inside = x >= kReach && x + lanes_of<V> + kReach <= maps.w;
      const V found = inside ? medians<V, true>(maps, y, x, sigma, step) : medians<V, false>(maps, y, x, sigma, step);
      store_part(maps.medians + maps.at(y) + x, found, std::min(end - x, lanes_of<V>));
    }
}

DUALPIX_CLONES void follow_cell(const Maps& maps, int row, int column, float sigma, float step) {
  follow<vfloat>(maps, row, column, sigma, step);
}

DUALPIX_WIDE void follow_cell_wide(const Maps& maps, int row, int column, float sigma, float step) {
  follow<vlongest>(maps, row, column, sigma, step);
}

// The medians of a cell without depth edges.
void copy_cell(const Maps& maps, int row, int column) {
  const int first = column * kCellColumns, n = std::min(maps.w - first, kCellColumns);
  for (int y = row * kCellRows; y < std::min(maps.h, (row + 1) * kCellRows); ++y)
    std::copy_n(maps.d + maps.at(y) + first, n, maps.medians + maps.at(y) + first);
}

template <class V>
DUALPIX_INLINE V middle_of_three(V a, V b, V c) {
  return max(min(a, b), min(max(a, b), c));
}

// The median of three rows of three values. Sort every column. The greatest of the least, the middle of the middle and the
// least of the greatest values have the median of all nine as their middle.
template <class V>
DUALPIX_INLINE V middle_of_nine(const V* rows) {
  V least[3], middle[3], most[3];
  for (int k = 0; k < 3; ++k) {
    const V a = rows[k], b = rows[3 + k], c = rows[6 + k];
    least[k] = min(min(a, b), c), most[k] = max(max(a, b), c), middle[k] = middle_of_three(a, b, c);
  }
  return middle_of_three(max(max(least[0], least[1]), least[2]), middle_of_three(middle[0], middle[1], middle[2]),
                         min(min(most[0], most[1]), most[2]));
}

// Pixels of a cell whose weighted median is another disparity get the median of the nine medians around them: neighbours
// look at different pixels, so single medians stand out.
DUALPIX_CLONES void settle_cell(const Maps& maps, int row, int column) {
  const int first = column * kCellColumns, end = std::min(maps.w, first + kCellColumns);
  for (int y = row * kCellRows; y < std::min(maps.h, (row + 1) * kCellRows); ++y)
    for (int x = first; x < end; x += kLanes) {
      const int n = std::min(end - x, kLanes);
      vfloat nine[9];
      for (int i = 0; i < 9; ++i) nine[i] = load_beside<vfloat>(maps.medians + maps.at(y + i / 3 - 1), x + i % 3 - 1, maps.w);
      float* d = maps.d + maps.at(y) + x;
      const vfloat own = load(d, n);
      store(d, select(nine[4] == own, own, middle_of_nine(nine)), n);
    }
}

// NaN becomes 0: `std::max` gives its first argument if the second is NaN.
DUALPIX_CLONES void bytes_of(const float* plane, uint8_t* bytes, int n) {
  for (int i = 0; i < n; ++i) bytes[i] = (uint8_t)(std::min(std::max(0.0f, plane[i]), 255.0f) + 0.5f);
}

}  // namespace

void follow_outlines(float* d, const uint8_t* guide, float* room, int h, int w, float sigma, float step, int threads) {
  const Maps maps = {d, guide, room, h, w};
  Cells cells(h, w);
  parallel_for(cells.rows, threads, [&] { return std::vector<float>(2 * (size_t)w); },
               [&](int row, std::vector<float>& scratch) {
    const size_t cell = cells.at(row, 0);
    measure_cells(maps, row, scratch.data(), scratch.data() + w, &cells.least[cell], &cells.most[cell]);
  });
  auto for_cells = [&](auto body) {
    parallel_for(cells.rows, threads, [] { return 0; }, [&](int row, int) {
      for (int column = 0; column < cells.columns; ++column) body(row, column);
    });
  };
  for_cells([&](int row, int column) { cells.edge[cells.at(row, column)] = cells.spans(row, column, step); });
  for_cells([&](int row, int column) {
    if (cells.edge[cells.at(row, column)])
      (kHasWide ? follow_cell_wide : follow_cell)(maps, row, column, sigma, step);
    else if (cells.beside_edge(row, column))
      copy_cell(maps, row, column);
  });
  for_cells([&](int row, int column) {
    if (cells.edge[cells.at(row, column)]) settle_cell(maps, row, column);
  });
}

void take_changes(float* d, const float* before, const float* after, int h, int w, int every, int threads) {
  const int rows = (h - 1) / every + 1, columns = (w - 1) / every + 1;
  parallel_for(rows, threads, [] { return 0; }, [&](int row, int) {
    const size_t first = (size_t)row * columns;
    for (int column = 0; column < columns; ++column) {
      const float value = after[first + column];
      if (value == before[first + column]) continue;
      const int x = column * every, n = std::min(every, w - x);
      for (int y = row * every; y < std::min(h, (row + 1) * every); ++y) std::fill_n(d + (size_t)y * w + x, n, value);
    }
  });
}

void to_bytes(const float* plane, uint8_t* bytes, size_t count, int threads) {
  parallel_pixels(count, threads, [&](size_t begin, int n) { bytes_of(plane + begin, bytes + begin, n); });
}

}  // namespace dualpix
