#include "match/match.h"

#include <limits>
#include <memory>

#include "common/aligned.h"
#include "common/parallel.h"
#include "common/simd.h"
#include "match/blocks.h"
#include "match/encc.h"

namespace dualpix {

namespace {

// The smoothed rows and running minima of a tile, about 300 kB, stay in the L2 cache of a core.
constexpr int kTileRows = kTile;
constexpr int kTileColumns = kTile;
constexpr float kNothing = 0.1f;  // STD (zncc) or level (ncc), 0..255 scale: below this, 8 bits hold no signal
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The state of every pixel while d runs: the best cost, its index, the costs before and after it, the second best cost
// and its index, and the previous cost.
struct Minima {
  float best[kTileColumns], index[kTileColumns], before[kTileColumns], after[kTileColumns];
  float second[kTileColumns], second_index[kTileColumns], last[kTileColumns];
};

// For encc: the distances of the windows at the best disparity and at its two neighbours.
struct Distances {
  float at[kTileColumns], before[kTileColumns], after[kTileColumns];
};

// What the costs tell about a pixel: the index of the best disparity, and the curvature there times the confidence S.
struct Winners {
  float index[kTileColumns], curvature[kTileColumns];
};

// The left window, which does not depend on d: its mean (0 for ncc) and its energy minus the mean's.
struct LeftWindow {
  float mean[kTileColumns], energy[kTileColumns];
};

struct Tile {
  explicit Tile(const Matching& o)
      : stride(planes(o.cost) * kTileColumns),
        smoothed((size_t)(kTileRows + 2 * o.window.half) * stride),
        rows(kTileRows + 2 * o.window.half),
        minima(kTileRows),
        winners(kTileRows),
        left_window(correlates(o.cost) ? kTileRows : 0) {
    if (o.subpixel == Subpixel::encc) {
      distances.resize(kTileRows);
      encc = std::make_unique<Encc>(o.encc_window, kTileRows, kTileColumns, o.count);
    }
  }
  int stride;
  std::vector<float> scratch;      // for smooth_rows and smooth_blocks
  Aligned<float> smoothed;         // rows of the tile and half a window above and below, smoothed along x
  std::vector<const float*> rows;  // rows[k] is the smoothed row y0 - half + k, padded at the ends of the image
  Aligned<Minima> minima;          // of blocks
  Aligned<Winners> winners;        // of pixels
  std::vector<LeftWindow> left_window;  // only for correlations
  Aligned<Distances> distances;         // only for encc
  std::unique_ptr<Encc> encc;           // only for encc
};

// The cost C(d_i) of one vector of pixels updates their state.
template <class V>
DUALPIX_INLINE void update(Minima& m, int x, V cost, int i, int count) {
  const V number = splat_as<V>((float)i), last = load_as<V>(m.last + x);
  V best = load_as<V>(m.best + x), index = load_as<V>(m.index + x), after = load_as<V>(m.after + x);
  V before = load_as<V>(m.before + x), second = load_as<V>(m.second + x);
  V second_index = load_as<V>(m.second_index + x);

  after = select(index == number - 1.0f, cost, after);
  // The winner needs two neighbours, so it is never the first or the last disparity: no cost is below minus infinity.
  const auto wins = cost < ((i > 0 && i + 1 < count) ? best : splat_as<V>(-kInfinity));
  // The loser, either the new cost or the previous winner, may be the second best.
  const V loser = select(wins, best, cost), loser_index = select(wins, index, number);
  const auto closer = loser < second;
  second = select(closer, loser, second);
  second_index = select(closer, loser_index, second_index);
  best = select(wins, cost, best);
  index = select(wins, number, index);
  before = select(wins, last, before);

  store_as(m.best + x, best);
  store_as(m.index + x, index);
  store_as(m.after + x, after);
  store_as(m.before + x, before);
  store_as(m.second + x, second);
  store_as(m.second_index + x, second_index);
  store_as(m.last + x, cost);
}

// sad, ssd, bt and census: the costs of M rows update their states.
template <int M, class V>
DUALPIX_INLINE void meet_difference(const float* const* rows, const Window& window, int columns, Minima* m, int i,
                                    int count) {
  for (int x = 0; x < columns; x += lanes_of<V>) {
    V s[M];
    smooth_columns<M>(rows, x, window, s);
    for (int j = 0; j < M; ++j) update(m[j], x, s[j], i, count);
  }
}

template <class V>
DUALPIX_INLINE void meet_differences(const float* const* rows, int n, const Window& window, int columns, Minima* m, int i,
                                     int count) {
  int y = 0;
  for (; y + 4 <= n; y += 4) meet_difference<4, V>(rows + y, window, columns, m + y, i, count);
  for (; y < n; ++y) meet_difference<1, V>(rows + y, window, columns, m + y, i, count);
}

DUALPIX_CLONES void difference_costs(const float* const* rows, int n, const Window& window, int columns, Minima* m,
                                     int i, int count) {
  meet_differences<vfloat>(rows, n, window, columns, m, i, count);
}

DUALPIX_WIDE void difference_costs_wide(const float* const* rows, int n, const Window& window, int columns, Minima* m,
                                        int i, int count) {
  meet_differences<vlongest>(rows, n, window, columns, m, i, count);
}
static_assert(kTileColumns / 2 % kWide == 0, "blocks of a tile must fill whole vectors");

DUALPIX_INLINE vfloat square_root(vfloat v) {
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}

// 1 - <L, R> / (|L| |R|) = (|L| |R| - <L, R>) / (|L| |R|), written in small differences so that little cancels in
// float32:
//
//     |L| |R| - <L, R> = (|E|^2 - (|L| - |R|)^2) / 2      |L| - |R| = (|L|^2 - |R|^2) / (|L| + |R|)
//
// The divisor is max(|L|, floor) max(|R|, floor): a window with nothing but rounding has cost 1.
DUALPIX_INLINE vfloat decorrelation(vfloat E2, vfloat L2_less_R2, vfloat L2) {
  const vfloat floor = splat(kNothing), zero = {};
  const vfloat l = square_root(L2), r = square_root(max(L2 - L2_less_R2, zero));
  const vfloat step = L2_less_R2 / max(l + r, splat(1e-15f));
  const vfloat norms = max(l, floor) * max(r, floor);
  // exactly 0 above the floor, without rounding
  const vfloat missing = select((l < floor) | (r < floor), norms - l * r, zero);
  return (missing + 0.5f * max(E2 - step * step, zero)) / norms;
}

// ncc and zncc: the costs of M rows, from the smoothed terms of the correlation, update their states.
template <int M>
DUALPIX_INLINE void meet_correlation(const float* const* rows, const Window& window, bool zero_mean,
                                     const LeftWindow* left, Minima* m, int i, int count) {
  for (int x = 0; x < kTileColumns; x += kLanes) {
    vfloat s[3][M] = {};
    for (int p = 0; p < (zero_mean ? 3 : 2); ++p) smooth_columns<M>(rows, x + p * kTileColumns, window, s[p]);
    for (int j = 0; j < M; ++j) {
      // minus the means, with W*R = W*L - W*E; for ncc they are 0
      const vfloat mean = s[2][j], sum = 2 * load(left[j].mean + x) - mean;
      update(m[j], x, decorrelation(s[0][j] - mean * mean, s[1][j] - mean * sum, load(left[j].energy + x)), i, count);
    }
  }
}

DUALPIX_CLONES void correlation_costs(const float* const* rows, int n, const Window& window, bool zero_mean,
                                      const LeftWindow* left, Minima* m, int i, int count) {
  int y = 0;
  for (; y + 4 <= n; y += 4) meet_correlation<4>(rows + y, window, zero_mean, left + y, m + y, i, count);
  for (; y < n; ++y) meet_correlation<1>(rows + y, window, zero_mean, left + y, m + y, i, count);
}

DUALPIX_CLONES void left_windows(const float* const* rows, const Window& window, bool zero_mean, LeftWindow& left) {
  for (int x = 0; x < kTileColumns; x += kLanes) {
    vfloat energy, mean = {};
    smooth_columns<1>(rows, x, window, &energy);
    if (zero_mean) smooth_columns<1>(rows, x + 2 * kTileColumns, window, &mean);
    store(left.mean + x, mean);
    store(left.energy + x, max(energy - mean * mean, vfloat{}));
  }
}

// Keeps the distances at the i-th disparity for pixels whose best disparity has the index i, i - 1 or i + 1.
DUALPIX_CLONES void keep_distances(const Winners& m, const float* distances, int i, Distances& kept) {
  const float number = (float)i;
  for (int x = 0; x < kTileColumns; x += kLanes) {
    const vfloat index = load(m.index + x), distance = load(distances + x);
    store(kept.at + x, select(index == number, distance, load(kept.at + x)));
    store(kept.before + x, select(index == number + 1.0f, distance, load(kept.before + x)));
    store(kept.after + x, select(index == number - 1.0f, distance, load(kept.after + x)));
  }
}

// The offset in [-1/2, 1/2] of the minimum from d0, given the cost differences l and r to its two neighbours.
DUALPIX_INLINE vfloat vertex_parabola(vfloat l, vfloat r) {
  return select(l + r > 0, (l - r) / max(2 * (l + r), splat(1e-37f)), vfloat{});
}

float vertex_histeq(float l, float r, const float* bias) {
  const float small = std::min(l, r), large = std::max(l, r), t = large > 0 ? small / large : 1.0f;
  const float distance = 0.5f - 0.25f * (t + t * t), x = l <= r ? -distance : distance;
  // bias(x), interpolated linearly in the table
  const float at = 10 * (x + 1);
  const int low = at >= 0 ? std::min((int)at, kBiasSteps - 2) : 0;  // `at` is NaN if l and r are infinite
  return x - (bias[low] + (at - low) * (bias[low + 1] - bias[low]));
}

// Equation 3 of the paper: S = clip((q - 1) / (Tq - 1), 0.01, 1)^2 with q = C(d1) / C(d0); 1 where d1 is next to d0.
// The paper prints q upside down, which does not fit its Tq = 2.2.
DUALPIX_INLINE vfloat confidence(const Minima& m, int x, float Tq) {
  const vfloat apart = load(m.second_index + x) - load(m.index + x);
  const vfloat q = load(m.second + x) / max(load(m.best + x), splat(1e-4f));
  const vfloat s = min(max((q - 1.0f) / (Tq - 1), splat(0.01f)), splat(1.0f));
  return select((apart <= 1) & (apart >= -1), splat(1.0f), s * s);
}

// The curvature of `count` blocks: a = S (l + r) / 2 (equation 1 of the paper), over the cost if there is a noise floor.
DUALPIX_CLONES void curvatures(const Minima& m, int count, const Matching& o, float* curvature) {
  for (int x = 0; x < count; x += kLanes) {
    const vfloat best = load(m.best + x), zero = {};
    const vfloat l = max(load(m.before + x) - best, zero), r = max(load(m.after + x) - best, zero);
    vfloat a = 0.5f * (l + r);
    if (o.noise_floor > 0) a /= best + o.noise_floor;
    store(curvature + x, a * confidence(m, x, o.ratio_threshold));
  }
}

// Gives every pixel of a row the value of its block.
DUALPIX_CLONES void spread(const float* values, int count, int side, float* pixels) {
  if (side == 1) return (void)std::copy_n(values, count, pixels);
  for (int i = 0; i < count; ++i) pixels[2 * i] = pixels[2 * i + 1] = values[i];
}

// From the minima of the blocks of a tile to the winners of its pixels.
void find_winners(const Extent& t, const Matching& o, Tile& tile) {
  const int columns = blocks(t.x1 - t.x0, o.side);
  for (int y = 0; y < t.y1 - t.y0; ++y) {
    Winners& own = tile.winners[y];
    if (y % o.side) {
      own = tile.winners[y - 1];
      continue;
    }
    const Minima& m = tile.minima[y / o.side];
    float curvature[kTileColumns];
    curvatures(m, columns, o, curvature);
    spread(curvature, columns, o.side, own.curvature);
    spread(m.index, columns, o.side, own.index);
  }
}

// The parabola of every pixel of a row, alpha = a and beta = -2 a (d0 + offset) (equation 2 of the paper). Where the
// offset is NaN there is no texture, and both are 0.
DUALPIX_CLONES void fit_parabolas(const Winners& won, int count, float first, const float* offsets, float* alpha,
                                  float* beta) {
  for (int x = 0; x < count; x += kLanes) {
    const int n = count - x < kLanes ? count - x : kLanes;
    const vfloat offset = load(offsets + x), zero = {};
    const vint known = offset == offset;
    const vfloat a = select(known, load(won.curvature + x), zero);
    store(alpha + x, a, n);
    store(beta + x, -2.0f * a * (first + load(won.index + x) + select(known, offset, zero)), n);
  }
}

// The distances of encc at the best disparity of every pixel of the tile and at its two neighbours.
void measure_distances(int h, int w, const Extent& t, const Matching& o, Tile& tile) {
  std::vector<char> best(o.count + 2);
  for (int y = 0; y < t.y1 - t.y0; ++y)
    for (int x = 0; x < t.x1 - t.x0; ++x) best[1 + (int)tile.winners[y].index[x]] = 1;
  tile.encc->start(o.encc_left, o.encc_right, h, w, t, o.first, o.count);
  for (int i = 0; i < o.count; ++i) {
    if (!(best[i] | best[i + 1] | best[i + 2])) continue;
    tile.encc->measure(o.first + i);
    for (int y = 0; y < t.y1 - t.y0; ++y)
      keep_distances(tile.winners[y], tile.encc->distances(y), i, tile.distances[y]);
  }
}

DUALPIX_CLONES void parabola_vertices(const Minima& m, int count, float* offsets) {
  for (int x = 0; x < count; x += kLanes) {
    const vfloat best = load(m.best + x), zero = {};
    store(offsets + x, vertex_parabola(max(load(m.before + x) - best, zero), max(load(m.after + x) - best, zero)));
  }
}

// The offsets of the vertices of a row of n pixels from their whole disparities.
void vertices(const Tile& tile, int y, int n, const Matching& o, float* offsets) {
  if (o.subpixel == Subpixel::encc) {
    const Distances& kept = tile.distances[y];
    return tile.encc->peaks(y, n, tile.winners[y].index, kept.before, kept.at, kept.after, offsets);
  }
  const Minima& m = tile.minima[y / o.side];
  const int columns = blocks(n, o.side);
  float own[kTileColumns];
  if (o.subpixel == Subpixel::parabola)
    parabola_vertices(m, columns, own);
  else
    for (int x = 0; x < columns; ++x)
      own[x] = vertex_histeq(std::max(m.before[x] - m.best[x], 0.0f), std::max(m.after[x] - m.best[x], 0.0f), o.bias);
  spread(own, columns, o.side, offsets);
}

void start(Minima& m) {
  std::fill(m.best, m.best + kTileColumns, kInfinity);
  std::fill(m.second, m.second + kTileColumns, kInfinity);
  std::fill(m.index, m.index + kTileColumns, 1.0f);  // stays if no cost is finite
}

float tile_mean(const float* image, int w, const Extent& t) {
  double total = 0;
  for (int y = t.y0; y < t.y1; ++y)
    for (int x = t.x0; x < t.x1; ++x) total += image[(size_t)y * w + x];
  return (float)(total / ((double)(t.x1 - t.x0) * (t.y1 - t.y0)));
}

void match_tile(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Extent& t,
                const Matching& o, Tile& tile) {
  // Rows and columns of blocks, which are pixels if o.side is 1.
  const int top = t.y0 / o.side, bottom = blocks(t.y1, o.side), height = bottom - top, down = blocks(h, o.side);
  const int x0 = t.x0 / o.side, x1 = blocks(t.x1, o.side);
  const int first_row = std::max(top - o.window.half, 0), end_row = std::min(bottom + o.window.half, down);
  auto smooth_tile = [&](int d, const Means& means) {
    const Strip strip = {left, right, w, d, x0, x1};
    if (o.side == 1)
      smooth_rows(strip, first_row, end_row, o.cost, means, o.window, kTileColumns, tile.scratch, tile.smoothed.data());
    else
      smooth_blocks(strip, h, first_row, end_row, o.cost, o.window, tile.stride, tile.scratch, tile.smoothed.data());
  };
  for (int k = 0; k < height + 2 * o.window.half; ++k)
    tile.rows[k] = &tile.smoothed[(size_t)(padded(top - o.window.half + k, down, o.cost) - first_row) * tile.stride];
  for (Minima& m : tile.minima) start(m);

  const bool zero_mean = o.cost == Cost::zncc;
  const Means means = zero_mean ? Means{tile_mean(left, w, t), tile_mean(right, w, t)} : Means{};
  if (correlates(o.cost)) {
    // At d = w all of R lies outside the image, so E = L.
    smooth_tile(w, {means.left, 0});
    for (int y = 0; y < height; ++y)
      left_windows(&tile.rows[y + o.window.half], o.window, zero_mean, tile.left_window[y]);
  }
  for (int i = 0; i < o.count; ++i) {
    smooth_tile(o.first + i, means);
    const float* const* rows = &tile.rows[o.window.half];
    if (correlates(o.cost))
      correlation_costs(rows, height, o.window, zero_mean, tile.left_window.data(), tile.minima.data(), i, o.count);
    else
      (kHasWide ? difference_costs_wide : difference_costs)(rows, height, o.window, kTileColumns / o.side, tile.minima.data(), i, o.count);
  }
  find_winners(t, o, tile);
  if (tile.encc) measure_distances(h, w, t, o, tile);
  for (int y = t.y0; y < t.y1; ++y) {
    const size_t at = (size_t)y * w + t.x0;
    float offsets[kTileColumns];
    vertices(tile, y - t.y0, t.x1 - t.x0, o, offsets);
    fit_parabolas(tile.winners[y - t.y0], t.x1 - t.x0, (float)o.first, offsets, alpha + at, beta + at);
  }
}

struct Extremes {
  float least, most;
};

// Of h rows of w pixels, `stride` apart.
DUALPIX_CLONES Extremes extremes(const float* d, int h, int w, size_t stride) {
  Extremes found = {*d, *d};
  vfloat low = splat(*d), high = splat(*d);
  for (int y = 0; y < h; ++y) {
    const float* row = d + y * stride;
    int x = 0;
    for (; x + kLanes <= w; x += kLanes) low = min(low, load(row + x)), high = max(high, load(row + x));
    for (; x < w; ++x) found = {std::min(found.least, row[x]), std::max(found.most, row[x])};
  }
  for (int i = 0; i < kLanes; ++i) found = {std::min(found.least, low[i]), std::max(found.most, high[i])};
  return found;
}

}  // namespace

void match(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Matching& options,
           int threads) {
  const int across = (w + kTileColumns - 1) / kTileColumns, down = (h + kTileRows - 1) / kTileRows;
  parallel_for(across * down, threads, [&] { return Tile(options); }, [&](int i, Tile& tile) {
    const int x0 = i % across * kTileColumns, y0 = i / across * kTileRows;
    const Extent extent = {x0, std::min(x0 + kTileColumns, w), y0, std::min(y0 + kTileRows, h)};
    Matching own = options;
    if (options.ranges) own.first = options.ranges[2 * i], own.count = options.ranges[2 * i + 1];
    match_tile(left, right, alpha, beta, h, w, extent, own, tile);
  });
}

void tile_extremes(const float* d, int coarse_h, int coarse_w, int reach, float* least, float* most, int threads) {
  constexpr int kSide = kTile / 2;
  const int across = (coarse_w + kSide - 1) / kSide, down = (coarse_h + kSide - 1) / kSide;
  parallel_for(across * down, threads, [] { return 0; }, [&](int i, int) {
    const int x0 = std::max(i % across * kSide - reach, 0), x1 = std::min((i % across + 1) * kSide + reach, coarse_w);
    const int y0 = std::max(i / across * kSide - reach, 0), y1 = std::min((i / across + 1) * kSide + reach, coarse_h);
    const Extremes found = extremes(d + (size_t)y0 * coarse_w + x0, y1 - y0, x1 - x0, coarse_w);
    least[i] = found.least, most[i] = found.most;
  });
}

}  // namespace dualpix
