#include "aggregate.h"

#include "paths.h"

namespace dualpix {

namespace {

struct Parabola {
  vfloat A, B;
};

// tau below this, in px, would overflow its square's inverse.
constexpr float kSmallest = 1e-6f;

// A message weaker than this is none: the next product would be denormal, and round A and B apart.
constexpr float kNothing = 1e-30f;

// The published rules for jumps: steps up to kNear px are smoothed as ever; what jumps far takes over the parabola of
// the pixel before if that is so many times surer and no edge, a weight below kEdge, lies between.
constexpr float kNear = 2.0f, kSurer = 1000.0f, kEdge = 0.5f;

// How neighbours p, q on a path are tied together.
struct Coupling {
  Messages messages;
  bool robust;
  float P, minus_inverse_sigma2, inverse_tau2, jump_ratio, farthest;

  explicit Coupling(const Aggregation& o)
      : messages(o.messages),
        robust(o.disparity != nullptr),
        P(o.penalty),
        minus_inverse_sigma2(-1.0f / (o.edge_sigma * o.edge_sigma)),
        inverse_tau2(robust ? 1.0f / (std::max(o.robust_tau, kSmallest) * std::max(o.robust_tau, kSmallest)) : 0.0f),
        jump_ratio(std::min(o.jump_penalty / o.penalty, 1e30f)),
        farthest(std::max(o.farthest, kNear)) {}
};

// P w,  w = exp(-(I_p - I_q)^2 / sigma^2) / (1 + (d_p - d_q)^2 / tau^2)^2
DUALPIX_INLINE vfloat penalty(const Coupling& c, vfloat Ip, vfloat Iq, vfloat dp, vfloat dq) {
  const vfloat contrast = Ip - Iq;
  const vfloat Pw = c.P * exp_negative(contrast * contrast * c.minus_inverse_sigma2);
  if (!c.robust) return Pw;
  const vfloat jump = dp - dq, r = 1.0f + jump * jump * c.inverse_tau2;
  return Pw / (r * r);
}

DUALPIX_INLINE vfloat vertex(Parabola p) { return -0.5f * p.B / max(p.A, splat(kNothing)); }

// What p hears from q, the pixel before it on the path: a parabola with q's vertex and the curvature
//   exact:  A_q P w / (A_q + P w), from min over d' of A_q (d' - m_q)^2 + P w (d - d')^2
//   paper:  P w min(max(A_q, 0), 1);  min(A, 1) / A = 1 / max(A, 1), so nothing is divided by a small number
DUALPIX_INLINE Parabola message(const Coupling& c, Parabola q, vfloat Pw) {
  const vfloat ratio = Pw / (c.messages == Messages::exact ? q.A + Pw + kNothing : max(q.A, splat(1.0f)));
  const vfloat A = ratio * q.A;
  const vint heard = A > kNothing;
  return {select(heard, A, vfloat{}), select(heard, ratio * q.B, vfloat{})};
}

// The same by the published rules for jumps, |vertex_p - m_q|.
DUALPIX_INLINE Parabola message_over_jump(const Coupling& c, Parabola p, Parabola q, vfloat Pw) {
  const vfloat jump = vertex(p) - vertex(q), j = max(jump, -jump);
  const Parabola step = message(c, q, select(j < kNear, Pw, c.jump_ratio * Pw));
  const vint far = j >= c.farthest, taken = (q.A > kSurer * p.A) & (Pw > kEdge * c.P);
  const vfloat none = {};
  return {select(far, select(taken, q.A - p.A, none), step.A), select(far, select(taken, q.B - p.B, none), step.B)};
}

// p after it has heard q, and what it heard.
struct Step {
  Parabola p, heard;
};

DUALPIX_INLINE Step step(const Coupling& c, Parabola local, Parabola q, vfloat Pw) {
  const Parabola m = c.messages == Messages::jumps ? message_over_jump(c, local, q, Pw) : message(c, q, Pw);
  return {{local.A + m.A, local.B + m.B}, m};
}

// ---- along rows: eight rows at a time, one a lane --------------------------------------------------

// Pixels of eight rows transposed: column x of the block is the vector at x * kLanes.
struct RowBlock {
  explicit RowBlock(int w) : alpha(size(w)), beta(size(w)), Pw(size(w)), d(size(w)), A(size(w)), B(size(w)) {}
  static size_t size(int w) { return (size_t)w * kLanes; }
  std::vector<float> alpha, beta, Pw, d, A, B;
};

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
    const Parabola own = {load(&block.alpha[x]), load(&block.beta[x])};
    const Step s = step(c, own, p, x ? load(&block.Pw[x - kLanes]) : vfloat{});
    p = s.p;
    store(&block.A[x], local * own.A + s.heard.A);
    store(&block.B[x], local * own.B + s.heard.B);
  }
  p = Parabola{};
  for (size_t i = 0; i < end; i += kLanes) {
    const size_t x = end - kLanes - i;
    const Step s = step(c, {load(&block.alpha[x]), load(&block.beta[x])}, p, i ? load(&block.Pw[x]) : vfloat{});
    p = s.p;
    store(&block.A[x], load(&block.A[x]) + s.heard.A);
    store(&block.B[x], load(&block.B[x]) + s.heard.B);
  }
  scatter(block.A.data(), w, n, maps.A);
  scatter(block.B.data(), w, n, maps.B);
}

