#include "match.h"

#include <limits>
#include <memory>

#include "encc.h"
#include "parallel.h"
#include "simd.h"

namespace dualpix {

namespace {

// A tile's smoothed rows and running minima, together about 300 kB, stay in a core's L2 cache.
constexpr int kTileRows = 96;
constexpr int kTileColumns = 96;
constexpr float kNothing = 0.1f;  // STD (zncc) or level (ncc), on a 0..255 scale, below which 8 bits hold no signal
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What is kept of the cost of every pixel while d runs: the best cost, its index and its two neighbours, the second
// best and its index, and the cost before the present one.
struct Minima {
  float best[kTileColumns], index[kTileColumns], before[kTileColumns], after[kTileColumns];
  float second[kTileColumns], second_index[kTileColumns], last[kTileColumns];
  // for encc, the distances of the windows at the best disparity, its neighbours, and the one before the present
  float distance[kTileColumns], distance_before[kTileColumns], distance_after[kTileColumns], distance_last[kTileColumns];
};

// The left image under the window, which does not depend on d: its mean (0 for ncc) and its energy less that.
struct LeftWindow {
  float mean[kTileColumns], energy[kTileColumns];
};

struct Tile {
  explicit Tile(const Matching& o)
      : stride(planes(o.cost) * kTileColumns),
        scratch((size_t)kMostPlanes * (kTileColumns + 2 * o.window.half)),
        smoothed((size_t)(kTileRows + 2 * o.window.half) * stride),
        rows(kTileRows + 2 * o.window.half),
        minima(kTileRows),
        left_window(correlates(o.cost) ? kTileRows : 0) {
    if (o.subpixel == Subpixel::encc)
      encc = std::make_unique<Encc>(o.encc_window, kTileRows, kTileColumns, o.first, o.count);
  }
  int stride;
  std::vector<float> scratch;      // of smooth_row
  std::vector<float> smoothed;     // rows of the tile and half more on both sides, smoothed along x, planes abreast
  std::vector<const float*> rows;  // rows[k] is the smoothed row of y0 - half + k, padded at the image's ends
  std::vector<Minima> minima;
  std::vector<LeftWindow> left_window;  // only for correlations
  std::unique_ptr<Encc> encc;           // only for that vertex
};

// The cost C(d_i) of one vector of pixels meets what is known of the disparities before it.
DUALPIX_INLINE void update(Minima& m, int x, vfloat cost, const float* distances, int i, int count) {
  const vfloat number = splat((float)i), last = load(m.last + x);
  vfloat best = load(m.best + x), index = load(m.index + x), after = load(m.after + x), before = load(m.before + x);
  vfloat second = load(m.second + x), second_index = load(m.second_index + x);

  const vint follows = index == number - 1.0f;
  after = select(follows, cost, after);
  // The winner has two neighbours: it is never the first or the last disparity.
  const vint wins = (i > 0 && i + 1 < count) ? cost < best : vint{};
  // The loser of the two, the new cost or the winner so far, may be the second best.
  const vfloat loser = select(wins, best, cost), loser_index = select(wins, index, number);
  const vint closer = loser < second;
  second = select(closer, loser, second);
  second_index = select(closer, loser_index, second_index);
  best = select(wins, cost, best);
  index = select(wins, number, index);
  before = select(wins, last, before);

  if (distances) {
    const vfloat distance = load(distances + x);
    store(m.distance_after + x, select(follows, distance, load(m.distance_after + x)));
    store(m.distance_before + x, select(wins, load(m.distance_last + x), load(m.distance_before + x)));
    store(m.distance + x, select(wins, distance, load(m.distance + x)));
    store(m.distance_last + x, distance);
  }

  store(m.best + x, best);
  store(m.index + x, index);
  store(m.after + x, after);
  store(m.before + x, before);
  store(m.second + x, second);
  store(m.second_index + x, second_index);
  store(m.last + x, cost);
}

// Costs that are smoothed differences meet the running minima of their row.
DUALPIX_CLONES void difference_costs(const float* const* rows, const Window& window, Minima& m, const float* distances,
                                     int i, int count) {
  for (int x = 0; x < kTileColumns; x += 2 * kLanes) {
    vfloat s[2];
    smooth_column<2>(rows, x, kLanes, window, s);
    update(m, x, s[0], distances, i, count);
    update(m, x + kLanes, s[1], distances, i, count);
  }
}

DUALPIX_INLINE vfloat square_root(vfloat v) {
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}

// 1 - <L, R> / (|L| |R|) = (|L| |R| - <L, R>) / (|L| |R|), in small differences so that little cancels in float32:
//
//     |L| |R| - <L, R> = (|E|^2 - (|L| - |R|)^2) / 2      |L| - |R| = (|L|^2 - |R|^2) / (|L| + |R|)
//
// Divided by max(|L|, floor) max(|R|, floor), a window of nothing but rounding correlates with nothing: cost 1.
DUALPIX_INLINE vfloat decorrelation(vfloat E2, vfloat L2_less_R2, vfloat L2) {
  const vfloat floor = splat(kNothing), zero = {};
  const vfloat l = square_root(L2), r = square_root(max(L2 - L2_less_R2, zero));
  const vfloat step = L2_less_R2 / max(l + r, splat(1e-15f));
  const vfloat norms = max(l, floor) * max(r, floor);
  // above the floor nothing is missing, not even rounding
  const vfloat missing = select((l < floor) | (r < floor), norms - l * r, zero);
  return (missing + 0.5f * max(E2 - step * step, zero)) / norms;
}

// The same for ncc and zncc, from the smoothed terms of their correlation.
DUALPIX_CLONES void correlation_costs(const float* const* rows, const Window& window, bool zero_mean,
                                      const LeftWindow& left, Minima& m, const float* distances, int i, int count) {
  for (int x = 0; x < kTileColumns; x += kLanes) {
    vfloat s[3] = {};
    if (zero_mean)
      smooth_column<3>(rows, x, kTileColumns, window, s);
    else
      smooth_column<2>(rows, x, kTileColumns, window, s);
    // less the means, with W*R = W*L - W*E; for ncc they are 0
    const vfloat sum = 2 * load(left.mean + x) - s[2];
    const vfloat cost = decorrelation(s[0] - s[2] * s[2], s[1] - s[2] * sum, load(left.energy + x));
    update(m, x, cost, distances, i, count);
  }
}

DUALPIX_CLONES void left_windows(const float* const* rows, const Window& window, bool zero_mean, LeftWindow& left) {
  for (int x = 0; x < kTileColumns; x += kLanes) {
    vfloat energy, mean = {};
    smooth_column<1>(rows, x, 0, window, &energy);
    if (zero_mean) smooth_column<1>(rows, x + 2 * kTileColumns, 0, window, &mean);
    store(left.mean + x, mean);
    store(left.energy + x, max(energy - mean * mean, vfloat{}));
  }
}

// x in [-1/2, 1/2], the offset of the minimum from d0, given the rises l and r on its two sides.
float vertex_parabola(float l, float r) { return l + r > 0 ? (l - r) / (2 * (l + r)) : 0.0f; }

float vertex_histeq(float l, float r, const float* bias) {
  const float small = std::min(l, r), large = std::max(l, r), t = large > 0 ? small / large : 1.0f;
  const float distance = 0.5f - 0.25f * (t + t * t), x = l <= r ? -distance : distance;
  // bias(x), linear between the table's entries
  const float at = 10 * (x + 1);
  const int low = std::min((int)at, kBiasSteps - 2);
  return x - (bias[low] + (at - low) * (bias[low + 1] - bias[low]));
}

// S = clip((q - 1) / (Tq - 1), 0.01, 1)^2 with q = C(d1) / C(d0); 1 where d1 is next to d0.
float confidence(const Minima& m, int x, float Tq) {
  if (__builtin_fabsf(m.second_index[x] - m.index[x]) <= 1) return 1.0f;
  const float q = m.second[x] / std::max(m.best[x], 1e-4f);
  const float s = std::min(std::max((q - 1) / (Tq - 1), 0.01f), 1.0f);
  return s * s;
}

// The offset of the vertex from d0; false if nothing can be said.
bool vertex(const Tile& tile, int x, int y, float l, float r, const Matching& o, float* offset) {
  const Minima& m = tile.minima[y];
  if (o.subpixel == Subpixel::encc)
    return tile.encc->peak(x, y, o.first + (int)m.index[x], m.distance_before[x], m.distance[x], m.distance_after[x],
                           offset);
  *offset = o.subpixel == Subpixel::parabola ? vertex_parabola(l, r) : vertex_histeq(l, r, o.bias);
  return true;
}

void fit_parabolas(const Tile& tile, int y, int n, const Matching& o, float* alpha, float* beta) {
  const Minima& m = tile.minima[y];
  for (int x = 0; x < n; ++x) {
    const float l = std::max(m.before[x] - m.best[x], 0.0f), r = std::max(m.after[x] - m.best[x], 0.0f);
    float offset;
    const bool known = vertex(tile, x, y, l, r, o, &offset);
    // a = (l + r) / 2;  alpha = S a;  beta = -2 alpha (d0 + x)
    float a = known ? 0.5f * (l + r) : 0.0f;
    if (o.noise_floor > 0) a /= m.best[x] + o.noise_floor;
    alpha[x] = confidence(m, x, o.ratio_threshold) * a;
    beta[x] = -2 * alpha[x] * ((float)o.first + m.index[x] + offset);
  }
}

void start(Minima& m) {
  std::fill(m.best, m.best + kTileColumns, kInfinity);
  std::fill(m.second, m.second + kTileColumns, kInfinity);
  std::fill(m.index, m.index + kTileColumns, -2.0f);
}

float tile_mean(const float* image, int w, const Extent& t) {
  double total = 0;
  for (int y = t.y0; y < t.y1; ++y)
    for (int x = t.x0; x < t.x1; ++x) total += image[(size_t)y * w + x];
  return (float)(total / ((double)(t.x1 - t.x0) * (t.y1 - t.y0)));
}

// Differences of all rows under the tile's windows, smoothed along x.
void smooth_rows(const float* left, const float* right, int h, int w, int d, const Extent& t, const Matching& o,
                 const Means& means, Tile& tile) {
  const int first_row = std::max(t.y0 - o.window.half, 0), end_row = std::min(t.y1 + o.window.half, h);
  for (int y = first_row; y < end_row; ++y) {
    const size_t row = (size_t)y * w;
    smooth_row({left + row, right + row, w, d, t.x0, t.x1}, o.cost, means, o.window, kTileColumns, tile.scratch.data(),
               &tile.smoothed[(size_t)(y - first_row) * tile.stride]);
  }
}

void match_tile(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Extent& t,
                const Matching& o, Tile& tile) {
  const int first_row = std::max(t.y0 - o.window.half, 0);
  for (int k = 0; k < t.y1 - t.y0 + 2 * o.window.half; ++k)
    tile.rows[k] = &tile.smoothed[(size_t)(padded(t.y0 - o.window.half + k, h, o.cost) - first_row) * tile.stride];
  for (Minima& m : tile.minima) start(m);

  const bool zero_mean = o.cost == Cost::zncc;
  const Means means = zero_mean ? Means{tile_mean(left, w, t), tile_mean(right, w, t)} : Means{};
  if (correlates(o.cost)) {
    // At d = w all of R is outside, so that E = L.
    smooth_rows(left, right, h, w, w, t, o, {means.left, 0}, tile);
    for (int y = 0; y < t.y1 - t.y0; ++y)
      left_windows(&tile.rows[y + o.window.half], o.window, zero_mean, tile.left_window[y]);
  }
  if (tile.encc) tile.encc->start(o.encc_left, o.encc_right, h, w, t);
  for (int i = 0; i < o.count; ++i) {
    if (tile.encc) tile.encc->measure(o.first + i);
    smooth_rows(left, right, h, w, o.first + i, t, o, means, tile);
    for (int y = 0; y < t.y1 - t.y0; ++y) {
      const float* const* rows = &tile.rows[y + o.window.half];
      const float* distances = tile.encc ? tile.encc->distances(y) : nullptr;
      if (correlates(o.cost))
        correlation_costs(rows, o.window, zero_mean, tile.left_window[y], tile.minima[y], distances, i, o.count);
      else
        difference_costs(rows, o.window, tile.minima[y], distances, i, o.count);
    }
  }
  for (int y = t.y0; y < t.y1; ++y) {
    const size_t at = (size_t)y * w + t.x0;
    fit_parabolas(tile, y - t.y0, t.x1 - t.x0, o, alpha + at, beta + at);
  }
}

}  // namespace

void match(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Matching& options,
           int threads) {
  const int across = (w + kTileColumns - 1) / kTileColumns, down = (h + kTileRows - 1) / kTileRows;
  parallel_for(across * down, threads, [&] { return Tile(options); }, [&](int i, Tile& tile) {
    const int x0 = i % across * kTileColumns, y0 = i / across * kTileRows;
    const Extent extent = {x0, std::min(x0 + kTileColumns, w), y0, std::min(y0 + kTileRows, h)};
    match_tile(left, right, alpha, beta, h, w, extent, options, tile);
  });
}

}  // namespace dualpix
