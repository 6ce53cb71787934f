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

bool correlates(Cost cost) { return cost == Cost::ncc || cost == Cost::zncc; }

// Planes smoothed for every disparity.
int planes(Cost cost) { return cost == Cost::zncc ? 3 : cost == Cost::ncc ? 2 : 1; }

constexpr int kMostPlanes = 3;

// The left image under the window, which does not depend on d: its mean (0 for ncc) and its energy less that.
struct LeftWindow {
  float mean[kTileColumns], energy[kTileColumns];
};

struct Tile {
  explicit Tile(const Matching& o)
      : stride(planes(o.cost) * kTileColumns),
        error_stride(kTileColumns + 2 * o.half + kLanes),
        error((size_t)kMostPlanes * error_stride),
        smoothed((size_t)(kTileRows + 2 * o.half) * stride),
        rows(kTileRows + 2 * o.half),
        minima(kTileRows),
        left_window(correlates(o.cost) ? kTileRows : 0) {
    if (o.subpixel == Subpixel::encc)
      encc = std::make_unique<Encc>(o.encc_window, kTileRows, kTileColumns, o.first, o.count);
  }
  int stride, error_stride;
  std::vector<float> error;        // one row of every plane of differences, padded by half on both sides
  std::vector<float> smoothed;     // rows of the tile and half more on both sides, smoothed along x, planes abreast
  std::vector<const float*> rows;  // rows[k] is the smoothed row of y0 - half + k, padded at the image's ends
  std::vector<Minima> minima;
  std::vector<LeftWindow> left_window;  // only for correlations
  std::unique_ptr<Encc> encc;           // only for that vertex
};

// Part of a row: columns [x0, x1) of the left image, and R(x - d) beside them.
struct Strip {
  const float *left, *right;
  int w, d, x0, x1;
  // the part of it where x - d lies inside the image
  int inside0() const { return std::min(std::max(x0, d), x1); }
  int inside1() const { return std::max(std::min(x1, w + d), inside0()); }
};

// f(i, L(x), R(x - d)) for every x = x0 + i, R = 0 outside the image.
template <class F>
DUALPIX_INLINE void for_each(const Strip& s, const F& f) {
  const int inside0 = s.inside0(), inside1 = s.inside1();
  for (int x = s.x0; x < inside0; ++x) f(x - s.x0, s.left[x], 0.0f);
  for (int x = inside0; x < inside1; ++x) f(x - s.x0, s.left[x], s.right[x - s.d]);
  for (int x = inside1; x < s.x1; ++x) f(x - s.x0, s.left[x], 0.0f);
}

DUALPIX_CLONES void absolute_difference(const Strip& s, float* e) {
  for_each(s, [=](int i, float l, float r) { e[i] = __builtin_fabsf(l - r); });
}

DUALPIX_CLONES void squared_difference(const Strip& s, float* e) {
  for_each(s, [=](int i, float l, float r) { e[i] = (l - r) * (l - r); });
}

// With E = L - R: E^2, L^2 - R^2 and E, of images less the means given.
DUALPIX_CLONES void correlation_terms(const Strip& s, float left_mean, float right_mean, float* square, float* energy,
                                      float* e) {
  for_each(s, [=](int i, float l, float r) {
    const float L = l - left_mean, R = r - right_mean, E = L - R;
    square[i] = E * E;
    energy[i] = E * (L + R);
    e[i] = E;
  });
}

// The least and the greatest of I(x) and of the values half-way to its neighbours, for x in [x0, x1). The image goes
// on beyond its ends with the last pixel.
DUALPIX_CLONES void half_way_interval(const float* image, int w, int x0, int x1, float* low, float* high) {
  auto interval = [=](int x, int before, int after) {
    const float a = 0.5f * (image[x] + image[before]), b = 0.5f * (image[x] + image[after]);
    low[x - x0] = std::min(std::min(a, b), image[x]);
    high[x - x0] = std::max(std::max(a, b), image[x]);
  };
  if (x0 == 0 && x1 > 0) interval(0, 0, std::min(1, w - 1));
  for (int x = std::max(x0, 1); x < std::min(x1, w - 1); ++x) interval(x, x - 1, x + 1);
  if (x1 == w && x0 < x1) interval(w - 1, std::max(w - 2, 0), w - 1);
}

