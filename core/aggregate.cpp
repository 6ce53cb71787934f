#include "aggregate.h"

#include <memory>

#include "parallel.h"
#include "simd.h"

namespace dualpix {

namespace {

struct Parabola {
  vfloat A, B;
};

// w = exp(-(I_p - I_q)^2 / sigma^2), times P
DUALPIX_INLINE vfloat edge_penalty(vfloat Ip, vfloat Iq, float P, float minus_inverse_sigma2) {
  const vfloat difference = Ip - Iq;
  return P * exp_negative(difference * difference * minus_inverse_sigma2);
}

// Pa = P w min(max(A_q, 0), 1);  A_p = alpha_p + Pa;  B_p = beta_p + Pa B_q / A_q,
// for the pixel q before p on the path. min(A, 1) / A = 1 / max(A, 1): never a division by a small number.
DUALPIX_INLINE Parabola step(vfloat alpha, vfloat beta, Parabola q, vfloat Pw) {
  const vfloat ratio = Pw / max(q.A, splat(1.0f));
  return {alpha + ratio * q.A, beta + ratio * q.B};
}

// ---- along rows: eight rows at a time, one a lane --------------------------------------------------

// Pixels of eight rows transposed: column x of the block is the vector at x * kLanes.
struct RowBlock {
  explicit RowBlock(int w) : alpha(size(w)), beta(size(w)), Pw(size(w)), A(size(w)), B(size(w)) {}
  static size_t size(int w) { return (size_t)w * kLanes; }
  std::vector<float> alpha, beta, Pw, A, B;
};

DUALPIX_INLINE void gather(const float* rows, int w, int n, float* columns) {
  for (int lane = 0; lane < n; ++lane)
    for (int x = 0; x < w; ++x) columns[(size_t)x * kLanes + lane] = rows[(size_t)lane * w + x];
}

DUALPIX_INLINE void scatter(const float* columns, int w, int n, float* rows) {
  for (int lane = 0; lane < n; ++lane)
    for (int x = 0; x < w; ++x) rows[(size_t)lane * w + x] = columns[(size_t)x * kLanes + lane];
}

DUALPIX_CLONES void aggregate_rows(const float* alpha, const float* beta, const float* guide, float* A, float* B,
                                   int w, int n, float P, float minus_inverse_sigma2, RowBlock& block) {
  gather(alpha, w, n, block.alpha.data());
  gather(beta, w, n, block.beta.data());
  gather(guide, w, n, block.Pw.data());
  const size_t end = RowBlock::size(w);
  // Pw at x becomes the penalty between x and x + 1.
  for (size_t x = 0; x + kLanes < end; x += kLanes)
    store(&block.Pw[x], edge_penalty(load(&block.Pw[x]), load(&block.Pw[x + kLanes]), P, minus_inverse_sigma2));

  Parabola p = {};
  for (size_t x = 0; x < end; x += kLanes) {
    const vfloat Pw = x ? load(&block.Pw[x - kLanes]) : vfloat{};
    p = step(load(&block.alpha[x]), load(&block.beta[x]), p, Pw);
    store(&block.A[x], p.A);
    store(&block.B[x], p.B);
  }
  p = Parabola{};
  for (size_t i = 0; i < end; i += kLanes) {
    const size_t x = end - kLanes - i;
    p = step(load(&block.alpha[x]), load(&block.beta[x]), p, i ? load(&block.Pw[x]) : vfloat{});
    store(&block.A[x], load(&block.A[x]) + p.A);
    store(&block.B[x], load(&block.B[x]) + p.B);
  }
  scatter(block.A.data(), w, n, A);
  scatter(block.B.data(), w, n, B);
}

// ---- from row to row: columns and diagonals together -----------------------------------------------

// What the paths that run from row to row carry: the guide and three parabolas a pixel, with a margin of one
// vector so that a diagonal may read beside the image. A = 0 there: a path that starts has no message.
class Front {
 public:
  explicit Front(int w) : stride_(w + 3 * kLanes), data_(7 * (size_t)stride_) {}
  float* guide() { return at(0); }
  float* A(int path) { return at(1 + 2 * path); }
  float* B(int path) { return at(2 + 2 * path); }

