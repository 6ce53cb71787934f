// What a pixel hears from its neighbour on a path: equation 4 of the paper, and its exact form.
#pragma once

#include <algorithm>
#include <cmath>

#include "aggregate/aggregate.h"
#include "aggregate/weights.h"
#include "common/simd.h"

namespace dualpix {

template <class V>
struct Parabola {
  V A, B;
};

// Least tau, px: 1 / tau^2 must not overflow.
constexpr float kSmallest = 1e-6f;

// A weaker belief is dropped: its next product would be denormal, with different rounding of A and B.
constexpr float kNothing = 1e-30f;
constexpr float kLeastNormal = 1.17549435e-38f;

// A match nearer than the last pass by more than this many times r is not trusted any less.
constexpr float kMostSuspect = 5.0f;

// Greatest P: in effect infinite, and its product with kCodeScale still does not overflow.
constexpr float kMostPenalty = 1e18f;

// The published rules for jumps. A step below kNear px is smoothed as usual. At a far jump the pixel takes over the
// parabola of the previous pixel if that has kSurer times the curvature and there is no edge (weight of kEdge or more).
constexpr float kNear = 2.0f, kSurer = 1000.0f, kEdge = 0.5f;

// The coupling of neighbours p, q on a path.
struct Coupling {
  Messages messages;
  bool robust, one_sided;
  float scale, P, P_of_code, unit, root, jump_ratio, farthest, inverse_r;
  // Constants that are compared with vectors. GCC compiles a maximum to
  // one instruction only if it does not know the value of the constant.
  float zero, one, least_normal, most_suspect;

  // tau: of a robust pass; 0: the pass is not robust. share: of the penalty.
  Coupling(const Aggregation& o, float tau, float share)
      : messages(o.messages),
        robust(tau > 0),
        one_sided(robust && o.vertex),
        scale(o.scale),
        P(std::min(share * o.penalty, kMostPenalty)),
        P_of_code(P * kCodeScale),
        unit(1.0f / std::sqrt(std::max(P, kNothing) * kCodeScale)),
        root(robust ? std::sqrt(unit) / std::max(tau, kSmallest) : 0.0f),
        jump_ratio(std::min(o.jump_penalty / P, 1e30f)),
        farthest(std::max(o.farthest, kNear)),
        inverse_r(one_sided ? 1.0f / std::max(o.fattening, kSmallest) : 0.0f),
        zero(0.0f),
        one(1.0f),
        least_normal(kLeastNormal),
        most_suspect(kMostSuspect) {}
};

// Compile-time constants of a pass.
template <Messages m, bool r, bool o, int n>
struct Kind {
  static constexpr Messages messages = m;
  static constexpr bool robust = r;
  static constexpr bool one_sided = o;
  static constexpr int paths = n;  // from row to row: 1 (vertical) or 3 (and both diagonals)
};

// The penalty of a step between p and q, N / D = P w / (1 + (d_p - d_q)^2 / tau^2)^2. For exact messages N is the code of
// w alone, and D has the factor: D = (unit + (root d_p - root d_q)^2)^2 with unit^2 = 1 / (P kCodeScale) and
// root^2 = unit / tau^2. That saves operations.
template <class V>
struct Penalty {
  V N, D;
};

// dp, dq: disparities times root.
template <class K, class V>
DUALPIX_INLINE Penalty<V> penalty(const Coupling& c, V code, V dp, V dq) {
  if (K::messages != Messages::exact) return {c.P_of_code * code, splat_as<V>(1.0f)};
  const V jump = dp - dq, r = K::robust ? jump * jump + c.unit : splat_as<V>(c.unit);
  return {code, r * r};
}

// The weight of a pixel's evidence, g = 1 / (1 + (max(v - d, 0) / r)^2), for a match with vertex v and the disparity d
// of the previous pass. Windows make near objects look larger, so a match that is too near is suspect, and one that is
// too far is not.
template <class V>
DUALPIX_INLINE V one_sided_weight(const Coupling& c, V v, V d) {
  const V t = min(max(v - d, splat_as<V>(c.zero)) * c.inverse_r, splat_as<V>(c.most_suspect));
  return 1.0f / (t * t + 1.0f);
}

// -B / (2 A), 0 where A is 0. For the sums over all paths this is equation 5 of the paper, the disparity.
template <class V>
DUALPIX_INLINE V vertex(Parabola<V> p) {
  return select(p.A > 0, -0.5f * p.B / p.A, V{});
}

// A and B, 0 where they are next to nothing.
template <class V>
DUALPIX_INLINE Parabola<V> known(Parabola<V> p) {
  const auto something = p.A > kNothing;
  return {select(something, p.A, V{}), select(something, p.B, V{})};
}

// The message from q, the previous pixel on the path, to p: the second term of equation 4 of the paper, or the exact
// minimum that this term approximates. It is a parabola with the vertex of q and the curvature
//   exact:  A_q P w / (A_q + P w), from min over d' of A_q (d' - m_q)^2 + P w (d - d')^2
//   paper:  P w min(max(A_q, 0), 1), which is P_adapt with A_q kept within 0 and 1;
//           computed with min(A, 1) / A = 1 / max(A, 1), to avoid small divisors
template <class K, class V>
DUALPIX_INLINE Parabola<V> message(const Coupling& c, Parabola<V> q, Penalty<V> Pw) {
  if (K::messages == Messages::exact) {
    // If the sum is 0, so is N. If it is no number, D is infinite, and q.A and q.B are 0.
    const V ratio = Pw.N / max(Pw.D * q.A + Pw.N, splat_as<V>(c.least_normal));
    return {ratio * q.A, ratio * q.B};
  }
  const V ratio = Pw.N / max(q.A, splat_as<V>(c.one));
  return known<V>({ratio * q.A, ratio * q.B});
}

// The message by the published rules (appendix F) for jumps of |vertex_p - vertex_q|.
template <class K, class V>
DUALPIX_INLINE Parabola<V> message_over_jump(const Coupling& c, Parabola<V> p, Parabola<V> q, Penalty<V> Pw) {
  const V jump = vertex(p) - vertex(q), j = max(jump, -jump);
  const Parabola<V> step = message<K>(c, q, {select(j < kNear, Pw.N, c.jump_ratio * Pw.N), Pw.D});
  const auto far = j >= c.farthest, taken = (q.A > kSurer * p.A) & (Pw.N >= kEdge * c.P);
  const V none = {};
  return {select(far, select(taken, q.A - p.A, none), step.A), select(far, select(taken, q.B - p.B, none), step.B)};
}

// p receives the message of q. q becomes p plus the message, the left side of equation 4, for the next pixel.
template <class K, class V>
DUALPIX_INLINE Parabola<V> hear(const Coupling& c, Parabola<V> local, Penalty<V> Pw, Parabola<V>& q) {
  const Parabola<V> m = K::messages == Messages::jumps ? message_over_jump<K>(c, local, q, Pw) : message<K>(c, q, Pw);
  q = {local.A + m.A, local.B + m.B};
  return m;
}

}  // namespace dualpix
