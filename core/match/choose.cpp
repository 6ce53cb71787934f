#include "match/choose.h"

#include <limits>

#include "common/paths.h"
#include "match/candidates.h"

namespace dualpix {

namespace {

struct Maps {
  const float *cost, *disparity;
  float *curvature, *sum;
  const float* guide;
  size_t size;  // of one map
};

struct Penalties {
  float P1, P2, minus_inverse_sigma2;
};

// The previous pixels on the paths: their candidates and path costs L.
template <class V, int K>
struct Before {
  V L[K], d[K];
};

// P2 w, the largest cost of a step between pixels of that contrast.
template <class V>
DUALPIX_INLINE V jump(const Penalties& p, V contrast) {
  return p.P2 * exp_negative(contrast * contrast * p.minus_inverse_sigma2);
}

template <int K, class V>
DUALPIX_INLINE void walk(float P1, const Before<V, K>& q, const V* c, const V* d, V jump, V* L) {
  V lowest = q.L[0];
  for (int j = 1; j < K; ++j) lowest = -max(-lowest, -q.L[j]);
  const V limit = lowest + jump;
  for (int k = 0; k < K; ++k) {
    V best = limit;
    for (int j = 0; j < K; ++j) {
      const V step = d[k] - q.d[j], L_j = q.L[j] + P1 * step * step;
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
  std::vector<float> cost, disparity, sum;
  std::vector<float> guide;  // becomes the jump from each pixel to the next, 0 after the last
};

DUALPIX_INLINE void find_jumps(const Penalties& p, float* guide, int w) {
  float* last = guide + RowBlock::size(w - 1);
  for (float* at = guide; at < last; at += kLanes) store(at, jump(p, load(at + kLanes) - load(at)));
  store(last, vfloat{});
}

template <int K>
DUALPIX_INLINE void walk_rows(const Penalties& p, RowBlock& block, int w, bool forward) {
  const size_t size = RowBlock::size(w);
  Before<vfloat, K> q = {};
  for (int k = 0; k < K; ++k) q.L[k] = splat(kNone);
  const float P1 = p.P1;
  for (int i = 0; i < w; ++i) {
    const size_t x = (size_t)(forward ? i : w - 1 - i) * kLanes;
    vfloat c[K], d[K], L[K];
    for (int k = 0; k < K; ++k) {
      c[k] = load(&block.cost[k * size + x]);
      d[k] = load(&block.disparity[k * size + x]);
    }
    walk<K>(P1, q, c, d, load(&block.guide[forward && i > 0 ? x - kLanes : x]), L);
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
  find_jumps(p, block.guide.data(), w);
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    for (const bool forward : {true, false}) walk_rows<K>(p, block, w, forward);
  });
  for (int k = 0; k < kept; ++k) scatter(&block.sum[k * size], kLanes, w, n, maps.sum + k * maps.size + at);
}

// ---- vertical and diagonal paths, from row to row ---------------------------------------------------

// Pixels at which a row, the one visited before it and the one to be visited after it begin.
struct Rows {
  size_t before, at, after;
};

// The disparity of the lowest sum goes to the first sum, its curvature to the first curvature.
template <int K, class V>
DUALPIX_INLINE void decide(const Maps& maps, size_t at, int n, float P2, const V* d, const V* sum) {
  V best = sum[0], second = splat_as<V>(std::numeric_limits<float>::infinity());
  V disparity = d[0], curvature = load_part<V>(maps.curvature + at, n);
  for (int k = 1; k < K; ++k) {
    const auto lower = sum[k] < best;
    second = min(second, max(sum[k], best));
    best = select(lower, sum[k], best);
    disparity = select(lower, d[k], disparity);
    curvature = select(lower, load_part<V>(maps.curvature + k * maps.size + at, n), curvature);
  }
  const V margin = P2 > 0 ? (second - best) / (2 * P2) : splat_as<V>(1.0f);
  const V S = min(max(margin, splat_as<V>(0.01f)), splat_as<V>(1.0f));
  store_part(maps.sum + at, disparity, n);
  store_part(maps.curvature + at, S * S * curvature, n);
}

// What the next row needs is far apart in memory, so it is asked for in time. Strips move left by a vector per row.
template <int K>
DUALPIX_INLINE void ask_for(const Maps& maps, size_t pixel, bool last) {
  for (int k = 0; k < K; ++k) {
    __builtin_prefetch(maps.cost + k * maps.size + pixel);
    __builtin_prefetch(maps.disparity + k * maps.size + pixel);
    __builtin_prefetch(maps.sum + k * maps.size + pixel);
    if (last) __builtin_prefetch(maps.curvature + k * maps.size + pixel);
  }
}

// n pixels at x of a row. `state` has the path costs of the previous pixels.
template <int K, class V>
DUALPIX_INLINE void walk_vector(const Maps& maps, const Rows& rows, int w, int x, int n, const Penalties& p,
                                float* const (*state)[K], bool last) {
  const V guide = load_part<V>(maps.guide + rows.at + x, n);
  V c[K], d[K], sum[K];
  for (int k = 0; k < K; ++k) {
    const size_t pixel = k * maps.size + rows.at + x;
    c[k] = load_part<V>(maps.cost + pixel, n);
    d[k] = load_part<V>(maps.disparity + pixel, n);
    sum[k] = load_part<V>(maps.sum + pixel, n);
  }
  V jumps[3];
  for (int path = 0; path < 3; ++path)
    jumps[path] = jump(p, guide - load_beside<V>(maps.guide + rows.before, x - kSteps[path], w));
  for (int path = 0; path < 3; ++path) {
    Before<V, K> q;
    for (int k = 0; k < K; ++k) {
      q.d[k] = load_beside<V>(maps.disparity + k * maps.size + rows.before, x - kSteps[path], w);
      q.L[k] = load_as<V>(state[path][k] + x);
    }
    V L[K];
    walk<K>(p.P1, q, c, d, jumps[path], L);
    for (int k = 0; k < K; ++k) {
      store_part(state[path][k] + x, L[k], n);
      sum[k] += L[k];
    }
  }
  if (last)
    decide<K>(maps, rows.at + x, n, p.P2, d, sum);
  else
    for (int k = 0; k < K; ++k) store_part(maps.sum + k * maps.size + rows.at + x, sum[k], n);
}

// The i-th row visited. The last sweep decides.
template <int K, class V>
DUALPIX_INLINE void walk_on(const Maps& maps, const Rows& rows, int w, int begin, int end, const Penalties& p,
                            Front& front, int i, bool last) {
  const Penalties penalties = p;
  float* state[3][K];
  for (int path = 0; path < 3; ++path)
    for (int k = 0; k < K; ++k) state[path][k] = front.plane(path, k, i);
  auto ask = [&](int x) __attribute__((always_inline)) {
    ask_for<K>(maps, rows.after + (x > kLanes ? x - kLanes : 0), last);
  };
  int x = begin;
  for (; x + lanes_of<V> <= end; x += lanes_of<V>) {
    ask(x);
    walk_vector<K, V>(maps, rows, w, x, lanes_of<V>, penalties, state, last);
  }
  for (; x < end; x += kLanes) {
    ask(x);
    walk_vector<K, vfloat>(maps, rows, w, x, std::min(end - x, kLanes), penalties, state, last);
  }
}

DUALPIX_CLONES void sweep_row(int kept, const Maps& maps, const Rows& rows, int w, int begin, int end,
                              const Penalties& p, Front& front, int i, bool last) {
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    walk_on<K, vfloat>(maps, rows, w, begin, end, p, front, i, last);
  });
}

DUALPIX_WIDE void sweep_row_wide(int kept, const Maps& maps, const Rows& rows, int w, int begin, int end,
                                 const Penalties& p, Front& front, int i, bool last) {
  with_kept(kept, [&](auto K) __attribute__((always_inline)) {
    walk_on<K, vlongest>(maps, rows, w, begin, end, p, front, i, last);
  });
}

// One sweep over the image: down, which includes the horizontal paths, or up, which decides.
void sweep(int kept, const Maps& maps, int h, int w, bool down, const Penalties& p, int threads) {
  Front front(h, w, kept, kNone);
  auto along = [&](int, int block, RowBlock& rows) {
    const int y = block * kLanes;
    if (down) along_rows(kept, maps, (size_t)y * w, w, std::min(kLanes, h - y), p, rows);
  };
  sweep_rows(1, h, w, threads, [&] { return RowBlock(kept, down ? w : 0); }, along, [&](int, int i, int begin, int end) {
    auto row = [&](int i) { return (size_t)(down ? i : h - 1 - i) * w; };
    const Rows rows = {row(std::max(i - 1, 0)), row(i), row(std::min(i + 1, h - 1))};
    (kHasWide ? sweep_row_wide : sweep_row)(kept, maps, rows, w, begin, end, p, front, i, !down);
  });
}

}  // namespace

void choose(const float* cost, const float* disparity, float* curvature, const float* guide, float* chosen, int h,
            int w, const Choice& options, int threads) {
  const Maps maps = {cost, disparity, curvature, chosen, guide, (size_t)h * w};
  const Penalties p = {options.step, options.jump, -1.0f / (options.edge_sigma * options.edge_sigma)};
  for (const bool down : {true, false}) sweep(options.kept, maps, h, w, down, p, threads);
}

}  // namespace dualpix
