#include "encc.h"

#include <algorithm>
#include <cmath>

#include "parallel.h"
#include "simd.h"

namespace dualpix {

// L, Y, Z are the zero-mean windows of the left image around x, of the right one around x - d, and of the right one
// beside that; E = L - Y, D = Z - Y. The window between is Y + s D, and corr(L, Y + s D) peaks at
//
//     s = (p e - q c) / ((e^2 - c g) + (q e - p g)),   p = <E, Y>  q = <E, D>  c = <Y, Y>  e = <Y, D>  g = <D, D>
//
// the published t, written in small differences so that little cancels in float32. They follow from distances:
//
//     q = (|E|^2 + |D|^2 - |L - Z|^2) / 2      e = (|Z|^2 - |Y|^2 - |D|^2) / 2      p = (|L|^2 - |Y|^2 - |E|^2) / 2
//
// Both neighbours Z are tried; the better one explains more of E: (p^2 g - 2 p q e + q^2 c) / (c g - e^2).

namespace {

// Mean square of a window, on a 0..255 scale, below which there is only noise and rounding to correlate.
constexpr float kTextureless = 0.5f;

DUALPIX_INLINE void add_to(float* __restrict sum, const float* __restrict a, int count) {
  for (int x = 0; x < count; ++x) sum[x] += a[x];
}

// row(x) becomes row(x) + ... + row(x + n - 1), `width` of them, by sums of 1, 2, 4 ... terms; a and b are scratch.
DUALPIX_INLINE void sum_along_row(float* row, int width, int n, float* a, float* b) {
  const int length = width + n - 1;
  std::copy_n(row, length, a);
  int at = 1;  // n is odd: the row itself is the sum of one term
  for (int bit = 2; bit <= n; bit *= 2) {
    const float* __restrict from = a;
    float* __restrict to = b;
    for (int x = 0; x + bit <= length; ++x) to[x] = from[x] + from[x + bit / 2];
    std::swap(a, b);
    if (n & bit) {
      add_to(row, a + at, width);
      at += bit;
    }
  }
}

// out = the sums of n x n pixels right of and below every pixel of `rows`, height x width of them; `rows` is used up.
DUALPIX_CLONES void box(float* rows, float* out, int stride, int width, int height, int n, float* a, float* b) {
  auto row = [&](int y) { return rows + (size_t)y * stride; };
  for (int y = 0; y < height + n - 1; ++y) sum_along_row(row(y), width, n, a, b);
  for (int y = 0; y < height; ++y) std::copy_n(row(y), width, out + (size_t)y * stride);
  int at = 1;
  for (int bit = 2; bit <= n; bit *= 2) {
    for (int y = 0; y + bit <= height + n - 1; ++y) add_to(row(y), row(y + bit / 2), width);
    if (n & bit) {
      for (int y = 0; y < height; ++y) add_to(out + (size_t)y * stride, row(y + at), width);
      at += bit;
    }
  }
}

DUALPIX_CLONES void square_difference(const float* a, const float* b, float* out, int count) {
  for (int x = 0; x < count; ++x) out[x] = (a[x] - b[x]) * (a[x] - b[x]);
}

// |E|^2 less the share of the mean: sum e^2 - (sum e)^2 / n^2
DUALPIX_CLONES void centre(float* distance, const float* left_sum, const float* right_sum, int count, float inverse) {
  for (int x = 0; x < count; ++x) {
    const float sum = left_sum[x] - right_sum[x];
    const float rest = distance[x] - sum * sum * inverse;
    distance[x] = rest > 0 ? rest : 0.0f;
  }
}

struct Peak {
  float s, explained;
};

Peak between(float p, float q, float c, float e, float g) {
  const float determinant = c * g - e * e, denominator = (q * e - p * g) - determinant;
  if (!(determinant > 1e-6f * c * g) || !(denominator < 0)) return {0.0f, p * p / c};
  const float s = (p * e - q * c) / denominator;
  if (std::fabs(s) <= 1) return {s, (p * p * g - 2 * p * q * e + q * q * c) / determinant};
  // Beyond the neighbour the interpolation means nothing: Z itself, or its mirror image, with W = Y +- D:
  // what it explains is <L, W>^2 / |W|^2 - |Y|^2 - 2 p, the constant that the other peaks leave out.
  const float end = s < 0 ? -1.0f : 1.0f, LW = (c + p) + end * (e + q);
  return {end, LW * LW / (c + 2 * end * e + g) - c - 2 * p};
}

}  // namespace

Encc::Encc(int n, int rows, int columns, int first, int count)
    : n_(n),
      first_(first),
      count_(count),
      stride_(columns + count + n + 2),  // the right windows reach furthest: x - d for every d, and one beside it
      row_a_(stride_),
      row_b_(stride_) {
  for (Plane* plane : {&left_, &left_sum_, &left_square_, &right_, &sum_, &square_, &step_, &step_square_, &distance_,
                       &scratch_})
    plane->assign((size_t)stride_ * (rows + n), 0.0f);
}

void Encc::sum_windows(Plane& plane, int width) {
  box(plane.data(), scratch_.data(), stride_, width, tile_.y1 - tile_.y0, n_, row_a_.data(), row_b_.data());
  std::swap(plane, scratch_);
}

void Encc::start(const float* left, const float* right, int h, int w, const Extent& tile) {
  tile_ = tile;
  const int half = n_ / 2, columns = tile.x1 - tile.x0, height = tile.y1 - tile.y0 + n_ - 1;
  double total = 0;
  for (int y = tile.y0; y < tile.y1; ++y)
    for (int x = tile.x0; x < tile.x1; ++x) total += left[(size_t)y * w + x];
  const float mean = (float)(total / ((double)columns * (tile.y1 - tile.y0)));

  // Column i of the right planes is image column origin + i; windows begin half a window left of their pixel.
  const int origin = tile.x0 - half - (first_ + count_), reach = columns + count_ + 1;
  auto clamp = [](int i, int size) { return std::min(std::max(i, 0), size - 1); };
  for (int y = 0; y < height; ++y) {
    const size_t begin = (size_t)clamp(tile.y0 - half + y, h) * w;
    for (int i = 0; i < columns + n_ - 1; ++i) {
      const float value = left[begin + clamp(tile.x0 - half + i, w)] - mean;
      row(left_, y)[i] = row(left_sum_, y)[i] = value;
      row(left_square_, y)[i] = value * value;
    }
    for (int i = 0; i < reach + n_; ++i) row(right_, y)[i] = right[begin + clamp(origin + i, w)] - mean;
    const float* r = row(right_, y);
    for (int i = 0; i < reach + n_ - 1; ++i) {
      const float before = i ? r[i - 1] : right[begin + clamp(origin - 1, w)] - mean, step = before - r[i];
      row(sum_, y)[i] = r[i];
      row(square_, y)[i] = r[i] * r[i];
      row(step_, y)[i] = step;
      row(step_square_, y)[i] = step * step;
    }
  }
  sum_windows(left_sum_, columns);
  sum_windows(left_square_, columns);
  for (Plane* plane : {&sum_, &square_, &step_, &step_square_}) sum_windows(*plane, reach);
}

void Encc::measure(int d) {
  const int columns = tile_.x1 - tile_.x0, shift = first_ + count_ - d;
  for (int y = 0; y < tile_.y1 - tile_.y0 + n_ - 1; ++y)
    square_difference(row(left_, y), row(right_, y) + shift, row(distance_, y), columns + n_ - 1);
  sum_windows(distance_, columns);
  const float inverse = 1.0f / (n_ * n_);
  for (int y = 0; y < tile_.y1 - tile_.y0; ++y)
    centre(row(distance_, y), row(left_sum_, y), row(sum_, y) + shift, columns, inverse);
}

bool Encc::peak(int x, int y, int d, float before, float at, float after, float* offset) const {
  const float inverse = 1.0f / (n_ * n_);
  const int i = x + first_ + count_ - d;
  auto norm = [&](const Plane& square, const Plane& sum, int k) {
    return row(square, y)[k] - row(sum, y)[k] * row(sum, y)[k] * inverse;
  };
  *offset = 0;
  const float c = norm(square_, sum_, i), own = norm(left_square_, left_sum_, x);
  if (!(std::min(c, own) > kTextureless * n_ * n_)) return false;
  const float p = 0.5f * (own - c - at);
  // towards d + 1 the right window moves to x - d - 1; towards d - 1 the step is that of the next column, reversed
  const float g_up = norm(step_square_, step_, i), g_down = norm(step_square_, step_, i + 1);
  const float e_up = 0.5f * (norm(square_, sum_, i - 1) - c - g_up);
  const float e_down = 0.5f * (norm(square_, sum_, i + 1) - c - g_down);
  const Peak up = between(p, 0.5f * (at + g_up - after), c, e_up, g_up);
  const Peak down = between(p, 0.5f * (at + g_down - before), c, e_down, g_down);
  *offset = up.explained >= down.explained ? up.s : -down.s;
  return true;
}

namespace {

// Sums over one window: of L, of Y and of its neighbours Z towards d + 1 and d - 1, and of their products.
struct WindowSums {
  double L = 0, Y = 0, up = 0, down = 0, LL = 0, YY = 0, LY = 0, L_up = 0, L_down = 0, Y_up = 0, Y_down = 0, up_up = 0,
         down_down = 0;
};

WindowSums sum_window(const float* left, const float* right, int x, int y, int d, int h, int w, int n) {
  WindowSums s;
  auto clamp = [](int i, int size) { return std::min(std::max(i, 0), size - 1); };
  for (int row = y - n / 2; row <= y + n / 2; ++row) {
    const size_t begin = (size_t)clamp(row, h) * w;
    for (int i = x - n / 2; i <= x + n / 2; ++i) {
      const double L = left[begin + clamp(i, w)], Y = right[begin + clamp(i - d, w)];
      const double up = right[begin + clamp(i - d - 1, w)], down = right[begin + clamp(i - d + 1, w)];
      s.L += L, s.Y += Y, s.up += up, s.down += down;
      s.LL += L * L, s.YY += Y * Y, s.up_up += up * up, s.down_down += down * down;
      s.LY += L * Y, s.L_up += L * up, s.L_down += L * down, s.Y_up += Y * up, s.Y_down += Y * down;
    }
  }
  return s;
}

bool peak_at(const WindowSums& s, int n, float* offset) {
  const double inverse = 1.0 / (n * n);
  const double c = s.YY - s.Y * s.Y * inverse, own = s.LL - s.L * s.L * inverse, LY = s.LY - s.L * s.Y * inverse;
  *offset = 0;
  if (!(std::min(c, own) > kTextureless * n * n)) return false;
  auto towards = [&](double Z, double ZZ, double LZ, double YZ) {
    const double e = YZ - s.Y * Z * inverse - c, g = (ZZ - Z * Z * inverse) - c - 2 * e;
    const double q = (LZ - s.L * Z * inverse) - LY - e;
    return between((float)(LY - c), (float)q, (float)c, (float)e, (float)g);
  };
  const Peak up = towards(s.up, s.up_up, s.L_up, s.Y_up), down = towards(s.down, s.down_down, s.L_down, s.Y_down);
  *offset = up.explained >= down.explained ? up.s : -down.s;
  return true;
}

}  // namespace

void refine(const float* left, const float* right, float* d, unsigned char* textured, int h, int w, int n,
            int threads) {
  parallel_for(h, threads, [] { return 0; }, [&](int y, int) {
    for (int x = 0; x < w; ++x) {
      const size_t p = (size_t)y * w + x;
      float offset;
      textured[p] = peak_at(sum_window(left, right, x, y, (int)std::lrint(d[p]), h, w, n), n, &offset);
      d[p] += offset;
    }
  });
}

}  // namespace dualpix
