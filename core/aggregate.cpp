#include "aggregate.h"

#include <memory>

#include "parallel.h"
#include "simd.h"

namespace dualpix {

namespace {

struct Parabola {
  vfloat A, B;
};

// tau below this, in px, would overflow its square's inverse.
constexpr float kSmallest = 1e-6f;

// A message weaker than this is none: the next product would be denormal, and round A and B apart.
constexpr float kNothing = 1e-30f;

// How neighbours p, q on a path are tied together.
struct Coupling {
  Messages messages;
  bool robust;
  float P, minus_inverse_sigma2, inverse_tau2;

  explicit Coupling(const Aggregation& o)
      : messages(o.messages),
        robust(o.disparity != nullptr),
        P(o.penalty),
        minus_inverse_sigma2(-1.0f / (o.edge_sigma * o.edge_sigma)),
        inverse_tau2(robust ? 1.0f / (std::max(o.robust_tau, kSmallest) * std::max(o.robust_tau, kSmallest)) : 0.0f) {}
};

// P w,  w = exp(-(I_p - I_q)^2 / sigma^2) / (1 + (d_p - d_q)^2 / tau^2)^2
DUALPIX_INLINE vfloat penalty(const Coupling& c, vfloat Ip, vfloat Iq, vfloat dp, vfloat dq) {
  const vfloat contrast = Ip - Iq;
  const vfloat Pw = c.P * exp_negative(contrast * contrast * c.minus_inverse_sigma2);
  if (!c.robust) return Pw;
  const vfloat jump = dp - dq, r = 1.0f + jump * jump * c.inverse_tau2;
  return Pw / (r * r);
}

// What p hears from q, the pixel before it on the path: a parabola with q's vertex and the curvature
//   exact:  A_q P w / (A_q + P w), from min over d' of A_q (d' - m_q)^2 + P w (d - d')^2
//   paper:  P w min(max(A_q, 0), 1);  min(A, 1) / A = 1 / max(A, 1), so nothing is divided by a small number
DUALPIX_INLINE Parabola message(const Coupling& c, Parabola q, vfloat Pw) {
  const vfloat ratio = Pw / (c.messages == Messages::exact ? q.A + Pw + kNothing : max(q.A, splat(1.0f)));
  const vfloat A = ratio * q.A;
  const vint heard = A > kNothing;
  return {select(heard, A, vfloat{}), select(heard, ratio * q.B, vfloat{})};
}

// ---- along rows: eight rows at a time, one a lane --------------------------------------------------

// Pixels of eight rows transposed: column x of the block is the vector at x * kLanes.
struct RowBlock {
  explicit RowBlock(int w) : alpha(size(w)), beta(size(w)), Pw(size(w)), d(size(w)), A(size(w)), B(size(w)) {}
  static size_t size(int w) { return (size_t)w * kLanes; }
  std::vector<float> alpha, beta, Pw, d, A, B;
};

DUALPIX_INLINE void gather(const float* rows, int w, int n, float* columns) {
  for (int lane = 0; lane < n; ++lane)
    for (int x = 0; x < w; ++x) columns[(size_t)x * kLanes + lane] = rows[(size_t)lane * w + x];
}

DUALPIX_INLINE void scatter(const float* columns, int w, int n, float* rows) {
  for (int lane = 0; lane < n; ++lane)
    for (int x = 0; x < w; ++x) rows[(size_t)lane * w + x] = columns[(size_t)x * kLanes + lane];
}

// The maps of one aggregation, or of some rows of it.
struct Maps {
  const float *alpha, *beta, *guide, *disparity;
  float *A, *B;

