#include "filters/guided.h"

#include <algorithm>
#include <limits>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

namespace {

constexpr int kTile = 512;  // px, side of the square that one task filters

// ---- sums over windows -----------------------------------------------------------------------------

// Rows of a block. Input and output rows never overlap, which allows `ivdep` below.
template <class T>
struct Rows {
  T* first;
  size_t stride;
  T* operator[](int k) const { return first + k * stride; }
};

// Sums of N quantities over square windows that slide down a strip. `down` holds the sums over the rows of the window;
// the owner updates it. across() sums these over the columns.
template <int N>
class Sums {
 public:
  Sums(int columns, int radius)
      : columns_(columns), size_(2 * radius + 1), down_((size_t)N * columns), box_(down_.size()) {}

  void clear() { std::fill(down_.begin(), down_.end(), 0.0); }
  Rows<double> down(int first) { return {down_.data() + first, (size_t)columns_}; }
  Rows<const double> box(int first) const { return {box_.data() + first, (size_t)columns_}; }

  // box[k][x] = sum of down[k][x .. x + 2 radius]. The N independent sums hide the latency of the additions.
  void across() {
    double sum[N] = {};
    for (int k = 0; k < N; ++k)
      for (int x = 0; x + 1 < size_; ++x) sum[k] += down(0)[k][x];
    const double* leaving = down_.data();
    const double* entering = leaving + size_ - 1;
    double* box = box_.data();
    for (int x = 0; x + size_ <= columns_; ++x)
      for (int k = 0; k < N; ++k) {
        const size_t at = (size_t)k * columns_ + x;
        sum[k] += entering[at];
        box[at] = sum[k];
        sum[k] -= leaving[at];
      }
  }

 private:
  int columns_, size_;
  std::vector<double> down_, box_;
};

// ---- one fit a window: d = a . I + b ---------------------------------------------------------------

// Moment: the sums that a fit needs of weight w, value p and colours I. kN counts the weights above 0; it has no
// rounding and says whether there is any data. Fit: what a fit adds to the average.
enum Moment { kN, kW, kP, kI0, kI1, kI2, kP0, kP1, kP2, k00, k01, k02, k11, k12, k22, kMoments };
enum Fit { kA0, kA1, kA2, kB, kCount, kFitParts };

struct Pixels {
  const float *d, *confidence, *I[3];
  int n;
};

// sign = 1: this row enters the window; -1: it leaves the window.
DUALPIX_CLONES void add_moments(const Pixels& row, float sign, Rows<double> down) {
  const float *d = row.d, *confidence = row.confidence, *I[] = {row.I[0], row.I[1], row.I[2]};
#pragma GCC ivdep
  for (int x = 0; x < row.n; ++x) {
    const bool known = is_data(d[x]);
    const double p = known ? d[x] : 0.0f, w = known ? sign * confidence[x] : 0.0f;
    const double I0 = I[0][x], I1 = I[1][x], I2 = I[2][x], w0 = w * I0, w1 = w * I1, w2 = w * I2;
    down[kN][x] += w != 0 ? (double)sign : 0.0;
    down[kW][x] += w;
    down[kP][x] += w * p;
    down[kI0][x] += w0;
    down[kI1][x] += w1;
    down[kI2][x] += w2;
    down[kP0][x] += w0 * p;
    down[kP1][x] += w1 * p;
    down[kP2][x] += w2 * p;
    down[k00][x] += w0 * I0;
    down[k01][x] += w0 * I1;
    down[k02][x] += w0 * I2;
    down[k11][x] += w1 * I1;
    down[k12][x] += w1 * I2;
    down[k22][x] += w2 * I2;
  }
}

// a = (cov(I, I) + eps)^-1 cov(I, p),  b = mean(p) - a . mean(I)
DUALPIX_CLONES void solve(Rows<const double> box, double eps, Rows<double> fit, int n) {
#pragma GCC ivdep
  for (int x = 0; x < n; ++x) {
    const bool any = box[kN][x] > 0 && box[kW][x] > 0;
    const double s = any ? 1 / box[kW][x] : 0.0;
    const double p = s * box[kP][x], m0 = s * box[kI0][x], m1 = s * box[kI1][x], m2 = s * box[kI2][x];
    const double p0 = s * box[kP0][x] - m0 * p, p1 = s * box[kP1][x] - m1 * p, p2 = s * box[kP2][x] - m2 * p;
    const double c00 = s * box[k00][x] - m0 * m0 + eps, c11 = s * box[k11][x] - m1 * m1 + eps;
    const double c22 = s * box[k22][x] - m2 * m2 + eps, c01 = s * box[k01][x] - m0 * m1;
    const double c02 = s * box[k02][x] - m0 * m2, c12 = s * box[k12][x] - m1 * m2;
    const double j00 = c11 * c22 - c12 * c12, j01 = c02 * c12 - c01 * c22, j02 = c01 * c12 - c02 * c11;
    const double j11 = c00 * c22 - c02 * c02, j12 = c01 * c02 - c00 * c12, j22 = c00 * c11 - c01 * c01;
    const double inverse = 1 / (c00 * j00 + c01 * j01 + c02 * j02);
    const double a0 = inverse * (j00 * p0 + j01 * p1 + j02 * p2);
    const double a1 = inverse * (j01 * p0 + j11 * p1 + j12 * p2);
    const double a2 = inverse * (j02 * p0 + j12 * p1 + j22 * p2);
    fit[kA0][x] = a0;
    fit[kA1][x] = a1;
    fit[kA2][x] = a2;
    fit[kB][x] = p - (a0 * m0 + a1 * m1 + a2 * m2);
    fit[kCount][x] = any ? 1.0 : 0.0;
  }
}

DUALPIX_CLONES void add_fits(Rows<double> fit, double sign, Rows<double> down, int n) {
  for (int k = 0; k < kFitParts; ++k)
#pragma GCC ivdep
    for (int x = 0; x < n; ++x) down[k][x] += sign * fit[k][x];
}

// out = mean(a) . I + mean(b) over the windows that contain the pixel
DUALPIX_CLONES void apply(Rows<const double> sum, const float* const colours[3], float* out, int n) {
  const float* I[] = {colours[0], colours[1], colours[2]};
#pragma GCC ivdep
  for (int x = 0; x < n; ++x) {
    const double total = sum[kA0][x] * I[0][x] + sum[kA1][x] * I[1][x] + sum[kA2][x] * I[2][x] + sum[kB][x];
    out[x] = sum[kCount][x] > 0 ? (float)(total / sum[kCount][x]) : std::numeric_limits<float>::quiet_NaN();
  }
}

// ---- one tile: a fit is `radius` rows behind the data, a result `radius` rows behind the fits --------

class Tile {
 public:
  Tile(const Measured& in, float* out, int radius, float eps, int side)
      : in_(in), out_(out), r_(radius), size_(2 * radius + 1), eps_(eps), side_(side), zeros_(in.w), ones_(in.w, 1.0f),
        moments_(side + 4 * radius, radius), fits_(side + 2 * radius, radius),
        ring_((size_t)size_ * kFitParts * (side + 2 * radius)) {}

