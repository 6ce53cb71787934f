#include "aggregate/aggregate.h"

#include <type_traits>

#include "aggregate/messages.h"
#include "common/aligned.h"
#include "common/half.h"
#include "common/paths.h"

namespace dualpix {

namespace {

DUALPIX_CLONES void vertices(const float* A, const float* B, float* d, int count) {
  for (int x = 0; x < count; x += kLanes) {
    const int n = std::min(count - x, kLanes);
    store(d + x, vertex<vfloat>({load(A + x, n), load(B + x, n)}), n);
  }
}

// ---- the image ----------------------------------------------------------------------------------------

// The maps of one pass, from pixel 0 or from a later row on.
struct Maps {
  const float *alpha, *beta;
  const Weight* weights;
  const uint16_t* vertex;
  float *A, *B, *d;
};

struct Image {
  Maps maps;
  int h, w, edges;

  Maps row(int y) const {
    const size_t pixel = (size_t)y * w;
    auto plus = [pixel](auto* map) { return map ? map + pixel : nullptr; };
    return {maps.alpha + pixel, maps.beta + pixel, maps.weights + edges * pixel, plus(maps.vertex),
            maps.A + pixel,     maps.B + pixel,    plus(maps.d)};
  }

  // The weights of the steps up into row y on path k. They are stored with the pixels below, with the diagonals
  // exchanged. In the last row the paths begin, and the weights do not matter.
  const Weight* weights_up(int y, int k) const {
    return row(std::min(y + 1, h - 1)).weights + (ptrdiff_t)(k ? 4 - k : 1) * w - kSteps[k];
  }
};

// The evidence of m pixels at x.
template <class K, class V>
DUALPIX_INLINE Parabola<V> evidence(const Coupling& c, const Maps& maps, ptrdiff_t x, int m) {
  Parabola<V> p = {load_part<V>(maps.alpha + x, m), load_part<V>(maps.beta + x, m)};
  if (K::messages == Messages::exact) p = known(p);
  if (K::one_sided) {
    const V g = one_sided_weight(c, load_halves<V>(maps.vertex + x, m), load_part<V>(maps.d + x, m));
    p.A *= g, p.B *= g;
  }
  return p;
}

// Asks for the evidence kAhead pixels after x: a line of the cache of each map, 16 floats or 32 vertices.
template <class K>
DUALPIX_INLINE void fetch_evidence(const Maps& maps, ptrdiff_t x) {
  __builtin_prefetch(maps.alpha + x + kAhead), __builtin_prefetch(maps.beta + x + kAhead);
  if (K::robust) __builtin_prefetch(maps.d + x + kAhead);
  if (K::one_sided) __builtin_prefetch(maps.vertex + x + kAhead);
}

// ---- horizontal paths: eight rows at a time, one in each lane ---------------------------------------

// Eight transposed rows, column by column, with the penalty of the step from the pixel before.
class RowBlock {
 public:
  enum Field { kAlpha, kBeta, kPenalty, kA, kB, kFields };
  static constexpr int kStride = kFields * kLanes;

  explicit RowBlock(int w) : data_((size_t)(w + 1) * kStride) {}
  float* at(int x, Field field) { return data_.data() + (size_t)x * kStride + field * kLanes; }