  Maps at(size_t pixel) const {
    return {alpha + pixel, beta + pixel, guide + pixel, disparity ? disparity + pixel : nullptr, A + pixel, B + pixel};
  }
};

// Both directions along n rows; A, B = local * (alpha, beta) + the messages.
DUALPIX_CLONES void aggregate_rows(const Maps& maps, int w, int n, const Coupling& c, float local, RowBlock& block) {
  gather(maps.alpha, w, n, block.alpha.data());
  gather(maps.beta, w, n, block.beta.data());
  gather(maps.guide, w, n, block.Pw.data());
  if (c.robust) gather(maps.disparity, w, n, block.d.data());
  const size_t end = RowBlock::size(w);
  // Pw at x becomes the penalty between x and x + 1.
  for (size_t x = 0; x + kLanes < end; x += kLanes) {
    const size_t next = x + kLanes;
    store(&block.Pw[x], penalty(c, load(&block.Pw[x]), load(&block.Pw[next]), load(&block.d[x]), load(&block.d[next])));
  }
  Parabola p = {};
  for (size_t x = 0; x < end; x += kLanes) {
    const Parabola m = message(c, p, x ? load(&block.Pw[x - kLanes]) : vfloat{});
    const vfloat alpha = load(&block.alpha[x]), beta = load(&block.beta[x]);
    p = {alpha + m.A, beta + m.B};
    store(&block.A[x], local * alpha + m.A);
    store(&block.B[x], local * beta + m.B);
  }
  p = Parabola{};
  for (size_t i = 0; i < end; i += kLanes) {
    const size_t x = end - kLanes - i;
    const Parabola m = message(c, p, i ? load(&block.Pw[x]) : vfloat{});
    p = {load(&block.alpha[x]) + m.A, load(&block.beta[x]) + m.B};
    store(&block.A[x], load(&block.A[x]) + m.A);
    store(&block.B[x], load(&block.B[x]) + m.B);
  }
  scatter(block.A.data(), w, n, maps.A);
  scatter(block.B.data(), w, n, maps.B);
}

// ---- from row to row: columns and diagonals together -----------------------------------------------

// What the paths that run from row to row carry: guide, disparity and three parabolas a pixel, with a margin of one
// vector so that a diagonal may read beside the image. A = 0 there: a path that starts has no message.
class Front {
 public:
  explicit Front(int w) : stride_(w + 3 * kLanes), data_(8 * (size_t)stride_) {}
  float* guide() { return at(0); }
  float* disparity() { return at(1); }
  float* A(int path) { return at(2 + 2 * path); }
  float* B(int path) { return at(3 + 2 * path); }

 private:
  float* at(int k) { return data_.data() + (size_t)k * stride_ + kLanes; }
  int stride_;
  std::vector<float> data_;
};

struct Sweep {
  Maps maps;
  int h, w;
  Coupling coupling;
  float scale;
  int paths;  // that run from row to row: 1 (columns) or 3 (and both diagonals)
};

// Columns [begin, end) of one row; dx of path k is 0, 1, -1.
DUALPIX_CLONES void sweep_row(const Sweep& s, const Maps& row, int begin, int end, Front& before, Front& now,
                              float scale) {
  static constexpr int kDx[3] = {0, 1, -1};
  for (int x = begin; x < end; x += kLanes) {
    const int n = end - x < kLanes ? end - x : kLanes;
    const vfloat alpha = load(row.alpha + x, n), beta = load(row.beta + x, n), guide = load(row.guide + x, n);
    const vfloat d = s.coupling.robust ? load(row.disparity + x, n) : vfloat{};
    vfloat A = load(row.A + x, n), B = load(row.B + x, n);
    store(now.guide() + x, guide, n);
    store(now.disparity() + x, d, n);
    for (int k = 0; k < s.paths; ++k) {
      const int q = x - kDx[k];
      const vfloat Pw = penalty(s.coupling, guide, load(before.guide() + q), d, load(before.disparity() + q));
      const Parabola m = message(s.coupling, {load(before.A(k) + q), load(before.B(k) + q)}, Pw);
      store(now.A(k) + x, alpha + m.A, n);
      store(now.B(k) + x, beta + m.B, n);
      A += m.A;
      B += m.B;
    }
    store(row.A + x, scale * A, n);
    store(row.B + x, scale * B, n);
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
      sweep_row(s, s.maps.at((size_t)y * s.w), begin, end, fronts[(i + 1) % 2], fronts[i % 2], down ? 1.0f : s.scale);
      done[worker].rows.store(i + 1, std::memory_order_release);
    }
  });
}

}  // namespace

void aggregate(const float* alpha, const float* beta, const float* guide, float* A, float* B, int h, int w,
               const Aggregation& options, int threads) {
  const Maps maps = {alpha, beta, guide, options.disparity, A, B};
  const Coupling coupling(options);
  const float local = options.messages == Messages::exact ? 1.0f : (float)options.paths;
  const int blocks = (h + kLanes - 1) / kLanes;
  parallel_for(blocks, threads, [&] { return RowBlock(w); }, [&](int i, RowBlock& block) {
    const Maps rows = maps.at((size_t)i * kLanes * w);
    aggregate_rows(rows, w, std::min(kLanes, h - i * kLanes), coupling, local, block);
  });
  const Sweep s = {maps, h, w, coupling, options.scale, options.paths == 8 ? 3 : 1};
  sweep(s, true, threads);
  sweep(s, false, threads);
}

}  // namespace dualpix
