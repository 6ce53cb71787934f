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

// Rows are summed in whole vectors, which may be read and written beyond the end of a row.
constexpr int kSpare = kWide;

// The length of rows of n values, a multiple of a vector.
int whole(int n) { return (n + kSpare + kWide - 1) / kWide * kWide; }

// out = a + b, in whole vectors; out may be a.
DUALPIX_INLINE void add(const float* a, const float* b, float* out, int count) {
  for (int x = 0; x < count; x += kWide) store_as(out + x, load_as<vwide>(a + x) + load_as<vwide>(b + x));
}

// out(x) = row(x) + ... + row(x + n - 1) for `width` values, from sums of 1, 2, 4 ... terms. a, b are scratch.
DUALPIX_INLINE void sum_along_row(const float* row, int width, int n, float* a, float* b, float* out) {
  const int length = width + n - 1;
  const float *from = row, *one = row;  // n is odd: the row itself is the sum of one term
  int at = 1;
  for (int bit = 2; bit <= n; bit *= 2) {
    add(from, from + bit / 2, a, length - bit + 1);
    from = a;
    std::swap(a, b);
    if (!(n & bit)) continue;
    add(one, from + at, out, width);
    one = out;
    at += bit;
  }
}

// out = the sums over n x n pixels to the right of and below every pixel of the rows that fill(y, row) writes, height x
// width of them. The rows stay in the first-level cache: sums of 2, 4, 8 ... rows are kept for as long as they are used.
template <class Fill>
DUALPIX_INLINE void box(BoxScratch& s, float* out, int stride, int width, int height, const Fill& fill) {
  const int n = s.n;
  for (int y = 0; y < height + n - 1; ++y) {
    fill(y, s.row.data());
    sum_along_row(s.row.data(), width, n, s.a.data(), s.b.data(), s.back(0, y, 0));
    for (int k = 1; k < s.levels(); ++k)
      add(s.back(k - 1, y, 1 << (k - 1)), s.back(k - 1, y, 0), s.back(k, y, 0), width);
    if (y < n - 1) continue;
    // n is odd: the first of its rows, and the sums of 2^k rows for each further bit of n
    float* sums = out + (size_t)(y - n + 1) * stride;
    const float* from = s.back(0, y, n - 1);
    for (int k = 1, at = 1; k < s.levels(); ++k)
      if (n >> k & 1) {
        add(from, s.back(k, y, n - (1 << k) - at), sums, width);
        from = sums;
        at += 1 << k;
      }
  }
}

DUALPIX_CLONES void box_sums(BoxScratch& s, const float* a, float* out, int stride, int width, int height) {
  box(s, out, stride, width, height, [&](int y, float* row) __attribute__((always_inline)) {
    const float* from = a + (size_t)y * stride;
    for (int x = 0; x < width + s.n - 1; x += kWide) store_as(row + x, load_as<vwide>(from + x));
  });
}

DUALPIX_CLONES void box_squares(BoxScratch& s, const float* a, float* out, int stride, int width, int height) {
  box(s, out, stride, width, height, [&](int y, float* row) __attribute__((always_inline)) {
    const float* from = a + (size_t)y * stride;
    for (int x = 0; x < width + s.n - 1; x += kWide) {
      const vwide v = load_as<vwide>(from + x);
      store_as(row + x, v * v);
    }
  });
}

// Of (a - b)^2.
DUALPIX_CLONES void box_distances(BoxScratch& s, const float* a, const float* b, float* out, int stride, int width,
                                  int height) {
  box(s, out, stride, width, height, [&](int y, float* row) __attribute__((always_inline)) {
    const float *p = a + (size_t)y * stride, *q = b + (size_t)y * stride;
    for (int x = 0; x < width + s.n - 1; x += kWide) {
      const vwide v = load_as<vwide>(p + x) - load_as<vwide>(q + x);
      store_as(row + x, v * v);
    }
  });
}

