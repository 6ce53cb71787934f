// Bindings of core/match.
#include "bindings/arrays.h"
#include "common/parallel.h"
#include "match/candidates.h"
#include "match/check.h"
#include "match/choose.h"
#include "match/encc.h"
#include "match/match.h"

namespace {

void check_codes(const Map& codes, int threads) {
  std::atomic<bool> good{true};
  dualpix::parallel_pixels(codes.size(), threads, [&](size_t begin, int n) {
    const float* code = codes.data() + begin;
    bool all = true;
    for (int i = 0; i < n; ++i) all &= code[i] >= 0 && code[i] < (float)(1 << 24);
    if (!all) good = false;
  });
  require(good, "census codes must be 0 to 2^24 - 1");
}

void match(Map left, Map right, Output alpha, Output beta, int first, int count, int side, Row taps,
           dualpix::Subpixel subpixel, Row bias, int encc_window, Map encc_left, Map encc_right, float ratio_threshold,
           float noise_floor, dualpix::Cost cost, int threads, std::optional<Ranges> ranges) {
  check_pair(left, right);
  same_shape(left, encc_left, "encc_left must have the shape of left");
  same_shape(left, encc_right, "encc_right must have the shape of left");
  same_shape(left, alpha, "alpha must have the shape of left");
  same_shape(left, beta, "beta must have the shape of left");
  require(count >= 3, "at least three disparities");
  check_disparities(first, count);
  check_taps(taps);
  if (cost == dualpix::Cost::census)
    for (const Map& view : {left, right}) check_codes(view, threads);
  require(encc_window >= 3 && encc_window < 1024 && encc_window % 2 == 1, "encc_window must be odd, 3 to 1023");
  require(side == 1 || side == 2, "side must be 1 or 2");
  require(side == 1 || cost == dualpix::Cost::sad || cost == dualpix::Cost::ssd, "blocks need the cost sad or ssd");
  require(bias.shape(0) == dualpix::kBiasSteps, "bias must have 21 entries");
  if (ranges) {
    auto tiles = [](size_t side) { return (side + dualpix::kTile - 1) / dualpix::kTile; };
    require(ranges->shape(0) == tiles(left.shape(0)) && ranges->shape(1) == tiles(left.shape(1)) &&
                ranges->shape(2) == 2,
            "ranges must have first and count of every tile");
    for (const int* own = ranges->data(); own < ranges->data() + ranges->size(); own += 2)
      require(own[0] >= first && own[1] >= 3 && own[1] <= count && (int64_t)own[0] - first <= count - own[1],
              "ranges must have three disparities or more, all within the common range");
  }
  const dualpix::Matching options = {cost,
                                     first,
                                     count,
                                     ranges ? ranges->data() : nullptr,
                                     side,
                                     {taps.data(), (int)taps.shape(0) - 1},
                                     subpixel,
                                     bias.data(),
                                     encc_window,
                                     encc_left.data(),
                                     encc_right.data(),
                                     ratio_threshold,
                                     noise_floor};
  apart(left, right, alpha, beta, taps, bias, encc_left, encc_right, ranges);
  Released release;
  dualpix::match(left.data(), right.data(), alpha.data(), beta.data(), (int)left.shape(0), (int)left.shape(1), options,
                 threads);
}

void tile_extremes(Map d, int reach, Output least, Output most, int threads) {
  check_size(d);
  require(reach >= 0 && reach <= kLargest, "reach must be 0 to 2^20");
  const size_t side = dualpix::kTile / 2;
  require(least.shape(0) == (d.shape(0) + side - 1) / side && least.shape(1) == (d.shape(1) + side - 1) / side,
          "least must have a value for each tile");
  same_shape(least, most, "most must have the shape of least");
  apart(d, least, most);
  Released release;
  dualpix::tile_extremes(d.data(), (int)d.shape(0), (int)d.shape(1), reach, least.data(), most.data(), threads);
}

// The number of candidates of a pixel, from the shape of the planes.
int kept_of(const OutputPlanes& cost, const OutputPlanes& disparity, const OutputPlanes& curvature, const Map& image) {
  const size_t kept = cost.shape(0);
  for (const OutputPlanes* planes : {&cost, &disparity, &curvature}) {
    require(planes->shape(1) == image.shape(0) && planes->shape(2) == image.shape(1),
            "planes of cost, disparity and curvature must have the shape of the image");
    require(planes->shape(0) == kept, "cost, disparity and curvature must have the same number of planes");
  }
  require(kept >= 1 && kept <= (size_t)dualpix::kMostKept, "1 to 6 candidates");
  return (int)kept;
}

void find_candidates(Map left, Map right, OutputPlanes cost, OutputPlanes disparity, OutputPlanes curvature,
                     Output right_winner, int first, int count, Row taps, dualpix::Minimum minimum,
                     dualpix::Cost cost_kind, int threads) {
  check_pair(left, right);
  same_shape(left, right_winner, "right_winner must have the shape of left");
  const int kept = kept_of(cost, disparity, curvature, left);
  require(count >= 3, "at least three disparities");
  check_disparities(first, count);
  check_taps(taps);
  require(!dualpix::correlates(cost_kind), "cost_kind must be sad, ssd, bt or census");
  if (cost_kind == dualpix::Cost::census)
    for (const Map& view : {left, right}) check_codes(view, threads);
  const dualpix::Search options = {cost_kind, first, count, {taps.data(), (int)taps.shape(0) - 1}, minimum, kept};
  apart(left, right, cost, disparity, curvature, right_winner, taps);
  Released release;
  dualpix::find_candidates(left.data(), right.data(),
                           {cost.data(), disparity.data(), curvature.data(), right_winner.data()}, (int)left.shape(0),
                           (int)left.shape(1), options, threads);
}

void choose(OutputPlanes cost, OutputPlanes disparity, OutputPlanes curvature, Map guide, OutputPlanes chosen,
            float step, float jump, float edge_sigma, int threads) {
  check_size(guide);
  const int kept = kept_of(cost, disparity, curvature, guide);
  same_shape(cost, chosen, "chosen must have the shape of cost");
  require(chosen.shape(2) == cost.shape(2), "chosen must have the shape of cost");
  require(step >= 0 && jump >= 0 && edge_sigma > 0, "step and jump must not be below 0, edge_sigma must be above");
  apart(cost, disparity, curvature, guide, chosen);
  Released release;
  dualpix::choose(cost.data(), disparity.data(), curvature.data(), guide.data(), chosen.data(), (int)guide.shape(0),
                  (int)guide.shape(1), {kept, step, jump, edge_sigma}, threads);
}

void refine(Map left, Map right, Output d, OutputMask textured, int window, int threads) {
  check_pair(left, right);
  same_shape(left, d, "d must have the shape of left");
  same_shape(left, textured, "textured must have the shape of left");
  // The time of a pixel grows with the area of its window.
  require(window >= 3 && window <= 63 && window % 2 == 1, "window must be odd, 3 to 63");
  apart(left, right, d, textured);
  Released release;
  dualpix::refine(left.data(), right.data(), d.data(), textured.data(), (int)d.shape(0), (int)d.shape(1), window,
                  threads);
}

void check_views(Map left, Map right, OutputMask consistent, float most, int threads) {
  check_pair(left, right);
  same_shape(left, consistent, "consistent must have the shape of left");
  apart(left, right, consistent);
  Released release;
  dualpix::check_views(left.data(), right.data(), consistent.data(), (int)left.shape(0), (int)left.shape(1), most,
                       threads);
}

void confirm(Map d, Map curvature, Map right, Map sure, Output S, Array<int64_t, 1> counts, float most, float trust,
             float low, float high, int threads) {
  check_pair(d, right);
  same_shape(d, curvature, "curvature must have the shape of d");
  same_shape(d, sure, "sure must have the shape of d");
  same_shape(d, S, "S must have the shape of d");
  require(counts.shape(0) == 4, "counts must have 4 entries");
  apart(d, curvature, right, sure, S, counts);
  Released release;
  const auto [matched, confirmed, at_low, at_high] =
      dualpix::confirm(d.data(), curvature.data(), right.data(), sure.data(), S.data(), (int)d.shape(0),
                       (int)d.shape(1), {most, trust, low, high}, threads);
  const int64_t found[] = {matched, confirmed, at_low, at_high};
  std::copy_n(found, 4, counts.data());
}

void weaken(Map d, Map curvature, Map S, Output alpha, Output beta, int threads) {
  check_size(d);
  same_shape(d, curvature, "curvature must have the shape of d");
  same_shape(d, S, "S must have the shape of d");
  same_shape(d, alpha, "alpha must have the shape of d");
  same_shape(d, beta, "beta must have the shape of d");
  apart(d, curvature, S, alpha, beta);
  Released release;
  dualpix::weaken(d.data(), curvature.data(), S.data(), alpha.data(), beta.data(), (int)d.shape(0), (int)d.shape(1),
                  threads);
}

}  // namespace

