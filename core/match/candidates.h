// The local term for wide baselines: for every pixel the lowest few minima of its cost, instead of one parabola.
#pragma once

#include <type_traits>

#include "match/cost.h"

namespace dualpix {

constexpr int kMostKept = 6;

// Calls run(K) with K = kept as a compile-time constant.
template <class Run>
DUALPIX_INLINE void with_kept(int kept, const Run& run) {
  switch (kept) {
    case 1: return run(std::integral_constant<int, 1>());
    case 2: return run(std::integral_constant<int, 2>());
    case 3: return run(std::integral_constant<int, 3>());
    case 4: return run(std::integral_constant<int, 4>());
    case 5: return run(std::integral_constant<int, 5>());
    default: return run(std::integral_constant<int, kMostKept>());
  }
}

enum class Minimum { whole, parabola };  // its position: the whole disparity, or the vertex of the parabola

struct Search {
  Cost cost;         // not ncc or zncc
  int first, count;  // the integer disparities first .. first + count - 1; count >= 3
  Window window;
  Minimum minimum;
  int kept;          // up to kMostKept
};

constexpr float kNoCandidate = 1e6f;  // the cost of a missing candidate

// The `kept` lowest local minima of every pixel's cost over d, lowest first: cost, disparity and curvature are kept
// maps of h x w each. A missing minimum has the curvature 0 and the cost kNoCandidate. right_winner is the disparity of
// the lowest cost of every pixel of the right image, NaN where no left pixel is compared with it. The first and the
// last disparity are neither minima nor winners. The cost volume is never stored.
struct Found {
  float *cost, *disparity, *curvature, *right_winner;
};

void find_candidates(const float* left, const float* right, const Found& found, int h, int w, const Search& options,
                     int threads);

}  // namespace dualpix
