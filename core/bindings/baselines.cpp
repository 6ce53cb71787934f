// Bindings of core/baselines.
#include <algorithm>

#include "baselines/sgm.h"
#include "baselines/tiles.h"
#include "bindings/arrays.h"

namespace {

dualpix::Kernel kernel(const Map& taps, size_t margin) {
  require(taps.shape(0) % 2 == 1 && taps.shape(1) % 2 == 1, "kernels must have odd sides");
  require(taps.shape(0) / 2 <= margin && taps.shape(1) / 2 <= margin, "kernels must not reach beyond the margin");
  return {taps.data(), (int)(taps.shape(0) / 2), (int)(taps.shape(1) / 2)};
}

void sgm(Map left, Map right, Output d, int first, int count, Row taps, float P1, float P2, int threads) {
  check_pair(left, right);
  same_shape(left, d, "d must have the shape of left");
  require(count >= 1, "at least one disparity");
  check_disparities(first, count);
  check_taps(taps);
  require(0 <= P1 && P1 <= P2 && P2 <= dualpix::kMostPenalty, "P1 and P2 must rise from 0 to 127");
  const dualpix::SemiGlobal options = {first, count, {taps.data(), (int)taps.shape(0) - 1}, P1, P2};
  apart(left, right, d, taps);
  Released release;
  dualpix::sgm(left.data(), right.data(), d.data(), (int)left.shape(0), (int)left.shape(1), options, threads);
}

void tile_sums(Map left, Map right, Map k_left, Map k_right, Output sums, Output squares, int margin, int tile,
               int threads) {
  check_pair(left, right);
  require(margin >= 0 && 2 * (size_t)margin < std::min(left.shape(0), left.shape(1)), "views must exceed their margin");
  require(tile >= 1, "tile must be 1 or more");
  const size_t h = left.shape(0) - 2 * margin, w = left.shape(1) - 2 * margin;
  require(sums.shape(0) == (h - 1) / tile + 1 && sums.shape(1) == (w - 1) / tile + 1,
          "sums must have one value a tile");
  same_shape(sums, squares, "squares must have the shape of sums");
  const dualpix::Kernel of_left = kernel(k_left, margin), of_right = kernel(k_right, margin);
  apart(left, right, k_left, k_right, sums, squares);
  Released release;
  dualpix::tile_sums(left.data(), right.data(), of_left, of_right, sums.data(), squares.data(), (int)h, (int)w, margin,
                     tile, threads);
}

}  // namespace

void bind_baselines(nb::module_& m) {
  m.def("sgm", sgm, as_is("left"), as_is("right"), as_is("d"), nb::kw_only(), "first"_a, "count"_a, as_is("taps"),
        "P1"_a, "P2"_a, "threads"_a,
        "d = semi-global matching of the Birchfield-Tomasi cost over the disparities first .. first + count - 1.");
  m.def("tile_sums", tile_sums, as_is("left"), as_is("right"), as_is("k_left"), as_is("k_right"),
        as_is("sums"), as_is("squares"), nb::kw_only(), "margin"_a, "tile"_a, "threads"_a,
        "sums, squares = the sums over tiles of e and e^2, e = k_left * left - k_right * right.\n"
        "The views have a margin on all sides.");
}