// ---- from row to row: columns and diagonals together -----------------------------------------------

// What the front carries: guide, disparity and three parabolas a pixel.
enum { kDisparity = kGuide + 1, kParabolas };
int plane_of_A(int path) { return kParabolas + 2 * path; }
int plane_of_B(int path) { return kParabolas + 2 * path + 1; }
constexpr int kPlanes = kParabolas + 6;

struct Sweep {
  Maps maps;
  int h, w;
  Coupling coupling;
  float scale;
  int paths;  // that run from row to row: 1 (columns) or 3 (and both diagonals)
};

DUALPIX_CLONES void sweep_row(const Sweep& s, const Maps& row, int begin, int end, Front& before, Front& now,
                              float scale) {
  for (int x = begin; x < end; x += kLanes) {
    const int n = end - x < kLanes ? end - x : kLanes;
    const Parabola own = {load(row.alpha + x, n), load(row.beta + x, n)};
    const vfloat guide = load(row.guide + x, n);
    const vfloat d = s.coupling.robust ? load(row.disparity + x, n) : vfloat{};
    vfloat A = load(row.A + x, n), B = load(row.B + x, n);
    store(now.plane(kGuide) + x, guide, n);
    store(now.plane(kDisparity) + x, d, n);
    for (int k = 0; k < s.paths; ++k) {
      const int q = x - kSteps[k];
      const vfloat guide_q = load(before.plane(kGuide) + q), d_q = load(before.plane(kDisparity) + q);
      const vfloat Pw = penalty(s.coupling, guide, guide_q, d, d_q);
      const Parabola last = {load(before.plane(plane_of_A(k)) + q), load(before.plane(plane_of_B(k)) + q)};
      const Step here = step(s.coupling, own, last, Pw);
      store(now.plane(plane_of_A(k)) + x, here.p.A, n);
      store(now.plane(plane_of_B(k)) + x, here.p.B, n);
      A += here.heard.A;
      B += here.heard.B;
    }
    store(row.A + x, scale * A, n);
    store(row.B + x, scale * B, n);
  }
}

void sweep(const Sweep& s, bool down, int threads) {
  sweep_rows(s.h, s.w, kPlanes, down, threads, [&](int y, int begin, int end, Front& before, Front& now) {
    sweep_row(s, s.maps.at((size_t)y * s.w), begin, end, before, now, down ? 1.0f : s.scale);
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
