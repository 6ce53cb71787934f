#include "match/choose.h"

#include <limits>

#include "common/paths.h"
#include "match/candidates.h"

namespace dualpix {

namespace {

struct Maps {
  float *cost, *disparity, *curvature, *sum;
  const float* guide;
  size_t size;  // of one map
};

struct Penalties {
  float P1, P2, minus_inverse_sigma2;
};

// The previous pixels on the paths: their candidates, path costs L and guide.
template <int K>
struct Before {
  vfloat L[K], d[K], guide;
};

template <int K>
DUALPIX_INLINE void walk(const Penalties& p, const Before<K>& q, const vfloat* c, const vfloat* d, vfloat guide,
                         vfloat* L) {
  vfloat lowest = q.L[0];
  for (int j = 1; j < K; ++j) lowest = -max(-lowest, -q.L[j]);
  const vfloat contrast = guide - q.guide;
  const vfloat limit = lowest + p.P2 * exp_negative(contrast * contrast * p.minus_inverse_sigma2);
  for (int k = 0; k < K; ++k) {
    vfloat best = limit;
    for (int j = 0; j < K; ++j) {
      const vfloat step = d[k] - q.d[j], L_j = q.L[j] + p.P1 * step * step;
      best = select(L_j < best, L_j, best);
    }
    L[k] = c[k] + (best - lowest);
  }
}

// Initial path cost: so low that adding a penalty does not change it in float32.
constexpr float kNone = -1e30f;

// ---- horizontal paths: eight rows at a time, one in each lane ---------------------------------------

struct RowBlock {
  RowBlock(int kept, int w) : cost(kept * size(w)), disparity(kept * size(w)), sum(kept * size(w)), guide(size(w)) {}
  static size_t size(int w) { return (size_t)w * kLanes; }
  std::vector<float> cost, disparity, sum, guide;
};

template <int K>
DUALPIX_INLINE void walk_rows(const Penalties& p, RowBlock& block, int w, bool forward) {
  const size_t size = RowBlock::size(w);
  Before<K> q = {};
  for (int k = 0; k < K; ++k) q.L[k] = splat(kNone);
  for (int i = 0; i < w; ++i) {
    const size_t x = (size_t)(forward ? i : w - 1 - i) * kLanes;
    vfloat c[K], d[K], L[K];
    for (int k = 0; k < K; ++k) {
      c[k] = load(&block.cost[k * size + x]);
      d[k] = load(&block.disparity[k * size + x]);
    }
    const vfloat guide = load(&block.guide[x]);
    walk<K>(p, q, c, d, guide, L);
    q.guide = guide;
    for (int k = 0; k < K; ++k) {
      q.L[k] = L[k];
      q.d[k] = d[k];
      float* sum = &block.sum[k * size + x];
      store(sum, forward ? L[k] : load(sum) + L[k]);
    }
  }
}

DUALPIX_CLONES void along_rows(int kept, const Maps& maps, size_t at, int w, int n, const Penalties& p,
                               RowBlock& block) {
  const size_t size = RowBlock::size(w);
  for (int k = 0; k < kept; ++k) {
    gather(rows_of(maps.cost + k * maps.size + at, w), w, n, &block.cost[k * size], kLanes);
    gather(rows_of(maps.disparity + k * maps.size + at, w), w, n, &block.disparity[k * size], kLanes);
  }
  gather(rows_of(maps.guide + at, w), w, n, block.guide.data(), kLanes);
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    for (const bool forward : {true, false}) walk_rows<K>(p, block, w, forward);
  });
  for (int k = 0; k < kept; ++k) scatter(&block.sum[k * size], kLanes, w, n, maps.sum + k * maps.size + at);
}

// ---- vertical and diagonal paths, from row to row ---------------------------------------------------

