#include "aggregate.h"

#include <cmath>
#include <type_traits>

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
  float P, log2_P, minus_log2_e_over_sigma2, inverse_tau2, jump_ratio, farthest;

  explicit Coupling(const Aggregation& o)
      : messages(o.messages),
        robust(o.disparity != nullptr),
        P(o.penalty),
        log2_P(std::log2(std::max(o.penalty, kNothing))),
        minus_log2_e_over_sigma2(-1.44269504f / (o.edge_sigma * o.edge_sigma)),
        inverse_tau2(robust ? 1.0f / (std::max(o.robust_tau, kSmallest) * std::max(o.robust_tau, kSmallest)) : 0.0f),
        jump_ratio(std::min(o.jump_penalty / o.penalty, 1e30f)),
        farthest(std::max(o.farthest, kNear)) {}
};

// What does not change within a pass, known to the compiler.
template <Messages m, bool r, int n>
struct Kind {
  static constexpr Messages messages = m;
  static constexpr bool robust = r;
  static constexpr int paths = n;  // that run from row to row: 1 (columns) or 3 (and both diagonals)
};

// The penalty of a step between p and q, P w = N / D:
//   N = P exp(-(I_p - I_q)^2 / sigma^2)      D = (1 + (d_p - d_q)^2 / tau^2)^2, at most 1e30
struct Penalty {
  vfloat N, D;
};

template <class K>
DUALPIX_INLINE Penalty penalty(const Coupling& c, vfloat Ip, vfloat Iq, vfloat dp, vfloat dq) {
  const vfloat contrast = Ip - Iq;
  const vfloat N = exp2(contrast * contrast * c.minus_log2_e_over_sigma2 + c.log2_P);
  if (!K::robust) return {N, splat(1.0f)};
  const vfloat jump = dp - dq, r = min(jump * jump * c.inverse_tau2 + 1.0f, splat(1e15f));
  return {N, r * r};
}

// -B / (2 A), 0 where A is 0
DUALPIX_INLINE vfloat vertex(Parabola p) { return select(p.A > 0, -0.5f * p.B / p.A, vfloat{}); }

// What p hears from q, the pixel before it on the path: a parabola with q's vertex and the curvature
//   exact:  A_q P w / (A_q + P w), from min over d' of A_q (d' - m_q)^2 + P w (d - d')^2
//   paper:  P w min(max(A_q, 0), 1);  min(A, 1) / A = 1 / max(A, 1), so nothing is divided by a small number
template <class K>
DUALPIX_INLINE Parabola message(Parabola q, Penalty Pw) {
  const bool exact = K::messages == Messages::exact;
  const vfloat scaled = K::robust ? Pw.D * q.A : q.A;
  vfloat ratio = Pw.N / (exact ? scaled + Pw.N + kNothing : max(scaled, splat(1.0f)));
  ratio = select(ratio * q.A > kNothing, ratio, vfloat{});
  return {ratio * q.A, ratio * q.B};
}

// The same by the published rules for jumps, |vertex_p - m_q|.
template <class K>
DUALPIX_INLINE Parabola message_over_jump(const Coupling& c, Parabola p, Parabola q, Penalty Pw) {
  const vfloat jump = vertex(p) - vertex(q), j = max(jump, -jump);
  const Parabola step = message<K>(q, {select(j < kNear, Pw.N, c.jump_ratio * Pw.N), Pw.D});
  const vint far = j >= c.farthest, taken = (q.A > kSurer * p.A) & (Pw.N > kEdge * c.P);
  const vfloat none = {};
  return {select(far, select(taken, q.A - p.A, none), step.A), select(far, select(taken, q.B - p.B, none), step.B)};
}

// p hears q, and becomes what the next pixel hears.
template <class K>
DUALPIX_INLINE Parabola hear(const Coupling& c, Parabola local, Penalty Pw, Parabola& q) {
  const Parabola m = K::messages == Messages::jumps ? message_over_jump<K>(c, local, q, Pw) : message<K>(q, Pw);
  q = {local.A + m.A, local.B + m.B};
  return m;
}

DUALPIX_CLONES void vertices(const float* A, const float* B, float* d, int count) {
  for (int x = 0; x < count; x += kLanes) {
    const int n = std::min(count - x, kLanes);
    store(d + x, vertex({load(A + x, n), load(B + x, n)}), n);
  }
}

// ---- along rows: eight rows at a time, one a lane --------------------------------------------------

// Pixels of eight rows transposed: column x of the block is the vector at x * kLanes.
struct RowBlock {
  explicit RowBlock(int w) : alpha(size(w)), beta(size(w)), N(size(w)), D(size(w)), A(size(w)), B(size(w)) {}
  static size_t size(int w) { return (size_t)w * kLanes; }
  std::vector<float> alpha, beta, N, D, A, B;
};

