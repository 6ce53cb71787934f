#include "filters/solver.h"

#include <algorithm>
#include <limits>

#include "common/parallel.h"

namespace dualpix {

namespace {

constexpr int kChunk = 1 << 14;      // vertices of a task; the partial sums are added in order
constexpr int kBalancings = 10;      // iterations that make W bistochastic
constexpr double kConverged = 1e-6;  // relative to the first residual
constexpr double kSmallest = 1e-30;  // least divisor
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// One number for every vertex, then a zero that stands for missing neighbours.
using Values = std::vector<double>;

// A y = b on the vertices:  A = lambda (Dm - Dn B Dn) + diag(S c),  b = S (c d)
class System {
 public:
  System(const Grid& grid, const Measured& in, float lambda, int threads)
      : grid_(grid), threads_(threads), size_(grid.vertices()), Sc_(size_ + 1), b_(size_ + 1), n_(size_ + 1),
        m_(size_ + 1), diagonal_(size_ + 1), lambda_(lambda) {
    splat(in);
    balance();
  }

  // The initial y: the mean of the data of a vertex. Where there is no data, the mean of the neighbours, ring by ring.
  // NaN where no path leads to data.
  Values guess() const {
    Values y(size_ + 1, kNaN);
    std::vector<int32_t> ring, next;
    for (int32_t v = 0; v < size_; ++v)
      if (Sc_[v] > 0) {
        y[v] = b_[v] / Sc_[v];
        ring.push_back(v);
      }
    std::vector<char> queued(size_ + 1);
    queued[size_] = 1;
    for (int32_t v : ring) queued[v] = 1;
    Values found;
    while (!ring.empty()) {
      next.clear();
      for (int32_t v : ring)
        for (int32_t u : grid_.links(v))
          if (!queued[u]) {
            queued[u] = 1;
            next.push_back(u);
          }
      found.clear();
      for (int32_t v : next) found.push_back(mean_of_neighbours(y, v));
      for (size_t i = 0; i < next.size(); ++i) y[next[i]] = found[i];
      ring.swap(next);
    }
    y[size_] = 0;
    return y;
  }

  // Conjugate gradients from y, preconditioned by the diagonal of A.
  void solve(Values& y, int iterations) const {
    Values r(size_ + 1), p(size_ + 1), Ap(size_ + 1);
    multiply(y, Ap);
    double rz = sum([&](int32_t v) {
      r[v] = b_[v] - Ap[v];
      p[v] = r[v] / diagonal_[v];
      return r[v] * p[v];
    });
    const double enough = kConverged * kConverged * rz;
    for (int i = 0; i < iterations && rz > enough; ++i) {
      const double alpha = rz / std::max(multiply(p, Ap), kSmallest);
      const double rz_next = sum([&](int32_t v) {
        y[v] += alpha * p[v];
        r[v] -= alpha * Ap[v];
        return r[v] * r[v] / diagonal_[v];
      });
      const double beta = rz_next / rz;
      for_vertices([&](int32_t v) { p[v] = r[v] / diagonal_[v] + beta * p[v]; });
      rz = rz_next;
    }
  }

 private:
  template <class Body>
  void for_vertices(const Body& body) const {
    sum([&](int32_t v) {
      body(v);
      return 0.0;
    });
  }

  // The sum does not depend on the number of threads.
  template <class Term>
  double sum(const Term& term) const {
    const int chunks = (size_ + kChunk - 1) / kChunk;
    std::vector<double> parts(chunks);
    parallel_for(chunks, threads_, [] { return 0; }, [&](int chunk, int) {
      double part = 0;
      for (int32_t v = chunk * kChunk, end = std::min(size_, v + kChunk); v < end; ++v) part += term(v);
      parts[chunk] = part;
    });
    double total = 0;
    for (double part : parts) total += part;
    return total;
  }

  double mean_of_neighbours(const Values& y, int32_t v) const {
    double total = 0;
    int count = 0;
    for (int32_t u : grid_.links(v))
      if (y[u] == y[u]) {
        total += y[u];
        ++count;
      }
    return total / count;
  }

  void splat(const Measured& in) {
    parallel_for(grid_.rows(), threads_, [] { return 0; }, [&](int row, int) {
      grid_.for_pixels(row, [&](size_t pixel) {
        const int32_t v = grid_.vertex(pixel);
        const double c = weight(in, pixel);
        m_[v] += 1;
        Sc_[v] += c;
        if (c > 0) b_[v] += c * in.d[pixel];
      });
    });
  }

  // (B x)_v: the sum over the dimensions of [1 2 1] along each
  double blurred(const Values& x, int32_t v) const {
    double total = 2.0 * grid_.dimensions() * x[v];
    for (int32_t u : grid_.links(v)) total += x[u];
    return total;
  }

  // n such that Dn B n = m, the number of pixels of a vertex, by n <- sqrt(n m / B n).
  void balance() {
    Values next(size_ + 1);
    for_vertices([&](int32_t v) { n_[v] = 1; });
    for (int i = 0; i < kBalancings; ++i) {
      for_vertices([&](int32_t v) { next[v] = std::sqrt(n_[v] * m_[v] / blurred(n_, v)); });
      n_.swap(next);
    }
    for_vertices([&](int32_t v) {
      m_[v] = n_[v] * blurred(n_, v);
      diagonal_[v] = lambda_ * (m_[v] - 2.0 * grid_.dimensions() * n_[v] * n_[v]) + Sc_[v];
      diagonal_[v] = std::max(diagonal_[v], kSmallest);
    });
  }

  // Ax = A x. Returns x . A x.
  double multiply(const Values& x, Values& Ax) const {
    return sum([&](int32_t v) {
      double Bnx = 2.0 * grid_.dimensions() * n_[v] * x[v];
      for (int32_t u : grid_.links(v)) Bnx += n_[u] * x[u];
      Ax[v] = lambda_ * (m_[v] * x[v] - n_[v] * Bnx) + Sc_[v] * x[v];
      return x[v] * Ax[v];
    });
  }

  const Grid& grid_;
  const int threads_;
  const int32_t size_;
  Values Sc_, b_, n_, m_, diagonal_;
  const double lambda_;
};

// y at a pixel, interpolated between its vertex and the neighbours on the pixel's side, so that cells leave no steps.
float slice(const Grid& grid, const Values& y, size_t pixel) {
  const int32_t v = grid.vertex(pixel);
  double value = y[v];
  for (int k = 0; k < Grid::kDimensions; ++k) {
    const int32_t up = grid.links(v)[2 * k], down = grid.links(v)[2 * k + 1];
    if (up == down) continue;  // there is neither
    const float above = grid.above(k, pixel);
    const int32_t u = above > 0 ? up : down;
    if (u < grid.vertices()) value += std::fabs(above) * (y[u] - y[v]);
  }
  return (float)value;
}

}  // namespace

void bilateral_solver(const Measured& in, float* out, const CellSize& size, float lambda, int iterations, int threads) {
  const Grid grid(in, size, threads);
  const System system(grid, in, lambda, threads);
  Values y = system.guess();
  std::vector<char> reached(y.size());
  for (size_t v = 0; v < y.size(); ++v) {
    reached[v] = y[v] == y[v];
    if (!reached[v]) y[v] = 0;
  }
  system.solve(y, iterations);
  parallel_for(grid.rows(), threads, [] { return 0; }, [&](int row, int) {
    grid.for_pixels(row, [&](size_t pixel) {
      out[pixel] = reached[grid.vertex(pixel)] ? slice(grid, y, pixel) : kNaN;
    });
  });
}

}  // namespace dualpix
