// Bindings of core/aggregate.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "aggregate/aggregate.h"
#include "aggregate/parabolas.h"
#include "aggregate/suspects.h"
#include "aggregate/weights.h"
#include "bindings/arrays.h"

namespace {

// A, B, factor, weight, limit, as in dualpix::Prior. A limit of 0 means no limit.
using Prior = std::tuple<Map, Map, int, float, float>;

void condition(Output alpha, Output beta, Row divisor, const std::vector<Prior>& priors, float invalid_threshold,
               int threads, std::optional<OutputHalves> vertex) {
  check_size(alpha);
  same_shape(alpha, beta, "alpha and beta must have the same shape");
  require(divisor.shape(0) == alpha.shape(1), "one divisor a column");
  std::vector<dualpix::Prior> added;
  for (const auto& [A, B, factor, weight, limit] : priors) {
    require(factor == 1 || factor == 2, "the factor of a prior must be 1 or 2");
    same_shape(A, B, "A and B of a prior must have the same shape");
    const size_t h = (alpha.shape(0) + factor - 1) / factor, w = (alpha.shape(1) + factor - 1) / factor;
    require(A.shape(0) == h && A.shape(1) == w,
            factor == 1 ? "a prior of factor 1 must have the shape of alpha"
                        : "a prior of factor 2 must be half the size of alpha, rounded up");
    require(weight >= 0 && limit >= 0, "weight and limit of a prior must not be below 0");
    apart(alpha, beta, vertex, A, B);
    added.push_back({A.data(), B.data(), factor, weight, limit > 0 ? 1 / limit : 0.0f});
  }
  if (vertex) same_shape(alpha, *vertex, "vertex must have the shape of alpha");
  apart(alpha, beta, divisor, vertex);
  uint16_t* found = vertex ? vertex->data() : nullptr;
  Released release;
  dualpix::condition(alpha.data(), beta.data(), (int)alpha.shape(0), (int)alpha.shape(1), divisor.data(), added,
                     invalid_threshold, found, threads);
}

// The number of edges of a pixel, from the shape of the weights.
template <class W>
int edges_of(const W& weights, const Map& map) {
  require(weights.shape(0) == map.shape(0) && weights.shape(2) == map.shape(1),
          "weights must have the height and width of the map");
  require(weights.shape(1) == 2 || weights.shape(1) == 4, "weights must be of 2 or 4 edges");
  return (int)weights.shape(1);
}

void edge_weights(Map guide, OutputWeights weights, float sigma, int threads, std::optional<Map> spread, float flat) {
  check_size(guide);
  const int edges = edges_of(weights, guide);
  require(sigma > 1e-15f, "sigma must be above 1e-15");
  if (spread) {
    const size_t step = dualpix::kShareStep, h = (guide.shape(0) + step - 1) / step, w = (guide.shape(1) + step - 1) / step;
    require(spread->shape(0) == h && spread->shape(1) == w,
            "spread must have a quarter of the guide's height and width, rounded up");
  }
  const float* spreads = spread ? spread->data() : nullptr;
  apart(guide, weights, spread);
  Released release;
  dualpix::edge_weights(guide.data(), spreads, flat, weights.data(), (int)guide.shape(0), (int)guide.shape(1), sigma,
                        edges, threads);
}

void aggregate(Map alpha, Map beta, Weights weights, Output A, Output B, dualpix::Messages messages, float penalty,
               const std::vector<float>& taus, float scale, float jump_penalty, float farthest, int threads,
               std::optional<Output> minimizer, std::optional<Halves> vertex, float fattening, float first,
               bool begun) {
  check_size(alpha);
  same_shape(alpha, beta, "alpha and beta must have the same shape");
  const int edges = edges_of(weights, alpha);
  same_shape(alpha, A, "A must have the shape of alpha");
  same_shape(alpha, B, "B must have the shape of alpha");
  for (const float tau : taus) require(tau >= 0, "taus must not be below 0");
  require(taus.empty() || messages == dualpix::Messages::exact, "only exact messages have robust passes");
  require(taus.empty() || minimizer, "robust passes need a minimizer");
  require(!begun || !taus.empty(), "a first pass that is done must be followed by robust ones");
  require(first > 0, "first must be above 0");
  require(first == 1 || messages == dualpix::Messages::exact, "only exact messages have a weaker first pass");
  if (vertex) {
    same_shape(alpha, *vertex, "vertex must have the shape of alpha");
    require(fattening > 0, "fattening must be above 0");
  }
  const uint16_t* matched = vertex ? vertex->data() : nullptr;
  float* found = minimizer ? minimizer->data() : nullptr;
  if (minimizer) same_shape(alpha, *minimizer, "minimizer must have the shape of alpha");
  apart(alpha, beta, weights, A, B, minimizer, vertex);
  const dualpix::Aggregation options = {messages, penalty,      first,    edges,    taus,    found,     begun,
                                        scale,    jump_penalty, farthest, matched, fattening};
  Released release;
  dualpix::aggregate(alpha.data(), beta.data(), weights.data(), A.data(), B.data(), (int)alpha.shape(0),
                     (int)alpha.shape(1), options, threads);
}

void limit_suspects(Halves vertex, Map d, OutputHalves limited, float slack, int threads) {
  check_size(d);
  same_shape(d, vertex, "vertex must have the shape of d");
  same_shape(d, limited, "limited must have the shape of d");
  require(slack >= 0, "slack must not be below 0");
  apart(vertex, d, limited);
  Released release;
  dualpix::limit_suspects(vertex.data(), d.data(), limited.data(), (int)d.shape(0), (int)d.shape(1), slack, threads);
}

void minimizer(Map A, Map B, Output d, int threads) {
  same_shape(A, B, "A and B must have the same shape");
  same_shape(A, d, "d must have the shape of A");
  apart(A, B, d);
  Released release;
  dualpix::minimizer(A.data(), B.data(), d.data(), A.size(), threads);
}

}  // namespace