// The maps of one aggregation, or of some rows of it.
struct Maps {
  const float *alpha, *beta, *guide, *disparity;
  float *A, *B, *minimizer;

  Maps at(size_t pixel) const {
    auto plus = [pixel](auto* map) { return map ? map + pixel : nullptr; };
    return {alpha + pixel, beta + pixel, guide + pixel, plus(disparity), A + pixel, B + pixel, plus(minimizer)};
  }
};

// A pixel at x hears the one before it, the first to come there for the other direction too.
template <class K, bool first>
DUALPIX_INLINE void walk(const Coupling& c, RowBlock& block, size_t x, Penalty Pw, float local, Parabola& q) {
  const Parabola own = {load(&block.alpha[x]), load(&block.beta[x])};
  const Parabola m = hear<K>(c, own, Pw, q);
  store(&block.A[x], (first ? local * own.A : load(&block.A[x])) + m.A);
  store(&block.B[x], (first ? local * own.B : load(&block.B[x])) + m.B);
}

// Both directions along n rows, abreast from both ends; A, B = local * (alpha, beta) + the messages.
template <class K>
DUALPIX_INLINE void walk_rows(const Maps& maps, int w, int n, const Coupling& c, float local, RowBlock& block) {
  gather(maps.alpha, w, n, block.alpha.data());
  gather(maps.beta, w, n, block.beta.data());
  gather(maps.guide, w, n, block.N.data());
  if (K::robust) gather(maps.disparity, w, n, block.D.data());
  float *N = block.N.data(), *D = block.D.data();
  // N and D at x become those of the penalty between x and x + 1.
  for (size_t x = 0; x + kLanes < RowBlock::size(w); x += kLanes) {
    const Penalty Pw = penalty<K>(c, load(N + x), load(N + x + kLanes), load(D + x), load(D + x + kLanes));
    store(N + x, Pw.N);
    if (K::robust) store(D + x, Pw.D);
  }
  auto between = [&](int x) { return Penalty{load(N + (size_t)x * kLanes), load(D + (size_t)x * kLanes)}; };
  auto at = [](int x) { return (size_t)x * kLanes; };
  Parabola right = {}, left = {};
  const Penalty none = {vfloat{}, splat(1.0f)};
  const int half = w / 2;
  for (int i = 0; i < half; ++i) {
    walk<K, true>(c, block, at(i), i ? between(i - 1) : none, local, right);
    walk<K, true>(c, block, at(w - 1 - i), i ? between(w - 1 - i) : none, local, left);
  }
  if (w % 2) {
    walk<K, true>(c, block, at(half), half ? between(half - 1) : none, local, right);
    walk<K, false>(c, block, at(half), half ? between(half) : none, local, left);
  }
  for (int i = half + w % 2; i < w; ++i) {
    walk<K, false>(c, block, at(i), between(i - 1), local, right);
    walk<K, false>(c, block, at(w - 1 - i), between(w - 1 - i), local, left);
  }
  scatter(block.A.data(), w, n, maps.A);
  scatter(block.B.data(), w, n, maps.B);
}

// run(Kind) for the kind of a pass.
template <class Run>
DUALPIX_INLINE void dispatch(const Coupling& c, int paths, const Run& run) {
  auto with = [&](auto messages, auto robust) __attribute__((always_inline)) {
    if (paths == 3)
      run(Kind<messages, robust, 3>());
    else
      run(Kind<messages, robust, 1>());
  };
  if (c.messages == Messages::paper) return with(std::integral_constant<Messages, Messages::paper>(), std::false_type());
  if (c.messages == Messages::jumps) return with(std::integral_constant<Messages, Messages::jumps>(), std::false_type());
  if (c.robust) return with(std::integral_constant<Messages, Messages::exact>(), std::true_type());
  with(std::integral_constant<Messages, Messages::exact>(), std::false_type());
}

DUALPIX_CLONES void aggregate_rows(const Maps& maps, int w, int n, const Coupling& c, float local, RowBlock& block) {
  dispatch(c, 1, [&](auto kind) __attribute__((always_inline)) { walk_rows<decltype(kind)>(maps, w, n, c, local, block); });
}

// ---- from row to row: columns and diagonals together -----------------------------------------------

// What the front carries: guide, disparity and three parabolas a pixel.
enum { kDisparity = kGuide + 1, kParabolas };
constexpr int plane_of_A(int path) { return kParabolas + 2 * path; }
constexpr int plane_of_B(int path) { return kParabolas + 2 * path + 1; }
constexpr int kPlanes = kParabolas + 6;