 private:
  float* at(int k) { return data_.data() + (size_t)k * stride_ + kLanes; }
  int stride_;
  std::vector<float> data_;
};

struct Sweep {
  const float *alpha, *beta, *guide;
  float *A, *B;
  int h, w;
  float P, minus_inverse_sigma2, scale;
  int paths;  // that run from row to row: 1 (columns) or 3 (and both diagonals)
};

// Columns [begin, end) of one row; dx of path k is 0, 1, -1. `row` is the offset of the row's first pixel.
DUALPIX_CLONES void sweep_row(const Sweep& s, size_t row, int begin, int end, Front& before, Front& now, float scale) {
  static constexpr int kDx[3] = {0, 1, -1};
  for (int x = begin; x < end; x += kLanes) {
    const int n = end - x < kLanes ? end - x : kLanes;
    const vfloat alpha = load(s.alpha + row + x, n), beta = load(s.beta + row + x, n);
    const vfloat guide = load(s.guide + row + x, n);
    vfloat A = load(s.A + row + x, n), B = load(s.B + row + x, n);
    store(now.guide() + x, guide, n);
    for (int k = 0; k < s.paths; ++k) {
      const int q = x - kDx[k];
      const vfloat Pw = edge_penalty(guide, load(before.guide() + q), s.P, s.minus_inverse_sigma2);
      const Parabola p = step(alpha, beta, {load(before.A(k) + q), load(before.B(k) + q)}, Pw);
      store(now.A(k) + x, p.A, n);
      store(now.B(k) + x, p.B, n);
      A += p.A;
      B += p.B;
    }
    store(s.A + row + x, scale * A, n);
    store(s.B + row + x, scale * B, n);
  }
}

// Each worker owns a strip of columns and goes down (or up) its rows; before row y it waits until both neighbours
// have finished row y - 1, from which diagonals cross over.
void sweep(const Sweep& s, bool down, int threads) {
  Front fronts[2] = {Front(s.w), Front(s.w)};
  const int vectors = (s.w + kLanes - 1) / kLanes;
  const int most = std::max(1, std::min(threads, vectors / 16));
  struct alignas(64) Progress {
    std::atomic<int> rows{0};
  };
  std::unique_ptr<Progress[]> done(new Progress[most]);
  auto wait = [&](int neighbour, int rows) {
    for (int spins = 0; done[neighbour].rows.load(std::memory_order_acquire) < rows; ++spins)
      if (spins > 1000) std::this_thread::yield();
  };
  run_workers(most, [&](int worker, int workers) {
    const int begin = (int)((long)vectors * worker / workers) * kLanes;
    const int end = std::min(s.w, (int)((long)vectors * (worker + 1) / workers) * kLanes);
    for (int i = 0; i < s.h; ++i) {
      if (worker > 0) wait(worker - 1, i);
      if (worker + 1 < workers) wait(worker + 1, i);
      const int y = down ? i : s.h - 1 - i;
      sweep_row(s, (size_t)y * s.w, begin, end, fronts[(i + 1) % 2], fronts[i % 2], down ? 1.0f : s.scale);
      done[worker].rows.store(i + 1, std::memory_order_release);
    }
  });
}

}  // namespace

void aggregate(const float* alpha, const float* beta, const float* guide, float* A, float* B, int h, int w,
               const Aggregation& options, int threads) {
  const float minus_inverse_sigma2 = -1.0f / (options.edge_sigma * options.edge_sigma);
  const int blocks = (h + kLanes - 1) / kLanes;
  parallel_for(blocks, threads, [&] { return RowBlock(w); }, [&](int i, RowBlock& block) {
    const size_t row = (size_t)i * kLanes * w;
    aggregate_rows(alpha + row, beta + row, guide + row, A + row, B + row, w, std::min(kLanes, h - i * kLanes),
                   options.penalty, minus_inverse_sigma2, block);
  });
  const Sweep s = {alpha, beta, guide, A, B, h, w, options.penalty, minus_inverse_sigma2, options.scale,
                   options.paths == 8 ? 3 : 1};
  sweep(s, true, threads);
  sweep(s, false, threads);
}

}  // namespace dualpix