void bind_aggregate(nb::module_& m) {
  nb::enum_<dualpix::Messages>(m, "Messages", "What a pixel passes on along a path.")
      .value("paper", dualpix::Messages::paper)
      .value("exact", dualpix::Messages::exact)
      .value("jumps", dualpix::Messages::jumps);
  m.def("condition", condition, as_is("alpha"), as_is("beta"), as_is("divisor"), nb::kw_only(), "priors"_a,
        "invalid_threshold"_a, "threads"_a, as_is("vertex").none() = nb::none(),
        "Divide by the border's divisor, add priors (A, B, factor, weight, limit), weaken invalid pixels, in place.\n"
        "A prior of factor 1 has the shape of alpha, one of factor 2 is of the coarser scale. A limit of 0: no limit.\n"
        "vertex = that of alpha and beta as they come in, minus infinity where alpha is 0, in the bits of half floats.");
  m.def("edge_weights", edge_weights, as_is("guide"), as_is("weights"), "sigma"_a, "threads"_a,
        as_is("spread").none() = nb::none(), "flat"_a = 0.0f,
        "weights = of the edges from a pixel to its neighbours: left, above and, with 4 edges, both diagonals above.\n"
        "R^2 / (R^2 + flat^2) multiplies the squared differences of the guide; spread has one R for 4 x 4 pixels.");
  m.def("aggregate", aggregate, as_is("alpha"), as_is("beta"), as_is("weights"), as_is("A"), as_is("B"), nb::kw_only(),
        as_is("messages"), "penalty"_a, "taus"_a, "scale"_a, "jump_penalty"_a, "farthest"_a, "threads"_a,
        as_is("minimizer").none() = nb::none(), as_is("vertex").none() = nb::none(), "fattening"_a = 0.0f, "first"_a = 1.0f,
        "begun"_a = false,
        "A pass over all paths, and a robust one for each of taus; a tau of 0 is a pass that is not robust.\n"
        "A, B = scale * sum of the aggregated coefficients of the last pass, minimizer = -B / (2 A) = d.\n"
        "With vertex, in half floats, a pixel counts 1 / (1 + (max(vertex - d, 0) / fattening)^2) in a robust pass,\n"
        "with d of the pass before. Other passes leave vertex unread. The first pass has the share first of the penalty.\n"
        "If begun, minimizer comes with the result of the first pass, and only the robust passes follow.");
  m.def("limit_suspects", limit_suspects, as_is("vertex"), as_is("d"), as_is("limited"), "slack"_a, "threads"_a,
        "limited = min(vertex, max(H, d + slack)), with the highest d within 5 pixels, H. Half floats, in their bits.");
  m.def("minimizer", minimizer, as_is("A"), as_is("B"), as_is("d"), "threads"_a, "d = -B / (2 A), 0 where A is 0.");
}