struct Sweep {
  Maps maps;
  int h, w;
  Coupling coupling;
  float scale;
  int paths;  // that run from row to row: 1 (columns) or 3 (and both diagonals)
};

// Penalties are made for so many pixels before they are walked: short loops keep the processor's units busy.
constexpr int kChunk = 16 * kLanes;

struct Penalties {
  float N[3][kChunk], D[3][kChunk];
};

// Those between n pixels from x on and the pixels before them on each path.
template <class K>
DUALPIX_INLINE void weigh(const Coupling& c, const Maps& row, int x, int n, float* const* before, Penalties& Pw) {
  for (int i = 0; i < n; i += kLanes) {
    const int m = n - i < kLanes ? n - i : kLanes;
    const vfloat guide = load(row.guide + x + i, m), d = K::robust ? load(row.disparity + x + i, m) : vfloat{};
    for (int k = 0; k < K::paths; ++k) {
      const int q = x + i - kSteps[k];
      const Penalty p = penalty<K>(c, guide, load(before[kGuide] + q), d, load(before[kDisparity] + q));
      store(Pw.N[k] + i, p.N);
      if (K::robust) store(Pw.D[k] + i, p.D);
    }
  }
}

// m pixels from x on, whose penalties begin at i.
template <class K>
DUALPIX_INLINE void walk_vector(const Coupling& c, const Maps& row, int x, int m, float* const* before,
                                float* const* now, const Penalties& Pw, int i, float scale) {
  const Parabola own = {load(row.alpha + x, m), load(row.beta + x, m)};
  vfloat A = load(row.A + x, m), B = load(row.B + x, m);
  store(now[kGuide] + x, load(row.guide + x, m), m);
  if (K::robust) store(now[kDisparity] + x, load(row.disparity + x, m), m);
#pragma GCC unroll 3
  for (int k = 0; k < K::paths; ++k) {
    const int q = x - kSteps[k];
    Parabola p = {load(before[plane_of_A(k)] + q), load(before[plane_of_B(k)] + q)};
    const Parabola heard = hear<K>(c, own, {load(Pw.N[k] + i), load(Pw.D[k] + i)}, p);
    store(now[plane_of_A(k)] + x, p.A, m);
    store(now[plane_of_B(k)] + x, p.B, m);
    A += heard.A;
    B += heard.B;
  }
  store(row.A + x, scale * A, m);
  store(row.B + x, scale * B, m);
  if (row.minimizer) store(row.minimizer + x, vertex({A, B}), m);
}

template <class K>
DUALPIX_INLINE void walk_row(const Coupling c, const Maps row, int begin, int end, Front& last, Front& present,
                             float scale) {
  float *before[kPlanes], *now[kPlanes];
  for (int k = 0; k < kPlanes; ++k) before[k] = last.plane(k), now[k] = present.plane(k);
  Penalties Pw;
  for (int x = begin; x < end; x += kChunk) {
    const int n = end - x < kChunk ? end - x : kChunk;
    weigh<K>(c, row, x, n, before, Pw);
    int i = 0;
    for (; i + kLanes <= n; i += kLanes) walk_vector<K>(c, row, x + i, kLanes, before, now, Pw, i, scale);
    if (i < n) walk_vector<K>(c, row, x + i, n - i, before, now, Pw, i, scale);
  }
}

DUALPIX_CLONES void sweep_row(const Sweep& s, const Maps& row, int begin, int end, Front& before, Front& now,
                              float scale) {
  dispatch(s.coupling, s.paths, [&](auto kind) __attribute__((always_inline)) {
    walk_row<decltype(kind)>(s.coupling, row, begin, end, before, now, scale);
  });
}

void sweep(const Sweep& s, bool down, int threads) {
  sweep_rows(s.h, s.w, kPlanes, down, threads, [&](int y, int begin, int end, Front& before, Front& now) {
    Maps row = s.maps.at((size_t)y * s.w);
    if (down) row.minimizer = nullptr;
    sweep_row(s, row, begin, end, before, now, down ? 1.0f : s.scale);
  });
}

}  // namespace

void aggregate(const float* alpha, const float* beta, const float* guide, float* A, float* B, int h, int w,
               const Aggregation& options, int threads) {
  const Maps maps = {alpha, beta, guide, options.disparity, A, B, options.minimizer};
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

void minimizer(const float* A, const float* B, float* d, size_t count, int threads) {
  constexpr size_t kAtOnce = 1 << 16;
  const int tasks = (int)((count + kAtOnce - 1) / kAtOnce);
  parallel_for(tasks, threads, [] { return 0; }, [&](int task, int) {
    const size_t begin = task * kAtOnce;
    vertices(A + begin, B + begin, d + begin, (int)std::min(kAtOnce, count - begin));
  });
}

}  // namespace dualpix