 private:
  Aligned<float> data_;
};

// The penalty of the steps into m pixels at x >= 0 from the pixels to their left, as one number, N / D.
template <class K>
DUALPIX_INLINE vfloat penalty_along(const Coupling& c, const Weight* weights, const float* d, int x, int m, int w) {
  const vfloat code = load_weights<vfloat>(weights + x, m);
  if (!K::robust) return c.P_of_code * code;
  const Penalty<vfloat> step = penalty<K>(c, code, c.root * load(d + x, m), c.root * load_beside<vfloat>(d, x - 1, w));
  return step.N / step.D;
}

// The pixel at x receives the message of the pixel at q. `first`: no other direction has written A, B of x yet.
template <class K, bool first>
DUALPIX_INLINE void walk(const Coupling& c, RowBlock& block, int x, int q, float local, Parabola<vfloat>& heard) {
  const Parabola<vfloat> own = {load(block.at(x, RowBlock::kAlpha)), load(block.at(x, RowBlock::kBeta))};
  const Penalty<vfloat> step = {load(block.at(q < x ? x : q, RowBlock::kPenalty)), splat(1.0f)};
  const Parabola<vfloat> m = hear<K>(c, own, step, heard);
  float *A = block.at(x, RowBlock::kA), *B = block.at(x, RowBlock::kB);
  store(A, (first ? local * own.A : load(A)) + m.A);
  store(B, (first ? local * own.B : load(B)) + m.B);
}

// Both directions along n rows from y on at once, from both ends: A, B = local * (alpha, beta) + the messages.
template <class K>
DUALPIX_INLINE void walk_rows(const Image& image, int y, int n, const Coupling c, float local, RowBlock& block) {
  const Maps maps = image.row(y);
  const int w = image.w, stride = RowBlock::kStride;
  const size_t between = (size_t)image.edges * w;
  gather_two([&](int i, int x, int m, vfloat& alpha, vfloat& beta) __attribute__((always_inline)) {
    const ptrdiff_t at = (ptrdiff_t)i * w + x;
    if (begins_line(x)) fetch_evidence<K>(maps, at);
    const Parabola<vfloat> own = evidence<K, vfloat>(c, maps, at, m);
    alpha = own.A, beta = own.B;
  }, w, n, block.at(0, RowBlock::kAlpha), block.at(0, RowBlock::kBeta), stride);
  gather([&](int i, int x, int m) __attribute__((always_inline)) {
    if (begins_line(x)) __builtin_prefetch(maps.weights + i * between + x + kAhead);
    const float* d = K::robust ? maps.d + (ptrdiff_t)i * w : nullptr;
    return penalty_along<K>(c, maps.weights + i * between, d, x, m, w);
  }, w, n, block.at(0, RowBlock::kPenalty), stride);
  Parabola<vfloat> right = {}, left = {};
  const int half = w / 2;
  for (int i = 0; i < half; ++i) {
    walk<K, true>(c, block, i, std::max(i - 1, 0), local, right);
    walk<K, true>(c, block, w - 1 - i, w - i, local, left);
  }
  if (w % 2) {
    walk<K, true>(c, block, half, std::max(half - 1, 0), local, right);
    walk<K, false>(c, block, half, half + 1, local, left);
  }
  for (int i = half + w % 2; i < w; ++i) {
    walk<K, false>(c, block, i, i - 1, local, right);
    walk<K, false>(c, block, w - 1 - i, w - i, local, left);
  }
  scatter(block.at(0, RowBlock::kA), stride, w, n, maps.A);
  scatter(block.at(0, RowBlock::kB), stride, w, n, maps.B);
}

// Calls run(Kind) with the constants of a pass.
template <class Run>
DUALPIX_INLINE void dispatch(const Coupling& c, int paths, const Run& run) {
  auto with = [&](auto messages, auto robust, auto one_sided) __attribute__((always_inline)) {
    if (paths == 3)
      run(Kind<messages, robust, one_sided, 3>());
    else
      run(Kind<messages, robust, one_sided, 1>());
  };
  const std::true_type yes;
  const std::false_type no;
  const std::integral_constant<Messages, Messages::paper> paper;
  const std::integral_constant<Messages, Messages::jumps> jumps;
  const std::integral_constant<Messages, Messages::exact> exact;
  if (c.messages == Messages::paper) return with(paper, no, no);
  if (c.messages == Messages::jumps) return with(jumps, no, no);
  if (c.one_sided) return with(exact, yes, yes);
  if (c.robust) return with(exact, yes, no);
  with(exact, no, no);
}

DUALPIX_CLONES void aggregate_rows(const Image& image, int y, int n, const Coupling& c, float local,
                                   RowBlock& block) {
  dispatch(c, 1, [&](auto kind) __attribute__((always_inline)) {
    walk_rows<decltype(kind)>(image, y, n, c, local, block);
  });
}

// ---- vertical and diagonal paths, from row to row ---------------------------------------------------

// One row: the state of its paths, the weights of the steps into it, and copies of the disparities of the previous row
// and of this one, times root (the map itself may be overwritten).
struct Row {
  float *A[3], *B[3];
  const Weight* weights[3];
  const float* d_before;
  float* d;
  bool second;  // of the two sweeps of a pass: the sums are whole afterwards
  bool kept;    // whether the sums are kept, or the minimizer alone
};

// Asks for what the row needs kAhead pixels after x, for sixteen pixels, or more of small numbers.
template <class K>
DUALPIX_INLINE void fetch(const Maps& maps, const Row& row, int x) {
  fetch_evidence<K>(maps, x);
  __builtin_prefetch(maps.A + x + kAhead), __builtin_prefetch(maps.B + x + kAhead);
  if (x & 3 * kWide) return;
  for (int k = 0; k < K::paths; ++k) __builtin_prefetch(row.weights[k] + x + kAhead);
}

// Writes the results of m pixels at x, from the sums over all paths.
template <class K, class V>
DUALPIX_INLINE void finish(const Coupling& c, const Maps& maps, bool kept, Parabola<V> sum, int x, int m) {
  if (K::messages == Messages::exact) sum = known(sum);
  if (kept) {
    store_part(maps.A + x, c.scale * sum.A, m);
    store_part(maps.B + x, c.scale * sum.B, m);
  }
  if (maps.d) store_part(maps.d + x, vertex(sum), m);
}

// m pixels at x.
template <class K, class V>
DUALPIX_INLINE void walk_vector(const Coupling& c, const Maps& maps, const Row& row, int x, int m) {
  const Parabola<V> own = evidence<K, V>(c, maps, x, m);
  const V dp = K::robust ? c.root * load_part<V>(maps.d + x, m) : V{};
  if (K::robust) store_part(row.d + x, dp, m);
  Parabola<V> sum = {load_part<V>(maps.A + x, m), load_part<V>(maps.B + x, m)};
#pragma GCC unroll 3
  for (int k = 0; k < K::paths; ++k) {
    const V dq = K::robust ? load_as<V>(row.d_before + x - kSteps[k]) : V{};
    const Penalty<V> step = penalty<K>(c, load_weights<V>(row.weights[k] + x, m), dp, dq);
    Parabola<V> p = {load_as<V>(row.A[k] + x), load_as<V>(row.B[k] + x)};
    const Parabola<V> heard = hear<K>(c, own, step, p);
    store_part(row.A[k] + x, p.A, m);
    store_part(row.B[k] + x, p.B, m);
    sum.A += heard.A;
    sum.B += heard.B;
  }
  if (row.second) return finish<K>(c, maps, row.kept, sum, x, m);
  store_part(maps.A + x, sum.A, m);
  store_part(maps.B + x, sum.B, m);
}

// c, maps and row are passed by value: the compiler then knows that no store changes them.
template <class K, class V>
DUALPIX_INLINE void walk_row(const Coupling c, const Maps maps, const Row row, int begin, int end) {
  int x = begin;
  for (; x + lanes_of<V> <= end; x += lanes_of<V>) {
    if (lanes_of<V> == kWide || begins_line(x)) fetch<K>(maps, row, x);
    walk_vector<K, V>(c, maps, row, x, lanes_of<V>);
  }
  for (; x < end; x += kLanes) walk_vector<K, vfloat>(c, maps, row, x, std::min(end - x, kLanes));
}

DUALPIX_CLONES void sweep_row(const Coupling& c, const Maps& maps, const Row& row, int edges, int begin, int end) {
  dispatch(c, edges - 1, [&](auto kind) __attribute__((always_inline)) {
    walk_row<decltype(kind), vfloat>(c, maps, row, begin, end);
  });
}

DUALPIX_WIDE void sweep_row_wide(const Coupling& c, const Maps& maps, const Row& row, int edges, int begin, int end) {
  dispatch(c, edges - 1, [&](auto kind) __attribute__((always_inline)) {
    walk_row<decltype(kind), vlongest>(c, maps, row, begin, end);
  });
}

// One sweep of a pass over the image. The first of a pass includes the paths along the rows.
class Sweep {
 public:
  Sweep(const Image& image, const Coupling& c, float local, bool down, bool second, bool kept)
      : image_(image), c_(c), local_(local), down_(down), second_(second), kept_(kept),
        front_(image.h, image.w, kPlanes, 0.0f) {
    for (std::vector<float>& d : disparities_) d.resize(c.robust ? image.w + 3 * kLanes : kLanes);
  }