// The i-th row visited begins at pixel `at`, the previous one at `before`.
template <int K>
DUALPIX_INLINE void walk_on(const Maps& maps, size_t at, size_t before, int w, int begin, int end, const Penalties& p,
                            Front& front, int i) {
  for (int x = begin; x < end; x += kLanes) {
    const int n = end - x < kLanes ? end - x : kLanes;
    const vfloat guide = load(maps.guide + at + x, n);
    vfloat c[K], d[K], sum[K];
    for (int k = 0; k < K; ++k) {
      const size_t pixel = k * maps.size + at + x;
      c[k] = load(maps.cost + pixel, n);
      d[k] = load(maps.disparity + pixel, n);
      sum[k] = load(maps.sum + pixel, n);
    }
    for (int path = 0; path < 3; ++path) {
      const int from = x - kSteps[path];
      Before<K> q;
      q.guide = load_beside(maps.guide + before, from, w);
      for (int k = 0; k < K; ++k) {
        q.d[k] = load_beside(maps.disparity + k * maps.size + before, from, w);
        q.L[k] = load(front.plane(path, k, i) + x);
      }
      vfloat L[K];
      walk<K>(p, q, c, d, guide, L);
      for (int k = 0; k < K; ++k) {
        store(front.plane(path, k, i) + x, L[k], n);
        sum[k] += L[k];
      }
    }
    for (int k = 0; k < K; ++k) store(maps.sum + k * maps.size + at + x, sum[k], n);
  }
}

DUALPIX_CLONES void sweep_row(int kept, const Maps& maps, size_t at, size_t before, int w, int begin, int end,
                              const Penalties& p, Front& front, int i) {
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    walk_on<K>(maps, at, before, w, begin, end, p, front, i);
  });
}

// One sweep over the image: down, which includes the horizontal paths, or up.
void sweep(int kept, const Maps& maps, int h, int w, bool down, const Penalties& p, int threads) {
  Front front(h, w, kept, kNone);
  auto along = [&](int block, RowBlock& rows) {
    const int y = block * kLanes;
    if (down) along_rows(kept, maps, (size_t)y * w, w, std::min(kLanes, h - y), p, rows);
  };
  sweep_rows(h, w, threads, [&] { return RowBlock(kept, down ? w : 0); }, along, [&](int i, int begin, int end) {
    auto row = [&](int i) { return (size_t)(down ? i : h - 1 - i) * w; };
    sweep_row(kept, maps, row(i), row(std::max(i - 1, 0)), w, begin, end, p, front, i);
  });
}

// ---- the choice ------------------------------------------------------------------------------------

void decide(const Maps& maps, size_t begin, size_t end, int K, float P2) {
  for (size_t p = begin; p < end; ++p) {
    int chosen = 0;
    float best = maps.sum[p], second = std::numeric_limits<float>::infinity();
    for (int k = 1; k < K; ++k) {
      const float sum = maps.sum[k * maps.size + p];
      second = std::min(second, std::max(sum, best));
      if (sum < best) {
        best = sum;
        chosen = k;
      }
    }
    const float margin = P2 > 0 ? (second - best) / (2 * P2) : 1.0f, S = std::min(std::max(margin, 0.01f), 1.0f);
    maps.disparity[p] = maps.disparity[chosen * maps.size + p];
    maps.curvature[p] = S * S * maps.curvature[chosen * maps.size + p];
  }
}

}  // namespace

void choose(float* cost, float* disparity, float* curvature, const float* guide, int h, int w, const Choice& options,
            int threads) {
  const int kept = options.kept;
  const size_t size = (size_t)h * w;
  const std::unique_ptr<float[]> sum(new float[kept * size]);  // not initialised: the horizontal paths write it first
  const Maps maps = {cost, disparity, curvature, sum.get(), guide, size};
  const Penalties p = {options.step, options.jump, -1.0f / (options.edge_sigma * options.edge_sigma)};
  for (const bool down : {true, false}) sweep(kept, maps, h, w, down, p, threads);
  parallel_pixels(size, threads, [&](size_t begin, int n) { decide(maps, begin, begin + n, kept, options.jump); });
}

}  // namespace dualpix
