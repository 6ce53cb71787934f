#include "encc.h"

#include <algorithm>

#include "simd.h"

namespace dualpix {

// L, Y, Z are the zero-mean windows of the left image around x, of the right one around x - d, and of the right one
// beside that; E = L - Y, D = Z - Y. The window between is Y + s D, and corr(L, Y + s D) peaks at
//
//     s = (p e - q c) / ((e^2 - c g) + (q e - p g)),   p = <E, Y>  q = <E, D>  c = <Y, Y>  e = <Y, D>  g = <D, D>
//
// the published t, written in small differences so that nothing cancels in float32. They follow from distances:
//
//     q = (|E|^2 + |D|^2 - |L - Z|^2) / 2      e = (|Z|^2 - |Y|^2 - |D|^2) / 2      p = (|L|^2 - |Y|^2 - |E|^2) / 2
//
// Both neighbours Z are tried; the better one explains more of E: (p^2 g - 2 p q e + q^2 c) / (c g - e^2).

namespace {

// Mean square of a window, on a 0..255 scale, below which there is only noise and rounding to correlate.
constexpr float kTextureless = 0.5f;

// out(x) = in(x) + ... + in(x + n - 1) for x in [0, count): sums of 1, 2, 4 ... terms. `in` is used up.
DUALPIX_CLONES void sum_along_row(float* in, float* out, int count, int length, int n) {
  std::fill(out, out + count, 0.0f);
  for (int bit = 1, at = 0; bit <= n; bit *= 2) {
    if (n & bit) {
      for (int x = 0; x < count; ++x) out[x] += in[x + at];
      at += bit;
    }
    if (2 * bit <= n)
      for (int x = 0; x + bit < length; ++x) in[x] += in[x + bit];
  }
}

DUALPIX_CLONES void add_rows(const float* a, const float* b, float* out, int count) {
  for (int x = 0; x < count; ++x) out[x] = a[x] + b[x];
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
  return {std::min(std::max(s, -1.0f), 1.0f), (p * p * g - 2 * p * q * e + q * q * c) / determinant};
}

}  // namespace

Encc::Encc(int n, int rows, int columns, int first, int count)
    : n_(n), rows_(rows), columns_(columns), first_(first), count_(count) {
  const int reach = columns + count + 1;  // of the right windows: x - d and one beside it, for every d
  resize(left_, columns + n);
  resize(left_sum_, columns + n);
  resize(left_square_, columns + n);
  for (Plane* plane : {&right_, &sum_, &square_, &step_, &step_square_}) resize(*plane, reach + n + 1);
  resize(distance_, columns + n);
  resize(scratch_, reach + n + 1);
}

void Encc::resize(Plane& plane, int width) {
  plane.stride = width;
  plane.data.assign((size_t)width * (rows_ + n_), 0.0f);
}

// In place: every pixel becomes the sum of the n x n pixels right of and below it. `width` sums a row.
void Encc::box(Plane& plane, int width) {
  const int height = tile_.y1 - tile_.y0 + n_ - 1;
  for (int y = 0; y < height; ++y) {
    sum_along_row(plane.row(y), scratch_.row(0), width, width + n_ - 1, n_);
    std::copy_n(scratch_.row(0), width, plane.row(y));
  }
  // The same down the columns, whole rows at a time; sums of 2^k rows replace the rows.
  const int rows = tile_.y1 - tile_.y0;
  for (int y = 0; y < rows; ++y) std::fill_n(scratch_.row(y), width, 0.0f);
  for (int bit = 1, at = 0; bit <= n_; bit *= 2) {
    if (n_ & bit) {
      for (int y = 0; y < rows; ++y) add_rows(scratch_.row(y), plane.row(y + at), scratch_.row(y), width);
      at += bit;
    }
    if (2 * bit <= n_)
      for (int y = 0; y + bit < height; ++y) add_rows(plane.row(y), plane.row(y + bit), plane.row(y), width);
  }
  for (int y = 0; y < rows; ++y) std::copy_n(scratch_.row(y), width, plane.row(y));
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
    const size_t row = (size_t)clamp(tile.y0 - half + y, h) * w;
    for (int i = 0; i < columns + n_ - 1; ++i) {
      const float value = left[row + clamp(tile.x0 - half + i, w)] - mean;
      left_.row(y)[i] = left_sum_.row(y)[i] = value;
      left_square_.row(y)[i] = value * value;
    }
    for (int i = 0; i < reach + n_; ++i) right_.row(y)[i] = right[row + clamp(origin + i, w)] - mean;
    const float* r = right_.row(y);
    for (int i = 0; i < reach + n_ - 1; ++i) {
      const float before = i ? r[i - 1] : right[row + clamp(origin - 1, w)] - mean, step = before - r[i];
      sum_.row(y)[i] = r[i];
      square_.row(y)[i] = r[i] * r[i];
      step_.row(y)[i] = step;
      step_square_.row(y)[i] = step * step;
    }
  }
  box(left_sum_, columns);
  box(left_square_, columns);
  for (Plane* plane : {&sum_, &square_, &step_, &step_square_}) box(*plane, reach);
}

void Encc::measure(int d) {
  const int columns = tile_.x1 - tile_.x0, shift = first_ + count_ - d;
  for (int y = 0; y < tile_.y1 - tile_.y0 + n_ - 1; ++y)
    square_difference(left_.row(y), right_.row(y) + shift, distance_.row(y), columns + n_ - 1);
  box(distance_, columns);
  const float inverse = 1.0f / (n_ * n_);
  for (int y = 0; y < tile_.y1 - tile_.y0; ++y)
    centre(distance_.row(y), left_sum_.row(y), sum_.row(y) + shift, columns, inverse);
}

bool Encc::peak(int x, int y, int d, float before, float at, float after, float* offset) const {
  const float inverse = 1.0f / (n_ * n_);
  const int i = x + first_ + count_ - d;
  auto norm = [&](const Plane& square, const Plane& sum, int k) {
    return square.row(y)[k] - sum.row(y)[k] * sum.row(y)[k] * inverse;
  };
  *offset = 0;
  const float c = norm(square_, sum_, i);
  if (!(c > kTextureless * n_ * n_)) return false;
  const float p = 0.5f * (norm(left_square_, left_sum_, x) - c - at);
  // towards d + 1 the right window moves to x - d - 1; towards d - 1 the step is that of the next column, reversed
  const float g_up = norm(step_square_, step_, i), g_down = norm(step_square_, step_, i + 1);
  const float e_up = 0.5f * (norm(square_, sum_, i - 1) - c - g_up);
  const float e_down = 0.5f * (norm(square_, sum_, i + 1) - c - g_down);
  const Peak up = between(p, 0.5f * (at + g_up - after), c, e_up, g_up);
  const Peak down = between(p, 0.5f * (at + g_down - before), c, e_down, g_down);
  *offset = up.explained >= down.explained ? up.s : -down.s;
  return true;
}

}  // namespace dualpix