// How far v lies outside [low, high].
DUALPIX_INLINE float beyond(float v, float low, float high) { return std::max(std::max(v - high, low - v), 0.0f); }

// Birchfield-Tomasi: the lesser of the distances of R(x - d) from the half-way interval of L at x and of L(x) from
// that of R at x - d. Outside the image the latter is 0 and nothing else. low and high are scratch.
DUALPIX_CLONES void birchfield_tomasi(const Strip& s, float* e, float* low, float* high) {
  half_way_interval(s.left, s.w, s.x0, s.x1, low, high);
  for_each(s, [=](int i, float, float r) { e[i] = beyond(r, low[i], high[i]); });
  const int n = s.x1 - s.x0, inside0 = s.inside0(), inside1 = s.inside1();
  std::fill(low, low + n, 0.0f);
  std::fill(high, high + n, 0.0f);
  if (inside0 < inside1)
    half_way_interval(s.right, s.w, inside0 - s.d, inside1 - s.d, low + inside0 - s.x0, high + inside0 - s.x0);
  for (int i = 0; i < n; ++i) e[i] = std::min(e[i], beyond(s.left[s.x0 + i], low[i], high[i]));
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

// The column's window over smoothed rows, for N vectors a step apart.
template <int N>
DUALPIX_INLINE void smooth_column(const float* const* rows, int x, int step, const float* taps, int half, vfloat* s) {
  for (int n = 0; n < N; ++n) s[n] = taps[0] * load(rows[0] + x + n * step);
  for (int k = 1; k <= half; ++k) {
    const float *above = rows[-k] + x, *below = rows[k] + x;
    for (int n = 0; n < N; ++n) s[n] += taps[k] * (load(above + n * step) + load(below + n * step));
  }
}

// Costs that are smoothed differences meet the running minima of their row.
DUALPIX_CLONES void difference_costs(const float* const* rows, const float* taps, int half, Minima& m,
                                     const float* distances, int i, int count) {
  for (int x = 0; x < kTileColumns; x += 2 * kLanes) {
    vfloat s[2];
    smooth_column<2>(rows, x, kLanes, taps, half, s);
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
DUALPIX_CLONES void correlation_costs(const float* const* rows, const float* taps, int half, bool zero_mean,
                                      const LeftWindow& left, Minima& m, const float* distances, int i, int count) {
  for (int x = 0; x < kTileColumns; x += kLanes) {
    vfloat s[3] = {};
    if (zero_mean)
      smooth_column<3>(rows, x, kTileColumns, taps, half, s);
    else
      smooth_column<2>(rows, x, kTileColumns, taps, half, s);
    // less the means, with W*R = W*L - W*E; for ncc they are 0
    const vfloat sum = 2 * load(left.mean + x) - s[2];
    const vfloat cost = decorrelation(s[0] - s[2] * s[2], s[1] - s[2] * sum, load(left.energy + x));
    update(m, x, cost, distances, i, count);
  }
}

DUALPIX_CLONES void left_windows(const float* const* rows, const float* taps, int half, bool zero_mean,
                                 LeftWindow& left) {
  for (int x = 0; x < kTileColumns; x += kLanes) {
    vfloat energy, mean = {};
    smooth_column<1>(rows, x, 0, taps, half, &energy);
    if (zero_mean) smooth_column<1>(rows, x + 2 * kTileColumns, 0, taps, half, &mean);
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

// Where pixel i of n lies that may be outside: mirrored, for bt the nearest.
int padded(int i, int n, Cost cost) { return cost == Cost::bt ? std::min(std::max(i, 0), n - 1) : mirror(i, n); }

// Subtracted from the images first, which zncc does not see but for less rounding.
struct Means {
  float left, right;
};

float tile_mean(const float* image, int w, const Extent& t) {
  double total = 0;
  for (int y = t.y0; y < t.y1; ++y)
    for (int x = t.x0; x < t.x1; ++x) total += image[(size_t)y * w + x];
  return (float)(total / ((double)(t.x1 - t.x0) * (t.y1 - t.y0)));
}

// What is smoothed of a strip, to as many rows as the cost has planes; bt uses the others for itself.
void differences(const Strip& s, Cost cost, const Means& means, float* const* e) {
  switch (cost) {
    case Cost::sad: return absolute_difference(s, e[0]);
    case Cost::ssd: return squared_difference(s, e[0]);
    case Cost::bt: return birchfield_tomasi(s, e[0], e[1], e[2]);
    default: return correlation_terms(s, means.left, means.right, e[0], e[1], e[2]);
  }
}

// Differences of one row of the tile, with padded margins, smoothed along x.
void smooth_row(const float* left, const float* right, int w, int d, const Extent& t, const Matching& o,
                const Means& means, Tile& tile, float* out) {
  const int x0 = std::max(t.x0 - o.half, 0), x1 = std::min(t.x1 + o.half, w);
  float* e[kMostPlanes];  // e[p][i] is the difference at image column x0 + i
  for (int p = 0; p < kMostPlanes; ++p) e[p] = &tile.error[(size_t)p * tile.error_stride + o.half + x0 - t.x0];
  differences({left, right, w, d, x0, x1}, o.cost, means, e);
  for (int p = 0; p < planes(o.cost); ++p) {
    for (int x = t.x0 - o.half; x < x0; ++x) e[p][x - x0] = e[p][padded(x, w, o.cost) - x0];
    for (int x = x1; x < t.x1 + o.half; ++x) e[p][x - x0] = e[p][padded(x, w, o.cost) - x0];
    smooth_along_row(e[p] + t.x0 - x0, o.taps, o.half, out + p * kTileColumns);
  }
}

// The same for all rows under the tile's windows.
void smooth_rows(const float* left, const float* right, int h, int w, int d, const Extent& t, const Matching& o,
                 const Means& means, Tile& tile) {
  const int first_row = std::max(t.y0 - o.half, 0), end_row = std::min(t.y1 + o.half, h);
  for (int y = first_row; y < end_row; ++y) {
    const size_t row = (size_t)y * w;
    smooth_row(left + row, right + row, w, d, t, o, means, tile, &tile.smoothed[(size_t)(y - first_row) * tile.stride]);
  }
}

void match_tile(const float* left, const float* right, float* alpha, float* beta, int h, int w, const Extent& t,
                const Matching& o, Tile& tile) {
  const int first_row = std::max(t.y0 - o.half, 0);
  for (int k = 0; k < t.y1 - t.y0 + 2 * o.half; ++k)
    tile.rows[k] = &tile.smoothed[(size_t)(padded(t.y0 - o.half + k, h, o.cost) - first_row) * tile.stride];
  for (Minima& m : tile.minima) start(m);

  const bool zero_mean = o.cost == Cost::zncc;
  const Means means = zero_mean ? Means{tile_mean(left, w, t), tile_mean(right, w, t)} : Means{};
  if (correlates(o.cost)) {
    // At d = w all of R is outside, so that E = L.
    smooth_rows(left, right, h, w, w, t, o, {means.left, 0}, tile);
    for (int y = 0; y < t.y1 - t.y0; ++y)
      left_windows(&tile.rows[y + o.half], o.taps, o.half, zero_mean, tile.left_window[y]);
  }
  if (tile.encc) tile.encc->start(o.encc_left, o.encc_right, h, w, t);
  for (int i = 0; i < o.count; ++i) {
    if (tile.encc) tile.encc->measure(o.first + i);
    smooth_rows(left, right, h, w, o.first + i, t, o, means, tile);
    for (int y = 0; y < t.y1 - t.y0; ++y) {
      const float* const* rows = &tile.rows[y + o.half];
      const float* distances = tile.encc ? tile.encc->distances(y) : nullptr;
      if (correlates(o.cost))
        correlation_costs(rows, o.taps, o.half, zero_mean, tile.left_window[y], tile.minima[y], distances, i, o.count);
      else
        difference_costs(rows, o.taps, o.half, tile.minima[y], distances, i, o.count);
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
