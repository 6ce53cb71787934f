#include "baselines/sgm.h"

#include <cstring>
#include <memory>

#include "common/parallel.h"
#include "common/wait.h"

namespace dualpix {

namespace {

constexpr int kGroup = 16;  // disparities at a time
typedef uint16_t vcost __attribute__((vector_size(2 * kGroup)));

// Costs are integers, in sixteenths of an intensity. A path cost is at most the pixel cost + P2, so a disparity with
// the cost kNever never wins.
constexpr int kUnit = 16;
constexpr int kMostCost = 255 * kUnit;
constexpr int kMostP2 = (int)kMostPenalty * kUnit;
constexpr uint16_t kNever = kMostCost + kMostP2 + 1;
static_assert(8 * (kNever + kMostP2) < UINT16_MAX, "the sum over eight paths must fit");

DUALPIX_INLINE vcost load(const uint16_t* p) {
  vcost v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

DUALPIX_INLINE void store(uint16_t* p, vcost v) { __builtin_memcpy(p, &v, sizeof v); }

// Through memory, which GCC compiles to a broadcast. vcost{} + cost would become sixteen insertions.
DUALPIX_INLINE vcost all(uint16_t cost) {
  uint16_t costs[kGroup];
  for (uint16_t& c : costs) c = cost;
  return load(costs);
}

DUALPIX_INLINE vcost min(vcost a, vcost b) { return a < b ? a : b; }

DUALPIX_INLINE uint16_t least(vcost v) {
  uint16_t m = v[0];
  for (int i = 1; i < kGroup; ++i) m = std::min(m, (uint16_t)v[i]);
  return m;
}

// D costs for every pixel: `count` disparities, then padding.
struct Volume {
  Volume(int h, int w, int count)
      : D((count + kGroup - 1) / kGroup * kGroup), costs(new uint16_t[(size_t)h * w * D]) {}
  uint16_t* at(size_t pixel) const { return costs.get() + pixel * D; }
  int D;
  std::unique_ptr<uint16_t[]> costs;
};

// ---- pixel costs -------------------------------------------------------------------------------------

constexpr int kTileRows = 32;
constexpr int kTileColumns = 96;

// The smoothed rows of a tile at one group of disparities, about 200 kB.
struct Tile {
  explicit Tile(const Window& window)
      : height(kTileRows + 2 * (size_t)window.half),
        smoothed(kGroup * height * kTileColumns),
        rows(kGroup * height) {}
  float* row(int k, int y) { return &smoothed[(k * height + y) * kTileColumns]; }
  size_t height;
  std::vector<float> scratch;      // for smooth_rows
  std::vector<float> smoothed;     // along x
  std::vector<const float*> rows;  // rows[k * height + y] is row y0 - half + y, padded at the ends of the image
};

// The costs of n pixels of a row at one group of disparities. The first `few` disparities of the group exist.
DUALPIX_CLONES void window_costs(const float* const* rows, size_t height, int few, const Window& window, int n, int D,
                                 uint16_t* out) {
  for (int x = 0; x < n; x += kLanes) {
    uint16_t group[kLanes][kGroup];
    for (int k = 0; k < kGroup; ++k) {
      vint cost = vint{} + kNever;
      if (k < few) {
        vfloat mean;
        smooth_columns<1>(rows + k * height, x, window, &mean);
        const vfloat most = splat((float)kMostCost), units = mean * (float)kUnit + 0.5f;
        cost = __builtin_convertvector(select(units < most, units, most), vint);
      }
      for (int i = 0; i < kLanes; ++i) group[i][k] = (uint16_t)cost[i];
    }
    for (int i = 0; i < std::min(kLanes, n - x); ++i) std::memcpy(out + (size_t)(x + i) * D, group[i], sizeof group[i]);
  }
}

void tile_costs(const float* left, const float* right, int h, int w, int x0, int y0, const SemiGlobal& o, Tile& tile,
                const Volume& C) {
  const int half = o.window.half, x1 = std::min(x0 + kTileColumns, w), y1 = std::min(y0 + kTileRows, h);
  const int first_row = std::max(y0 - half, 0), end_row = std::min(y1 + half, h);
  for (int k = 0; k < kGroup; ++k)
    for (int y = 0; y < (int)tile.height; ++y)
      tile.rows[k * tile.height + y] = tile.row(k, padded(y0 - half + y, h, Cost::bt) - first_row);
  for (int i = 0; i < o.count; i += kGroup) {
    const int few = std::min(kGroup, o.count - i);
    for (int k = 0; k < few; ++k)
      smooth_rows({left, right, w, o.first + i + k, x0, x1}, first_row, end_row, Cost::bt, {}, o.window, kTileColumns,
                  tile.scratch, tile.row(k, 0));
    for (int y = y0; y < y1; ++y)
      window_costs(&tile.rows[y - y0 + half], tile.height, few, o.window, x1 - x0, C.D, C.at((size_t)y * w + x0) + i);
  }
}

void fill_costs(const float* left, const float* right, int h, int w, const SemiGlobal& o, const Volume& C,
                int threads) {
  const int across = (w + kTileColumns - 1) / kTileColumns, down = (h + kTileRows - 1) / kTileRows;
  parallel_for(across * down, threads, [&] { return Tile(o.window); }, [&](int i, Tile& tile) {
    tile_costs(left, right, h, w, i % across * kTileColumns, i / across * kTileRows, o, tile, C);
  });
}

// ---- path costs --------------------------------------------------------------------------------------

// The paths of one sweep come from the previous row at x - 1, x and x + 1, and from the same row at x - 1.
constexpr int kPaths = 4;
constexpr int kFrom[kPaths] = {-1, 0, 1, -1};

// The path costs L of a row on every path, and their minima over d. The costs of a pixel are padded with kNever on both
// sides. L is 0 where a path begins: at the pixels -1 and w, and in a row that is not visited yet.
class Front {
 public:
  Front(int w, int D)
      : across_(w + 2),
        stride_(D + kGroup),
        costs_(kPaths * across_ * stride_ + kGroup),
        minima_(kPaths * across_) {
    for (size_t i = 0; i < costs_.size(); i += stride_) std::fill_n(&costs_[i], kGroup, kNever);
  }
  uint16_t* L(int path, int x) { return &costs_[index(path, x) * stride_ + kGroup]; }
  uint16_t& least(int path, int x) { return minima_[index(path, x)]; }

 private:
  size_t index(int path, int x) const { return path * across_ + x + 1; }
  size_t across_, stride_;
  std::vector<uint16_t> costs_, minima_;
};

// L of a pixel p and of the previous pixel q on a path, and their minima over d.
struct Step {
  const uint16_t* q;
  uint16_t* p;
  uint16_t least_q;
  uint16_t* least_p;
};

// L(p, d) = C(p, d) + min(L(q, d), L(q, d - 1) + P1, L(q, d + 1) + P1, min L(q) + P2) - min L(q) on all paths of the
// sweep. S = their sum, plus `others`, the sum of the other sweep, if given.
DUALPIX_INLINE void walk_pixel(const uint16_t* C, const Step* steps, uint16_t P1, uint16_t P2, int D,
                               const uint16_t* others, uint16_t* S) {
  vcost least_q[kPaths], least_p[kPaths];
  for (int k = 0; k < kPaths; ++k) least_q[k] = all(steps[k].least_q), least_p[k] = all(kNever);
  for (int d = 0; d < D; d += kGroup) {
    const vcost cost = load(C + d);
    vcost sum = others ? load(others + d) : vcost{};
    for (int k = 0; k < kPaths; ++k) {
      const uint16_t* q = steps[k].q + d;
      const vcost by_one = min(load(q - 1), load(q + 1)) + P1;
      const vcost L = cost + (min(min(load(q), by_one), least_q[k] + P2) - least_q[k]);
      store(steps[k].p + d, L);
      least_p[k] = min(least_p[k], L);
      sum += L;
    }
    store(S + d, sum);
  }
  for (int k = 0; k < kPaths; ++k) *steps[k].least_p = least(least_p[k]);
}

// The disparity of the smallest sum, the first of equal ones, refined if it has two neighbours.
DUALPIX_INLINE float minimum(const uint16_t* S, int count, int D) {
  vcost m = all(UINT16_MAX), group = {};
  for (int d = 0; d < D; d += kGroup) {
    const vcost sum = load(S + d);
    group = sum < m ? all((uint16_t)(d / kGroup)) : group;
    m = min(m, sum);
  }
  const int best = least(m);
  int d = D;
  for (int i = 0; i < kGroup; ++i)
    if (m[i] == best) d = std::min(d, group[i] * kGroup + i);
  if (d == 0 || d + 1 >= count) return (float)std::min(d, count - 1);  // the padding may win against nonsense
  const int l = S[d - 1] - best, r = S[d + 1] - best;
  return l + r > 0 ? (float)d + (float)(l - r) / (float)(2 * (l + r)) : (float)d;
}

struct Sweep {
  const Volume &C, &S;
  int h, w, first, count;
  uint16_t P1, P2;
  float* d;  // output of the sweep up; null in the sweep down
};

// Pixels [x0, x1) of the i-th row. The sweep up is a sweep down of the image turned by 180 degrees.
DUALPIX_CLONES void walk(const Sweep& s, int i, int x0, int x1, Front& before, Front& now, uint16_t* sums) {
  for (int x = x0; x < x1; ++x) {
    Step steps[kPaths];
    for (int k = 0; k < kPaths; ++k) {
      Front& from = k < 3 ? before : now;
      steps[k] = {from.L(k, x + kFrom[k]), now.L(k, x), from.least(k, x + kFrom[k]), &now.least(k, x)};
    }
    const size_t down = (size_t)i * s.w + x, up = (size_t)s.h * s.w - 1 - down;
    if (!s.d) {
      walk_pixel(s.C.at(down), steps, s.P1, s.P2, s.C.D, nullptr, s.S.at(down));
    } else {
      walk_pixel(s.C.at(up), steps, s.P1, s.P2, s.C.D, s.S.at(up), sums);
      s.d[up] = (float)s.first + minimum(sums, s.count, s.C.D);
    }
  }
}

constexpr int kAtOnce = 16;  // pixels between two updates of the progress

// Worker k takes the rows k, k + workers ... On its row it stays behind the worker of the previous row.
void sweep(const Sweep& s, int threads) {
  const int most = std::max(1, std::min(threads, s.h));
  std::vector<Front> fronts(most + 1, Front(s.w, s.C.D));
  std::vector<uint16_t> sums((size_t)most * s.C.D);
  struct alignas(64) Progress {
    std::atomic<int64_t> pixels{0};  // number of pixels of the sweep that are done
  };
  std::unique_ptr<Progress[]> done(new Progress[most]);
  run_workers(most, [&](int worker, int workers, const GoOn& go_on) {
    const std::atomic<int64_t>& ahead = done[(worker + workers - 1) % workers].pixels;
    for (int i = worker; i < s.h && go_on(); i += workers) {
      Front &before = fronts[(i + workers) % (workers + 1)], &now = fronts[i % (workers + 1)];
      for (int x = 0; x < s.w; x += kAtOnce) {
        const int end = std::min(x + kAtOnce, s.w);
        const int64_t needed = i ? (int64_t)(i - 1) * s.w + std::min(end + 1, s.w) : 0;
        if (!wait_for([&] { return ahead.load(std::memory_order_acquire) >= needed; }, go_on)) return;
        walk(s, i, x, end, before, now, &sums[(size_t)worker * s.C.D]);
        done[worker].pixels.store((int64_t)i * s.w + end, std::memory_order_release);
      }
    }
  });
}

uint16_t units(float penalty) { return (uint16_t)(penalty * kUnit + 0.5f); }

}  // namespace

void sgm(const float* left, const float* right, float* d, int h, int w, const SemiGlobal& o, int threads) {
  const Volume C(h, w, o.count), S(h, w, o.count);
  fill_costs(left, right, h, w, o, C, threads);
  for (float* out : {(float*)nullptr, d}) sweep({C, S, h, w, o.first, o.count, units(o.P1), units(o.P2), out}, threads);
}

}  // namespace dualpix
