// Continuous cost aggregation: parabola coefficients are passed along straight paths through the image (equation 4 of
// the paper), summed over the paths, and minimised (equation 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aggregate/weights.h"

namespace dualpix {

enum class Messages { paper, exact, jumps };

struct Aggregation {
  Messages messages;
  float penalty;            // P, in units of curvature for exact messages
  float first;              // share of P that the first pass has; 1 unless messages are exact
  int edges;                // edges of a pixel: 2 for 4 paths, 4 for 8 paths
  std::vector<float> taus;  // px, of the robust passes that follow the first pass; only for exact messages
  float* minimizer;         // output -B / (2 A), 0 where A is 0; null: not wanted, only without robust passes
  bool begun;               // minimizer is input, too: the result of a first pass, so that only robust ones follow
  float scale;              // factor of the sums: 1, or 1 / paths between iterations
  float jump_penalty;       // P2, instead of P for jumps of 2 px or more; only for Messages::jumps
  float farthest;           // T2, px: a jump this far is not smoothed; only for Messages::jumps
  const uint16_t* vertex;   // of the matches alone, as half floats, for the one-sided weight; null: all count in full
  float fattening;          // r, px: a match this much nearer than the last pass found counts half; only with vertex
};

// A, B = scale * (local alpha, beta + sum of the messages of all paths), of the last pass. Except for exact messages, the
// local term is added once for every path. A robust pass has weights that fall to 1/4 at steps of tau in the disparities
// of the pass before it; a pass with a tau of 0 is not robust. Inputs and outputs are distinct h x w maps of finite
// values. For exact messages a pixel with alpha of 0 or below has no evidence, whatever its beta. The result does not
// depend on the number of threads.
void aggregate(const float* alpha, const float* beta, const Weight* weights, float* A, float* B, int h, int w,
               const Aggregation& options, int threads);

// Equation 5: d = -B / (2 A), 0 where A is 0, for `count` pixels.
void minimizer(const float* A, const float* B, float* d, size_t count, int threads);

}  // namespace dualpix
