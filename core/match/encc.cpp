#include "match/encc.h"

#include <algorithm>
#include <cmath>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {

// Zero-mean windows: L of the left image around x, Y of the right image around x - d, Z of the right image one pixel
// beside Y. With E = L - Y and D = Z - Y the interpolated window is Y + s D, and corr(L, Y + s D) is greatest at
//
//     s = (p e - q c) / ((e^2 - c g) + (q e - p g)),   p = <E, Y>  q = <E, D>  c = <Y, Y>  e = <Y, D>  g = <D, D>
//
// This is the published t, written in small differences so that little cancels in float32. They follow from distances:
//
//     q = (|E|^2 + |D|^2 - |L - Z|^2) / 2      e = (|Z|^2 - |Y|^2 - |D|^2) / 2      p = (|L|^2 - |Y|^2 - |E|^2) / 2
//
// Both neighbours Z are tried. The better one has the greater gain (p^2 g - 2 p q e + q^2 c) / (c g - e^2).

namespace {

// A window with a mean square below this, on a 0..255 scale, has no texture: only noise and rounding.
constexpr float kTextureless = 0.5f;

DUALPIX_INLINE void add_to(float* __restrict sum, const float* __restrict a, int count) {
  for (int x = 0; x < count; ++x) sum[x] += a[x];
}

// Replaces row(x) by row(x) + ... + row(x + n - 1) for `width` values, from sums of 1, 2, 4 ... terms. a, b are
// scratch.
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

// out = the sums over n x n pixels to the right of and below every pixel of `rows`, height x width of them. `rows` is
// overwritten.
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

// |E|^2 of the zero-mean window: sum e^2 - (sum e)^2 / n^2
DUALPIX_CLONES void centre(float* distance, const float* left_sum, const float* right_sum, int count, float inverse) {
  for (int x = 0; x < count; ++x) {
    const float sum = left_sum[x] - right_sum[x];
    const float rest = distance[x] - sum * sum * inverse;
    distance[x] = rest > 0 ? rest : 0.0f;
  }
}

// sum v^2 - (sum v)^2 / n^2
DUALPIX_CLONES void subtract_mean(float* square, const float* sum, int count, float inverse) {
  for (int x = 0; x < count; ++x) square[x] -= sum[x] * sum[x] * inverse;
}

template <class V>
struct Peak {
  V s, explained;
};

// The peak between Y and Z, for one pixel or a vector of pixels.
template <class V>
DUALPIX_INLINE Peak<V> between(V p, V q, V c, V e, V g) {
  const V determinant = c * g - e * e, denominator = (q * e - p * g) - determinant, zero = {};
  const V s = (p * e - q * c) / denominator;
  const auto found = (determinant > 1e-6f * c * g) & (denominator < 0), inside = (s <= 1) & (s >= -1);
  // The interpolation is not valid beyond the neighbour. There the window is W = Y + D = Z, or its mirror image Y - D,
  // with the gain <L, W>^2 / |W|^2 - |Y|^2 - 2 p; the last two terms are the constant that the formula above leaves
  // out.
  const V end = s < 0 ? zero - 1.0f : zero + 1.0f, LW = (c + p) + end * (e + q);
  const V whole = inside ? p * p * g - 2 * p * q * e + q * q * c : LW * LW;
  const V part = inside ? determinant : c + 2 * end * e + g, rest = inside ? zero : c + 2 * p;
  const V peak = inside ? s : end;
  return {found ? peak : zero, (found ? whole : p * p) / (found ? part : c) - (found ? rest : zero)};
}

// For one row: the norms of the left windows, and of the right windows and their differences D at d = first.
struct Norms {
  const float *left, *right, *step;
};

DUALPIX_CLONES void peaks_of_row(const Norms& norms, int count, const float* index, const float* before, const float* at,
                                 const float* after, float textureless, float* offset) {
  for (int x = 0; x < count; x += kLanes) {
    const int n = count - x < kLanes ? count - x : kLanes;
    vfloat c = {}, c_up = {}, c_down = {}, g_up = {}, g_down = {};
    for (int k = 0; k < n; ++k) {
      const int i = x + k - (int)index[x + k];
      c[k] = norms.right[i], c_up[k] = norms.right[i - 1], c_down[k] = norms.right[i + 1];
      g_up[k] = norms.step[i], g_down[k] = norms.step[i + 1];
    }
    const vfloat own = load(norms.left + x, n), distance = load(at + x, n);
    const vfloat p = 0.5f * (own - c - distance);
    // Towards d + 1 the right window moves to x - d - 1. Towards d - 1, D is that of the next column with opposite
    // sign.
    const vfloat e_up = 0.5f * (c_up - c - g_up), q_up = 0.5f * (distance + g_up - load(after + x, n));
    const vfloat e_down = 0.5f * (c_down - c - g_down), q_down = 0.5f * (distance + g_down - load(before + x, n));
    const Peak<vfloat> up = between(p, q_up, c, e_up, g_up), down = between(p, q_down, c, e_down, g_down);
    const vfloat best = select(up.explained >= down.explained, up.s, -down.s);
    const vint known = (c > textureless) & (own > textureless);
    store(offset + x, select(known, best, splat(__builtin_nanf(""))), n);
  }
}

}  // namespace