// out(i) = row(from + i) - mean, for `count` pixels of a row of w. The row is padded with its outermost pixels.
DUALPIX_CLONES void copy_row(const float* row, int w, int from, int count, float mean, float* out) {
  const int inside0 = std::min(std::max(-from, 0), count), inside1 = std::max(std::min(w - from, count), inside0);
  for (int i = 0; i < inside0; ++i) out[i] = row[0] - mean;
  for (int i = inside0; i < inside1; ++i) out[i] = row[from + i] - mean;
  for (int i = inside1; i < count; ++i) out[i] = row[w - 1] - mean;
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

// The same for v = R(x - 1) - R(x), whose sum is the difference of two sums of R.
DUALPIX_CLONES void subtract_mean_step(float* square, const float* sum, int count, float inverse) {
  for (int x = 0; x < count; ++x) square[x] -= (sum[x - 1] - sum[x]) * (sum[x - 1] - sum[x]) * inverse;
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
    // Most neighbours have the same disparity.
    const int same = x - (int)index[x];
    if (n == kLanes && !any(load(index + x) != splat(index[x]))) {
      c = load(norms.right + same), c_up = load(norms.right + same - 1), c_down = load(norms.right + same + 1);
      g_up = load(norms.step + same), g_down = load(norms.step + same + 1);
    } else {
      for (int k = 0; k < n; ++k) {
        const int i = x + k - (int)index[x + k];
        c[k] = norms.right[i], c_up[k] = norms.right[i - 1], c_down[k] = norms.right[i + 1];
        g_up[k] = norms.step[i], g_down[k] = norms.step[i + 1];
      }
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

BoxScratch::BoxScratch(int n, int width)
    : n(n), row(whole(width)), a(whole(width)), b(whole(width)), width_(whole(width)) {
  for (int k = 0, at = 1; 1 << k <= n; ++k) {
    // A sum is used again for the next level, and for the window if n has this bit.
    const int next = 2 << k <= n ? 1 << k : 0, used = k == 0 ? n - 1 : n >> k & 1 ? n - (1 << k) - at : 0;
    lengths_.push_back(1);
    while (lengths_.back() <= std::max(next, used)) lengths_.back() *= 2;
    if (k > 0 && n >> k & 1) at += 1 << k;
    rings_.emplace_back((size_t)lengths_.back() * width_);
  }
}

// The right windows need most columns: x - d for every d, and one beside it on both sides.
Encc::Encc(int n, int rows, int columns, int most) : n_(n), stride_(whole(columns + most + n + 3)), scratch_(n, stride_) {
  for (Plane* plane : {&left_, &left_sum_, &left_norm_, &right_, &sum_, &norm_, &step_norm_, &distance_})
    plane->assign((size_t)stride_ * (rows + n), 0.0f);
}

void Encc::start(const float* left, const float* right, int h, int w, const Extent& tile, int first, int count) {
  tile_ = tile, first_ = first, count_ = count;
  const int half = n_ / 2, columns = tile.x1 - tile.x0, height = tile.y1 - tile.y0;
  double total = 0;
  for (int y = tile.y0; y < tile.y1; ++y)
    for (int x = tile.x0; x < tile.x1; ++x) total += left[(size_t)y * w + x];
  const float mean = (float)(total / ((double)columns * height));

  // Column i of the right planes is image column origin + i. A window begins half a window to the left of its pixel.
  const int origin = tile.x0 - half - (first_ + count_) - 1, reach = columns + count_ + 2;
  for (int y = 0; y < height + n_ - 1; ++y) {
    const size_t begin = (size_t)std::min(std::max(tile.y0 - half + y, 0), h - 1) * w;
    copy_row(left + begin, w, tile.x0 - half, columns + n_ - 1, mean, row(left_, y));
    copy_row(right + begin, w, origin, reach + n_ - 1, mean, row(right_, y));
  }
  box_sums(scratch_, left_.data(), left_sum_.data(), stride_, columns, height);
  box_squares(scratch_, left_.data(), left_norm_.data(), stride_, columns, height);
  box_sums(scratch_, right_.data(), sum_.data(), stride_, reach, height);
  box_squares(scratch_, right_.data(), norm_.data(), stride_, reach, height);
  box_distances(scratch_, right_.data(), right_.data() + 1, step_norm_.data() + 1, stride_, reach - 1, height);
  const float inverse = 1.0f / (n_ * n_);
  for (int y = 0; y < height; ++y) {
    subtract_mean(row(left_norm_, y), row(left_sum_, y), columns, inverse);
    subtract_mean(row(norm_, y), row(sum_, y), reach, inverse);
    subtract_mean_step(row(step_norm_, y) + 1, row(sum_, y) + 1, reach - 1, inverse);
  }
}

void Encc::measure(int d) {
  const int columns = tile_.x1 - tile_.x0, height = tile_.y1 - tile_.y0, shift = first_ + count_ + 1 - d;
  box_distances(scratch_, left_.data(), right_.data() + shift, distance_.data(), stride_, columns, height);
  const float inverse = 1.0f / (n_ * n_);
  for (int y = 0; y < height; ++y)
    centre(row(distance_, y), row(left_sum_, y), row(sum_, y) + shift, columns, inverse);
}

void Encc::peaks(int y, int count, const float* index, const float* before, const float* at, const float* after,
                 float* offset) const {
  const Norms norms = {row(left_norm_, y), row(norm_, y) + count_ + 1, row(step_norm_, y) + count_ + 1};
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
