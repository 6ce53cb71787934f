// The local term of wide baselines: not one parabola a pixel but a few, the lowest minima of its cost.
#pragma once

#include <type_traits>

#include "match/cost.h"

namespace dualpix {

constexpr int kMostKept = 6;

// run(K) with the number kept known to the compiler.
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

enum class Minimum { whole, parabola };  // where it lies: at the disparity itself, or at the vertex between

struct Search {
  Cost cost;         // none that correlates
  int first, count;  // the integer disparities first .. first + count - 1; count >= 3
  Window window;
  Minimum minimum;
  int kept;          // up to kMostKept
};

constexpr float kNoCandidate = 1e6f;  // the cost of a candidate that a pixel does not have

// The local minima of every pixel's cost over d, the `kept` lowest of them in rising order: their cost, disparity and
// curvature, kept maps of h x w each. A pixel with fewer has candidates of no curvature and the cost kNoCandidate.
// right_winner is the disparity of the lowest cost of every pixel of the right image, NaN where no left pixel meets
// it. The first and the last disparity are neither minima nor winners. The cost volume is never stored.
struct Found {
  float *cost, *disparity, *curvature, *right_winner;
};

void find_candidates(const float* left, const float* right, const Found& found, int h, int w, const Search& options,
                     int threads);

}  // namespace dualpix