Encc::Encc(int n, int rows, int columns, int most)
    : n_(n),
      stride_(columns + most + n + 2),  // the right windows need most columns: x - d for every d, and one beside it
      row_a_(stride_),
      row_b_(stride_) {
  for (Plane* plane : {&left_, &left_sum_, &left_norm_, &right_, &sum_, &norm_, &step_sum_, &step_norm_, &distance_,
                       &scratch_})
    plane->assign((size_t)stride_ * (rows + n), 0.0f);
}

void Encc::sum_windows(Plane& plane, int width) {
  box(plane.data(), scratch_.data(), stride_, width, tile_.y1 - tile_.y0, n_, row_a_.data(), row_b_.data());
  std::swap(plane, scratch_);
}

void Encc::start(const float* left, const float* right, int h, int w, const Extent& tile, int first, int count) {
  tile_ = tile, first_ = first, count_ = count;
  const int half = n_ / 2, columns = tile.x1 - tile.x0, height = tile.y1 - tile.y0 + n_ - 1;
  double total = 0;
  for (int y = tile.y0; y < tile.y1; ++y)
    for (int x = tile.x0; x < tile.x1; ++x) total += left[(size_t)y * w + x];
  const float mean = (float)(total / ((double)columns * (tile.y1 - tile.y0)));

  // Column i of the right planes is image column origin + i. A window begins half a window to the left of its pixel.
  const int origin = tile.x0 - half - (first_ + count_), reach = columns + count_ + 1;
  auto clamp = [](int i, int size) { return std::min(std::max(i, 0), size - 1); };
  for (int y = 0; y < height; ++y) {
    const size_t begin = (size_t)clamp(tile.y0 - half + y, h) * w;
    for (int i = 0; i < columns + n_ - 1; ++i) {
      const float value = left[begin + clamp(tile.x0 - half + i, w)] - mean;
      row(left_, y)[i] = row(left_sum_, y)[i] = value;
      row(left_norm_, y)[i] = value * value;
    }
    for (int i = 0; i < reach + n_; ++i) row(right_, y)[i] = right[begin + clamp(origin + i, w)] - mean;
    const float* r = row(right_, y);
    for (int i = 0; i < reach + n_ - 1; ++i) {
      const float before = i ? r[i - 1] : right[begin + clamp(origin - 1, w)] - mean, step = before - r[i];
      row(sum_, y)[i] = r[i];
      row(norm_, y)[i] = r[i] * r[i];
      row(step_sum_, y)[i] = step;
      row(step_norm_, y)[i] = step * step;
    }
  }
  for (Plane* plane : {&left_sum_, &left_norm_}) sum_windows(*plane, columns);
  for (Plane* plane : {&sum_, &norm_, &step_sum_, &step_norm_}) sum_windows(*plane, reach);
  const float inverse = 1.0f / (n_ * n_);
  for (int y = 0; y < tile.y1 - tile.y0; ++y) {
    subtract_mean(row(left_norm_, y), row(left_sum_, y), columns, inverse);
    subtract_mean(row(norm_, y), row(sum_, y), reach, inverse);
    subtract_mean(row(step_norm_, y), row(step_sum_, y), reach, inverse);
  }
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

void Encc::peaks(int y, int count, const float* index, const float* before, const float* at, const float* after,
                 float* offset) const {
  const Norms norms = {row(left_norm_, y), row(norm_, y) + count_, row(step_norm_, y) + count_};
  peaks_of_row(norms, count, index, before, at, after, kTextureless * n_ * n_, offset);
}

namespace {

// Sums over one window of L, Y, its neighbours Z towards d + 1 and d - 1, and their products.
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
  const Peak<float> up = towards(s.up, s.up_up, s.L_up, s.Y_up), down = towards(s.down, s.down_down, s.L_down, s.Y_down);
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
