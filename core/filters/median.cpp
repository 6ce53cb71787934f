#include "filters/median.h"

#include <algorithm>
#include <limits>

#include "common/parallel.h"

namespace dualpix {

namespace {

struct Sample {
  float value, weight;
};

// Collects the samples of the window around (x, y) that have a weight above 0. Returns their number.
DUALPIX_CLONES int gather(const Measured& in, int x, int y, int radius, float minus_inverse, Sample* samples) {
  const int left = std::max(0, x - radius), right = std::min(in.w, x + radius + 1);
  const int top = std::max(0, y - radius), bottom = std::min(in.h, y + radius + 1);
  const size_t p = (size_t)y * in.w + x;
  int count = 0;
  for (int row = top; row < bottom; ++row)
    for (int column = left; column < right; column += kLanes) {
      const size_t q = (size_t)row * in.w + column;
      const int n = std::min(kLanes, right - column);
      vfloat contrast = {};
      for (int k = 0; k < in.planes; ++k) {
        const float* I = in.guide + k * in.size();
        const vfloat difference = load(I + q, n) - I[p];
        contrast += difference * difference;
      }
      const vfloat alike = exp_negative(contrast * minus_inverse);
      for (int i = 0; i < n; ++i) {
        const float w = weight(in, q + i) * alike[i];
        if (w > 0) samples[count++] = {in.d[q + i], w};
      }
    }
  return count;
}

float median_of_three(float a, float b, float c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

// Quickselect with three parts around a pivot: the search continues in the part where half the weight is reached.
float weighted_median(Sample* begin, Sample* end) {
  double half = 0, before = 0;
  for (const Sample* s = begin; s < end; ++s) half += 0.5 * s->weight;
  float pivot = std::numeric_limits<float>::quiet_NaN();
  while (begin < end) {
    pivot = median_of_three(begin->value, begin[(end - begin) / 2].value, end[-1].value);
    Sample *equal = begin, *above = end;
    double below_weight = 0, equal_weight = 0;
    for (Sample* s = begin; s < above;) {
      if (s->value < pivot) {
        below_weight += s->weight;
        std::swap(*s++, *equal++);
      } else if (s->value > pivot) {
        std::swap(*s, *--above);
      } else {
        equal_weight += s++->weight;
      }
    }
    if (before + below_weight >= half && equal > begin) {
      end = equal;
    } else if (before + below_weight + equal_weight >= half) {
      return pivot;
    } else {
      before += below_weight + equal_weight;
      begin = above;
    }
  }
  return pivot;
}

}  // namespace

void weighted_median(const Measured& in, float* out, int radius, float sigma, int threads) {
  const float minus_inverse = -0.5f / (sigma * sigma);
  const size_t most = (size_t)std::min(in.h, 2 * radius + 1) * std::min(in.w, 2 * radius + 1);
  parallel_for(in.h, threads, [&] { return std::vector<Sample>(most); }, [&](int y, std::vector<Sample>& samples) {
    for (int x = 0; x < in.w; ++x) {
      const int count = gather(in, x, y, radius, minus_inverse, samples.data());
      out[(size_t)y * in.w + x] = weighted_median(samples.data(), samples.data() + count);
    }
  });
}

}  // namespace dualpix
