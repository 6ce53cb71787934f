#include "match/candidates.h"

#include <limits>
#include <vector>

#include "common/parallel.h"
#include "match/census_search.h"

namespace dualpix {

namespace {

constexpr int kBandRows = 64, kColumns = 96;  // half the rows in small images, so that every thread has work

// For kLanes pixels of a row: the costs at the two previous disparities, and the lowest minima so far.
struct Cell {
  float last[kLanes], before[kLanes];
  float cost[kMostKept][kLanes], disparity[kMostKept][kLanes], curvature[kMostKept][kLanes];
};

struct Row {
  Cell cells[kColumns / kLanes];
};

// A band of rows. One thread searches it tile by tile, so that the winners of the right image are complete.
struct Band {
  Band(const Search& o, int w)
      : smoothed((size_t)(kBandRows + 2 * o.window.half) * kColumns),
        smoothed_row(kBandRows + 2 * o.window.half),
        rows(kBandRows),
        right_cost((size_t)kBandRows * w) {}
  std::vector<float> scratch;               // for smooth_rows
  std::vector<float> smoothed;              // rows of a tile and half a window above and below, smoothed along x
  std::vector<const float*> smoothed_row;   // the smoothed rows of the image's rows, padded at its ends
  std::vector<Row> rows;
  std::vector<float> right_cost;
};

struct Part {
  int x0, x1, y0, y1;
};

// Offset of a minimum from its whole disparity, from the cost differences l and r to its two neighbours.
DUALPIX_INLINE vfloat offset(vfloat l, vfloat r, Minimum minimum) {
  if (minimum == Minimum::whole) return vfloat{};
  return 0.5f * (l - r) / max(l + r, splat(1e-30f));
}

// Inserts a value into a sorted list of K at the first place k where lower[k] is true. The rest moves up by one.
template <int K>
DUALPIX_INLINE void insert(const vint* lower, vfloat value, float (*list)[kLanes]) {
  for (int k = K - 1; k > 0; --k) {
    const vfloat here = select(lower[k], value, load(list[k]));
    store(list[k], select(lower[k - 1], load(list[k - 1]), here));
  }
  store(list[0], select(lower[0], value, load(list[0])));
}

// If the previous cost, that of disparity d, is a minimum, it is inserted into the K lowest ones.
template <int K>
DUALPIX_INLINE void keep(Cell& cell, vfloat cost, float d, Minimum kind) {
  const vfloat at = load(cell.last), before = load(cell.before);
  const vint minimum = (at <= before) & (at < cost) & (at < load(cell.cost[K - 1]));
  if (!any(minimum)) return;
  const vfloat l = before - at, r = cost - at;
  vint lower[K];
  for (int k = 0; k < K; ++k) lower[k] = minimum & (at < load(cell.cost[k]));
  insert<K>(lower, at, cell.cost);
  insert<K>(lower, d + offset(l, r, kind), cell.disparity);
  insert<K>(lower, 0.5f * (l + r), cell.curvature);
}

// The costs of M rows at the i-th disparity, smoothed along columns, update the minima of the rows.
template <int K, int M>
DUALPIX_INLINE void meet(const float* const* smoothed, Row* rows, float* costs, Window window, Minimum kind, int i,
                         float d) {
  for (int x = 0; x < kColumns; x += kLanes) {
    vfloat cost[M];
    smooth_columns<M>(smoothed, x, window, cost);
    for (int j = 0; j < M; ++j) {
      Cell& cell = rows[j].cells[x / kLanes];
      if (i >= 2) keep<K>(cell, cost[j], d - 1, kind);
      store(cell.before, load(cell.last));
      store(cell.last, cost[j]);
      store(costs + j * kColumns + x, cost[j]);
    }
  }
}

DUALPIX_CLONES void meet_left(int kept, int n, const float* const* smoothed, Row* rows, float* costs, Window window,
                              Minimum kind, int i, float d) {
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    int y = 0;
    for (; y + 4 <= n; y += 4) meet<K, 4>(smoothed + y, rows + y, costs + y * kColumns, window, kind, i, d);
    for (; y < n; ++y) meet<K, 1>(smoothed + y, rows + y, costs + y * kColumns, window, kind, i, d);
  });
}