void bind_match(nb::module_& m) {
  nb::enum_<dualpix::Cost>(m, "Cost", "What two pixels are compared by.")
      .value("sad", dualpix::Cost::sad)
      .value("ssd", dualpix::Cost::ssd)
      .value("ncc", dualpix::Cost::ncc)
      .value("zncc", dualpix::Cost::zncc)
      .value("bt", dualpix::Cost::bt)
      .value("census", dualpix::Cost::census);
  nb::enum_<dualpix::Subpixel>(m, "Subpixel", "How a disparity between whole ones is found.")
      .value("parabola", dualpix::Subpixel::parabola)
      .value("histeq", dualpix::Subpixel::histeq)
      .value("encc", dualpix::Subpixel::encc);
  nb::enum_<dualpix::Minimum>(m, "Minimum", "Where a candidate lies: at a whole disparity or at the parabola's vertex.")
      .value("whole", dualpix::Minimum::whole)
      .value("parabola", dualpix::Minimum::parabola);
  m.def("match", match, as_is("left"), as_is("right"), as_is("alpha"), as_is("beta"), nb::kw_only(), "first"_a,
        "count"_a, "side"_a, as_is("taps"), as_is("subpixel"), as_is("bias"), "encc_window"_a, as_is("encc_left"),
        as_is("encc_right"), "ratio_threshold"_a, "noise_floor"_a, as_is("cost"), "threads"_a,
        as_is("ranges").none() = nb::none(),
        "alpha, beta = the local parabolas of the windowed cost over the disparities first .. first + count - 1, or\n"
        "over the ranges (first, count) of the tiles. Blocks of side x side pixels share a cost; taps are blocks.");
  m.attr("tile") = dualpix::kTile;
  m.def("tile_extremes", tile_extremes, as_is("d"), "reach"_a, as_is("least"), as_is("most"), "threads"_a,
        "The least and the greatest coarse disparity in and around each tile of the finer scale.");
  m.def("find_candidates", find_candidates, as_is("left"), as_is("right"), as_is("cost"), as_is("disparity"),
        as_is("curvature"), as_is("right_winner"), nb::kw_only(), "first"_a, "count"_a, as_is("taps"),
        as_is("minimum"), as_is("cost_kind"), "threads"_a,
        "The lowest minima of every pixel's cost, and the best disparity of every pixel of the right image.");
  m.def("choose", choose, as_is("cost"), as_is("disparity"), as_is("curvature"), as_is("guide"), as_is("chosen"),
        nb::kw_only(), "step"_a, "jump"_a, "edge_sigma"_a, "threads"_a,
        "The first plane of chosen becomes the disparity of the candidate that fits its neighbours best, the first of "
        "curvature its curvature.");
  m.def("refine", refine, as_is("left"), as_is("right"), as_is("d"), as_is("textured"), "window"_a, "threads"_a,
        "d, whole disparities, is moved to the peak of the correlation of the windows.");
  m.def("check_views", check_views, as_is("left"), as_is("right"), as_is("consistent"), "most"_a, "threads"_a,
        "consistent = 1 where the disparities of both views agree.");
  m.def("confirm", confirm, as_is("d"), as_is("curvature"), as_is("right"), as_is("sure"), as_is("S"),
        as_is("counts"), nb::kw_only(), "most"_a, "trust"_a, "low"_a, "high"_a, "threads"_a,
        "S becomes trust where d is not confirmed. counts: how many pixels are matched, confirmed, and confirmed "
        "within 1 px of low and of high.");
  m.def("weaken", weaken, as_is("d"), as_is("curvature"), as_is("S"), as_is("alpha"), as_is("beta"), "threads"_a,
        "The parabolas with their minimum at d: alpha = S curvature, beta = -2 alpha d.");
}
