#include "match.h"

#include <limits>
#include <memory>

#include "encc.h"
#include "mirror.h"
#include "parallel.h"
#include "simd.h"

namespace dualpix {

namespace {

// A tile's smoothed rows and running minima, together about 300 kB, stay in a core's L2 cache.
constexpr int kTileRows = 96;
constexpr int kTileColumns = 96;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What is kept of the cost of every pixel while d runs: the best cost, its index and its two neighbours, the second
// best and its index, and the cost before the present one.
struct Minima {
  float best[kTileColumns], index[kTileColumns], before[kTileColumns], after[kTileColumns];
  float second[kTileColumns], second_index[kTileColumns], last[kTileColumns];
  // for encc, the distances of the windows at the best disparity, its neighbours, and the one before the present
  float distance[kTileColumns], distance_before[kTileColumns], distance_after[kTileColumns], distance_last[kTileColumns];
};

struct Tile {
  explicit Tile(const Matching& o)
      : Tile(o.half) {
    if (o.subpixel == Subpixel::encc)
      encc = std::make_unique<Encc>(o.encc_window, kTileRows, kTileColumns, o.first, o.count);
  }
  explicit Tile(int half)
      : error(kTileColumns + 2 * half + kLanes),
        smoothed((size_t)(kTileRows + 2 * half) * kTileColumns),
        rows(kTileRows + 2 * half),
        minima(kTileRows) {}
  std::vector<float> error;        // one row of |L - R|, padded by half on both sides
  std::vector<float> smoothed;     // rows of the tile and half more on both sides, smoothed along x
  std::vector<const float*> rows;  // rows[k] is the smoothed row of y0 - half + k, mirrored at the image's ends
  std::vector<Minima> minima;
  std::unique_ptr<Encc> encc;  // only for that vertex
};

// e(x) = |L(x) - R(x - d)| for x in [x0, x1), R = 0 outside the image.
DUALPIX_CLONES void absolute_difference(const float* left, const float* right, int w, int d, int x0, int x1, float* e) {
  const int inside0 = std::min(std::max(x0, d), x1), inside1 = std::max(std::min(x1, w + d), inside0);
  for (int x = x0; x < inside0; ++x) e[x - x0] = __builtin_fabsf(left[x]);
  for (int x = inside0; x < inside1; ++x) e[x - x0] = __builtin_fabsf(left[x] - right[x - d]);
  for (int x = inside1; x < x1; ++x) e[x - x0] = __builtin_fabsf(left[x]);
}

// The row's window, kLanes * 4 outputs at a time: t0 e(x) + sum_k tk (e(x - k) + e(x + k)).
DUALPIX_CLONES void smooth_along_row(const float* e, const float* taps, int half, float* out) {
  for (int x = 0; x < kTileColumns; x += 4 * kLanes) {
    const float* p = e + x;
    vfloat s0 = taps[0] * load(p), s1 = taps[0] * load(p + kLanes);
    vfloat s2 = taps[0] * load(p + 2 * kLanes), s3 = taps[0] * load(p + 3 * kLanes);
    for (int k = 1; k <= half; ++k) {
      const float t = taps[k];
      s0 += t * (load(p - k) + load(p + k));
      s1 += t * (load(p - k + kLanes) + load(p + k + kLanes));
      s2 += t * (load(p - k + 2 * kLanes) + load(p + k + 2 * kLanes));
      s3 += t * (load(p - k + 3 * kLanes) + load(p + k + 3 * kLanes));
    }
    store(out + x, s0);
    store(out + x + kLanes, s1);
    store(out + x + 2 * kLanes, s2);
    store(out + x + 3 * kLanes, s3);
  }
}

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

// The column's window over smoothed rows, and the running minima of the row it gives.
DUALPIX_CLONES void smooth_along_columns(const float* const* rows, const float* taps, int half, Minima& m,
                                         const float* distances, int i, int count) {
  for (int x = 0; x < kTileColumns; x += 2 * kLanes) {
    vfloat s0 = taps[0] * load(rows[0] + x), s1 = taps[0] * load(rows[0] + x + kLanes);
    for (int k = 1; k <= half; ++k) {
      const float *above = rows[-k] + x, *below = rows[k] + x;
      s0 += taps[k] * (load(above) + load(below));
      s1 += taps[k] * (load(above + kLanes) + load(below + kLanes));
    }
    update(m, x, s0, distances, i, count);
    update(m, x + kLanes, s1, distances, i, count);
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

// Row y of the tile: |L - R| with mirrored margins, smoothed along x.
void smooth_row(const float* left, const float* right, int w, int d, const Extent& t, const Matching& o, float* error,
                float* out) {
  const int x0 = std::max(t.x0 - o.half, 0), x1 = std::min(t.x1 + o.half, w);
  float* e = error + o.half - t.x0;  // e[x] is the error at image column x
  absolute_difference(left, right, w, d, x0, x1, e + x0);
  for (int x = t.x0 - o.half; x < x0; ++x) e[x] = e[mirror(x, w)];
  for (int x = x1; x < t.x1 + o.half; ++x) e[x] = e[mirror(x, w)];
  smooth_along_row(error + o.half, o.taps, o.half, out);
}

void match_tile(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Extent& t,
                const Matching& o, Tile& tile) {
  const int first_row = std::max(t.y0 - o.half, 0), end_row = std::min(t.y1 + o.half, h);
  for (int k = 0; k < t.y1 - t.y0 + 2 * o.half; ++k)
    tile.rows[k] = &tile.smoothed[(size_t)(mirror(t.y0 - o.half + k, h) - first_row) * kTileColumns];
  for (Minima& m : tile.minima) start(m);

  if (tile.encc) tile.encc->start(left, right, h, w, t);
  for (int i = 0; i < o.count; ++i) {
    if (tile.encc) tile.encc->measure(o.first + i);
    for (int y = first_row; y < end_row; ++y) {
      const size_t row = (size_t)y * w;
      smooth_row(left + row, right + row, w, o.first + i, t, o, tile.error.data(),
                 &tile.smoothed[(size_t)(y - first_row) * kTileColumns]);
    }
    for (int y = t.y0; y < t.y1; ++y)
      smooth_along_columns(&tile.rows[y - t.y0 + o.half], o.taps, o.half, tile.minima[y - t.y0],
                           tile.encc ? tile.encc->distances(y - t.y0) : nullptr, i, o.count);
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