// The same n costs update the winners of the right image.
DUALPIX_CLONES void meet_right(const float* cost, int n, float d, float* best, float* winner) {
  for (int x = 0; x < n; ++x) {
    const bool wins = cost[x] < best[x];
    winner[x] = wins ? d : winner[x];
    best[x] = wins ? cost[x] : best[x];
  }
}

void start(Row& row) {
  for (Cell& cell : row.cells) {
    cell = {};
    for (auto& cost : cell.cost) std::fill_n(cost, kLanes, kNoCandidate);
  }
}

void search_tile(const float* left, const float* right, const Found& found, int h, int w, const Part& t,
                 const Search& o, Band& band) {
  const int half = o.window.half, top = std::max(t.y0 - half, 0), bottom = std::min(t.y1 + half, h);
  for (int k = 0; k < t.y1 - t.y0 + 2 * half; ++k)
    band.smoothed_row[k] = &band.smoothed[(size_t)(padded(t.y0 - half + k, h, o.cost) - top) * kColumns];
  for (Row& row : band.rows) start(row);
  float costs[kBandRows * kColumns];
  for (int i = 0; i < o.count; ++i) {
    const int d = o.first + i;
    smooth_rows({left, right, w, d, t.x0, t.x1}, top, bottom, o.cost, {}, o.window, kColumns, band.scratch,
                band.smoothed.data());
    const int x0 = std::max(t.x0, d), x1 = std::min(t.x1, w + d);  // where x - d lies inside the right image
    meet_left(o.kept, t.y1 - t.y0, &band.smoothed_row[half], band.rows.data(), costs, o.window, o.minimum, i, (float)d);
    if (i == 0 || i + 1 == o.count || x0 >= x1) continue;
    for (int y = 0; y < t.y1 - t.y0; ++y)
      meet_right(costs + y * kColumns + x0 - t.x0, x1 - x0, (float)d, &band.right_cost[(size_t)y * w + x0 - d],
                 found.right_winner + (size_t)(t.y0 + y) * w + x0 - d);
  }
}

void write_tile(const Band& band, const Found& found, int h, int w, const Part& t, int kept) {
  for (int k = 0; k < kept; ++k)
    for (int y = t.y0; y < t.y1; ++y)
      for (int x = t.x0; x < t.x1; x += kLanes) {
        const Cell& cell = band.rows[y - t.y0].cells[(x - t.x0) / kLanes];
        const size_t at = ((size_t)k * h + y) * w + x;
        const int n = std::min(kLanes, t.x1 - x);
        std::copy_n(cell.cost[k], n, found.cost + at);
        std::copy_n(cell.disparity[k], n, found.disparity + at);
        std::copy_n(cell.curvature[k], n, found.curvature + at);
      }
}

}  // namespace

void find_candidates(const float* left, const float* right, const Found& found, int h, int w, const Search& options,
                     int threads) {
  if (in_whole_numbers(options)) return find_in_whole_numbers(left, right, found, h, w, options, threads);
  const int rows = h / (2 * kBandRows) < threads ? kBandRows / 2 : kBandRows;
  parallel_for((h + rows - 1) / rows, threads, [&] { return Band(options, w); }, [&](int i, Band& band) {
    const int y0 = i * rows, y1 = std::min(y0 + rows, h);
    std::fill(band.right_cost.begin(), band.right_cost.end(), std::numeric_limits<float>::infinity());
    std::fill_n(found.right_winner + (size_t)y0 * w, (size_t)(y1 - y0) * w, std::numeric_limits<float>::quiet_NaN());
    for (int x0 = 0; x0 < w; x0 += kColumns) {
      const Part tile = {x0, std::min(x0 + kColumns, w), y0, y1};
      search_tile(left, right, found, h, w, tile, options, band);
      write_tile(band, found, h, w, tile, options.kept);
    }
  });
}

}  // namespace dualpix
