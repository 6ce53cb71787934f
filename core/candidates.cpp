#include "candidates.h"

#include <limits>
#include <vector>

#include "parallel.h"

namespace dualpix {

namespace {

constexpr int kBandRows = 32, kColumns = 96;

struct Slot {
  float cost[kColumns], disparity[kColumns], curvature[kColumns];
};

// One row of a tile: the costs at the two disparities before the present one, and the lowest minima so far.
struct Row {
  float last[kColumns], before[kColumns];
  Slot slots[kMostKept];
};

// A band of rows, worked through tile by tile from left to right so that what the right image finds is whole.
struct Band {
  Band(const Search& o, int w)
      : width(w),
        scratch((size_t)kMostPlanes * (kColumns + 2 * o.window.half)),
        smoothed((size_t)(kBandRows + 2 * o.window.half) * kColumns),
        smoothed_row(kBandRows + 2 * o.window.half),
        rows(kBandRows),
        right_cost((size_t)kBandRows * w) {}
  int width;
  std::vector<float> scratch;               // of smooth_row
  std::vector<float> smoothed;              // rows of a tile and half a window more on both sides, smoothed along x
  std::vector<const float*> smoothed_row;   // by row of the image, padded at its ends
  std::vector<Row> rows;
  std::vector<float> right_cost;
};

struct Part {
  int x0, x1, y0, y1;
};

bool any(vint mask) {
  int32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= mask[i];
  return bits != 0;
}

// How far from its whole disparity a minimum lies, by the rises l and r on its two sides.
DUALPIX_INLINE vfloat offset(vfloat l, vfloat r, Minimum minimum) {
  if (minimum == Minimum::whole) return vfloat{};
  const vfloat width = minimum == Minimum::parabola ? l + r : max(l, r);
  return 0.5f * (l - r) / max(width, splat(1e-30f));
}

DUALPIX_INLINE void exchange(vint mask, float* kept, vfloat& candidate) {
  const vfloat old = load(kept);
  store(kept, select(mask, candidate, old));
  candidate = select(mask, old, candidate);
}

// The cost before the present one, at disparity d, joins the slots where it is a minimum.
DUALPIX_INLINE void keep(Row& row, int x, vfloat cost, float d, const Search& o) {
  const vfloat at = load(row.last + x), before = load(row.before + x);
  const vint minimum = (at <= before) & (at < cost) & (at < load(row.slots[o.kept - 1].cost + x));
  if (!any(minimum)) return;
  const vfloat l = before - at, r = cost - at;
  vfloat c = select(minimum, at, splat(kNoCandidate)), v = d + offset(l, r, o.minimum), a = 0.5f * (l + r);
  for (int k = 0; k < o.kept; ++k) {
    Slot& slot = row.slots[k];
    const vint lower = c < load(slot.cost + x);
    exchange(lower, slot.cost + x, c);
    exchange(lower, slot.disparity + x, v);
    exchange(lower, slot.curvature + x, a);
  }
}

// Costs of one row at its i-th disparity: the window's mean along the column, met with the row's minima.
DUALPIX_CLONES void meet_left(const float* const* smoothed, Row& row, const Search& o, int i) {
  for (int x = 0; x < kColumns; x += kLanes) {
    vfloat cost;
    smooth_column<1>(smoothed, x, 0, o.window, &cost);
    if (i >= 2) keep(row, x, cost, (float)(o.first + i - 1), o);
    store(row.before + x, load(row.last + x));
    store(row.last + x, cost);
  }
}

// The same costs, n of them, seen from the right image.
DUALPIX_CLONES void meet_right(const float* cost, int n, float d, float* best, float* winner) {
  for (int x = 0; x < n; ++x) {
    const bool wins = cost[x] < best[x];
    winner[x] = wins ? d : winner[x];
    best[x] = wins ? cost[x] : best[x];
  }
}

void start(Row& row) {
  for (Slot& slot : row.slots) {
    std::fill_n(slot.cost, kColumns, kNoCandidate);
    std::fill_n(slot.disparity, kColumns, 0.0f);
    std::fill_n(slot.curvature, kColumns, 0.0f);
  }
}

void search_tile(const float* left, const float* right, const Found& found, int h, int w, const Part& t,
                 const Search& o, Band& band) {
  const int half = o.window.half, top = std::max(t.y0 - half, 0), bottom = std::min(t.y1 + half, h);
  for (int k = 0; k < t.y1 - t.y0 + 2 * half; ++k)
    band.smoothed_row[k] = &band.smoothed[(size_t)(padded(t.y0 - half + k, h, o.cost) - top) * kColumns];
  for (Row& row : band.rows) start(row);
  for (int i = 0; i < o.count; ++i) {
    const int d = o.first + i;
    for (int y = top; y < bottom; ++y) {
      const size_t row = (size_t)y * w;
      smooth_row({left + row, right + row, w, d, t.x0, t.x1}, o.cost, {}, o.window, kColumns, band.scratch.data(),
                 &band.smoothed[(size_t)(y - top) * kColumns]);
    }
    const int x0 = std::max(t.x0, d), x1 = std::min(t.x1, w + d);  // where x - d lies inside the right image
    for (int y = t.y0; y < t.y1; ++y) {
      Row& row = band.rows[y - t.y0];
      meet_left(&band.smoothed_row[y - t.y0 + half], row, o, i);
      if (i > 0 && i + 1 < o.count && x0 < x1)
        meet_right(row.last + x0 - t.x0, x1 - x0, (float)d, &band.right_cost[(size_t)(y - t.y0) * w + x0 - d],
                   found.right_winner + (size_t)y * w + x0 - d);
    }
  }
}

void write_tile(const Band& band, const Found& found, int h, int w, const Part& t, int kept) {
  for (int k = 0; k < kept; ++k)
    for (int y = t.y0; y < t.y1; ++y) {
      const size_t at = ((size_t)k * h + y) * w + t.x0;
      const Slot& slot = band.rows[y - t.y0].slots[k];
      std::copy_n(slot.cost, t.x1 - t.x0, found.cost + at);
      std::copy_n(slot.disparity, t.x1 - t.x0, found.disparity + at);
      std::copy_n(slot.curvature, t.x1 - t.x0, found.curvature + at);
    }
}

}  // namespace

void find_candidates(const float* left, const float* right, const Found& found, int h, int w, const Search& options,
                     int threads) {
  parallel_for((h + kBandRows - 1) / kBandRows, threads, [&] { return Band(options, w); }, [&](int i, Band& band) {
    const int y0 = i * kBandRows, y1 = std::min(y0 + kBandRows, h);
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
