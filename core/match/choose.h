// Chooses one of a few candidates for every pixel by semi-global matching.
#pragma once

namespace dualpix {

struct Choice {
  int kept;          // candidates of a pixel, at most kMostKept of candidates.h
  float step, jump;  // P1: cost of a step of 1 px between neighbours, growing with its square; P2: largest cost
  float edge_sigma;  // sigma of the weight of P2, w = exp(-(I_p - I_q)^2 / sigma^2)
};

// On each of eight paths, with q the pixel before p, candidate k of pixel p costs
//
//     L_p(k) = c_p(k) + min(min_j L_q(j) + P1 (d_p(k) - d_q(j))^2, min_j L_q(j) + P2 w) - min_j L_q(j)
//
// The candidate with the lowest sum S_1 of L over the paths is chosen. cost, disparity, curvature and chosen are kept
// maps of h x w each. The chosen disparity goes to the first map of chosen, which holds the sums before, and its
// curvature to the first map of curvature. The curvature is multiplied by clip((S_2 - S_1) / (2 P2), 0.01, 1)^2, where
// S_2 is the sum of the second best.
void choose(const float* cost, const float* disparity, float* curvature, const float* guide, float* chosen, int h,
            int w, const Choice& options, int threads);

}  // namespace dualpix
