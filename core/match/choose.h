// One of several candidates a pixel, chosen along the paths of the image: semi-global matching among a few.
#pragma once

namespace dualpix {

struct Choice {
  int kept;          // candidates a pixel, up to kMostKept of candidates.h
  float step, jump;  // P1, cost of a step of 1 px between neighbours, growing as its square; P2, the most a step costs
  float edge_sigma;  // of the weight of P2, exp(-(I_p - I_q)^2 / sigma^2)
};

// Candidate k of pixel p gets, from each of eight directions, q being the pixel before p,
//
//     L_p(k) = c_p(k) + min(min_j L_q(j) + P1 (d_p(k) - d_q(j))^2, min_j L_q(j) + P2 w) - min_j L_q(j)
//
// and the one with the lowest sum S is chosen. disparity and curvature become its own; the curvature is multiplied by
// clip((S_2 - S_1) / (2 P2), 0.01, 1)^2, S_2 being the sum of the next best. All three are maps of kept x h x w, of
// which the first gets the result.
void choose(float* cost, float* disparity, float* curvature, const float* guide, int h, int w, const Choice& options,
            int threads);

}  // namespace dualpix