  void filter(int x0, int y0) {
    x0_ = x0;
    moments_.clear();
    fits_.clear();
    const int y1 = std::min(in_.h, y0 + side_);
    for (int y = y0 - 2 * r_; y < y1 + 2 * r_; ++y) {
      enter(y, 1);
      if (y - size_ >= y0 - 2 * r_) enter(y - size_, -1);
      const int fitted = y - r_, done = fitted - r_;
      if (fitted >= y0 - r_) {
        if (fitted - size_ >= y0 - r_) average(fitted - size_, -1);
        fit(fitted);
        average(fitted, 1);
      }
      if (done >= y0) finish(done);
    }
  }

 private:
  bool inside(int y) const { return y >= 0 && y < in_.h; }

  // The pixels of row y from x0 - margin to the end of the tile + margin that lie inside the image. `first` receives
  // the position of the first of them.
  Pixels pixels(int y, int margin, int* first) const {
    const int begin = std::max(0, x0_ - margin), end = std::min(in_.w, x0_ + side_ + margin);
    const size_t at = (size_t)y * in_.w + begin;
    *first = begin - (x0_ - margin);
    Pixels p = {in_.d + at, in_.confidence ? in_.confidence + at : ones_.data(), {}, end - begin};
    for (int k = 0; k < 3; ++k) p.I[k] = k < in_.planes ? in_.guide + k * in_.size() + at : zeros_.data();
    return p;
  }

  void enter(int y, float sign) {
    if (!inside(y)) return;
    int first;
    const Pixels row = pixels(y, 2 * r_, &first);
    add_moments(row, sign, moments_.down(first));
  }

  Rows<double> fits(int y, int first) {
    const size_t stride = side_ + 2 * r_;
    return {&ring_[(size_t)((y + size_) % size_) * kFitParts * stride] + first, stride};
  }

  void fit(int y) {
    if (!inside(y)) return;
    moments_.across();
    int first;
    const int n = pixels(y, r_, &first).n;
    solve(moments_.box(first), eps_, fits(y, first), n);
  }

  void average(int y, double sign) {
    if (!inside(y)) return;
    int first;
    const int n = pixels(y, r_, &first).n;
    add_fits(fits(y, first), sign, fits_.down(first), n);
  }

  void finish(int y) {
    fits_.across();
    int first;
    const Pixels row = pixels(y, 0, &first);
    apply(fits_.box(0), row.I, out_ + (size_t)y * in_.w + x0_, row.n);
  }

  const Measured& in_;
  float* out_;
  int r_, size_;
  double eps_;
  int side_, x0_ = 0;
  std::vector<float> zeros_, ones_;
  Sums<kMoments> moments_;
  Sums<kFitParts> fits_;
  std::vector<double> ring_;
};

}  // namespace

void guided_filter(const Measured& in, float* out, int radius, float eps, int threads) {
  const int longest = std::max(in.h, in.w);
  radius = std::min(radius, std::max(longest - 1, 1));  // a wider window is cut to the same
  const int side = std::min(std::max(kTile, 8 * radius), longest);
  const int rows = (in.h + side - 1) / side, columns = (in.w + side - 1) / side;
  parallel_for(rows * columns, threads, [&] { return Tile(in, out, radius, eps, side); }, [&](int i, Tile& tile) {
    tile.filter(i % columns * side, i / columns * side);
  });
}

}  // namespace dualpix
