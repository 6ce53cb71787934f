// Continuous cost aggregation: parabola coefficients carried along straight image paths.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dualpix {

// w = exp(-(I_p - I_q)^2 / sigma^2) of every pixel p of the guide and pixels q before it, rounded to 10 bits of the
// mantissa, and 0 below 2^-62; where there is no q it means nothing. To every row of the image belong `edges` rows of
// weights: q is the pixel before p in its row, in its column, and with 4 of them the one before it in the row above and
// the one after. An integer of 16 bits holds 6 of the exponent, 63 for 2^0, and those 10.
void edge_weights(const float* guide, uint16_t* weights, int h, int w, float sigma, int edges, int threads);

enum class Messages { paper, exact, jumps };

struct Aggregation {
  Messages messages;
  float penalty;           // P, in units of curvature for exact messages
  int edges;               // that the weights are of: 2 for 4 paths, 4 for 8
  const float* disparity;  // of the pass before, for robust weights, or null
  float* minimizer;        // receives -B / (2 A), 0 where A is 0, unless null; may be the map of `disparity`
  float robust_tau;        // the step of that disparity from pixel to pixel at which a weight falls to 1/4
  float scale;             // what the sums are multiplied by: 1, or 1 / paths between iterations
  float jump_penalty;      // P2, instead of P from jumps of 2 px on; only for jumps
  float farthest;          // T2, px: what jumps that far is not smoothed but taken over or left alone; only for jumps
};

// A, B = scale * (the local alpha, beta + the sum over paths of the messages that arrive); with messages other than
// exact every path brings its own local term. Inputs and outputs are distinct h x w maps. Every pixel's arithmetic is
// the same whatever the thread count.
void aggregate(const float* alpha, const float* beta, const uint16_t* weights, float* A, float* B, int h, int w,
               const Aggregation& options, int threads);

// d = -B / (2 A), 0 where A is 0, of so many pixels.
void minimizer(const float* A, const float* B, float* d, size_t count, int threads);

}  // namespace dualpix