  void along(int block, RowBlock& scratch) const {
    if (second_) return;
    const int h = image_.h, begin = block * kLanes, n = std::min(kLanes, h - begin);
    aggregate_rows(image_, down_ ? begin : h - begin - n, n, c_, local_, scratch);
  }

  // The columns [begin, end) of the i-th row visited.
  void visit(int i, int begin, int end) {
    const int h = image_.h, w = image_.w, y = down_ ? i : h - 1 - i;
    const Maps maps = image_.row(y);
    Row row;
    for (int k = 0; k + 1 < image_.edges; ++k) {
      row.A[k] = front_.plane(k, kA, i), row.B[k] = front_.plane(k, kB, i);
      row.weights[k] = down_ ? maps.weights + (ptrdiff_t)(k + 1) * w : image_.weights_up(y, k);
    }
    row.d_before = disparities_[(i + 1) % 2].data() + kLanes;
    row.d = disparities_[i % 2].data() + kLanes;
    row.second = second_, row.kept = kept_;
    (kHasWide ? sweep_row_wide : sweep_row)(c_, maps, row, image_.edges, begin, end);
  }

 private:
  enum { kA, kB, kPlanes };

  Image image_;
  Coupling c_;
  float local_;
  bool down_, second_, kept_;
  Front front_;
  std::vector<float> disparities_[2];
};

}  // namespace

// A pass is two sweeps, one down and one up. The second sweep of a pass and the first of the next pass go the same way,
// so one can follow the other:
//
//   sweep      1      2      3      4      5      6
//   pass       1      1      2      2      3      3
//              down   up  >  up     down > down   up       > : follows, 32 rows behind or less
void aggregate(const float* alpha, const float* beta, const Weight* weights, float* A, float* B, int h, int w,
               const Aggregation& options, int threads) {
  const Image image = {{alpha, beta, weights, options.vertex, A, B, options.minimizer}, h, w, options.edges};
  const float local = options.messages == Messages::exact ? 1.0f : 2.0f * options.edges;
  const int passes = 1 + (int)options.taus.size();
  auto sweep = [&](int pass, bool second) {
    const Coupling c(options, pass > 0 ? options.taus[pass - 1] : 0.0f, pass > 0 ? 1.0f : options.first);
    return Sweep(image, c, local, (pass % 2 == 0) != second, second, pass + 1 == passes);
  };
  for (int begin = options.begun ? 1 : 0, pass = begin; pass <= passes; ++pass) {
    std::vector<Sweep> sweeps;
    if (pass > begin) sweeps.push_back(sweep(pass - 1, true));
    if (pass < passes) sweeps.push_back(sweep(pass, false));
    sweep_rows((int)sweeps.size(), h, w, threads, [&] { return RowBlock(pass < passes ? w : 0); },
               [&](int i, int block, RowBlock& scratch) { sweeps[i].along(block, scratch); },
               [&](int i, int row, int begin, int end) { sweeps[i].visit(row, begin, end); });
  }
}

void minimizer(const float* A, const float* B, float* d, size_t count, int threads) {
  parallel_pixels(count, threads, [&](size_t begin, int n) { vertices(A + begin, B + begin, d + begin, n); });
}

}  // namespace dualpix
