// The module dualpix._core: shapes checked here, kernels called with the GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "aggregate.h"
#include "bilateral.h"
#include "candidates.h"
#include "census.h"
#include "check.h"
#include "choose.h"
#include "covariance.h"
#include "encc.h"
#include "guided.h"
#include "image.h"
#include "limits.h"
#include "match.h"
#include "median.h"
#include "regions.h"
#include "sgm.h"
#include "solver.h"
#include "tiles.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, int N>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Map = Array<const float, 2>;
using Output = Array<float, 2>;
using Row = Array<const float, 1>;
using Planes = Array<const float, 3>;
using OutputPlanes = Array<float, 3>;
using OutputMask = Array<unsigned char, 2>;
using Ranges = Array<const int, 3>;

constexpr size_t kNumbered = (size_t)1 << 31;  // pixels that an int can number
constexpr int kLargest = 1 << 20;  // disparities are counted in floats

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class A, class B>
void same_shape(const A& a, const B& b, const char* message) {
  require(a.shape(0) == b.shape(0) && a.shape(1) == b.shape(1), message);
}

template <class A>
void check_size(const A& a) {
  require(a.size() > 0 && a.shape(0) < (1u << 30) && a.shape(1) < (1u << 30), "maps must have 1 to 2^30 rows and columns");
}

template <class T>
void to_plane(Array<const T, 3> pixels, Output plane, Row weights, float scale, int threads) {
  same_shape(pixels, plane, "plane must have the height and width of pixels");
  require(weights.shape(0) == pixels.shape(2), "one weight a channel");
  nb::gil_scoped_release release;
  dualpix::to_plane(pixels.data(), plane.data(), plane.size(), (int)pixels.shape(2), weights.data(), scale, threads);
}

void power(Output plane, float gamma, float scale, int threads) {
  require(scale > 0, "scale must be above 0");
  nb::gil_scoped_release release;
  dualpix::power(plane.data(), plane.size(), gamma, scale, threads);
}

void confidence(Map A, Output most, Map least, Array<const unsigned char, 2> textured, float sure, int threads) {
  same_shape(A, most, "most must have the shape of A");
  same_shape(A, least, "least must have the shape of A");
  same_shape(A, textured, "textured must have the shape of A");
  nb::gil_scoped_release release;
  dualpix::confidence(A.data(), most.data(), least.data(), textured.data(), A.size(), sure, threads);
}

void pyramid_down(Map image, Output half, int threads) {
  check_size(image);
  require(half.shape(0) == (image.shape(0) + 1) / 2 && half.shape(1) == (image.shape(1) + 1) / 2,
          "half must be half the size of image, rounded up");
  nb::gil_scoped_release release;
  dualpix::pyramid_down(image.data(), half.data(), (int)image.shape(0), (int)image.shape(1), threads);
}

void subtract_bilateral(Map image, Output out, int threads) {
  check_size(image);
  same_shape(image, out, "out must have the shape of image");
  require(image.data() != out.data(), "out must not be image");
  nb::gil_scoped_release release;
  dualpix::subtract_bilateral(image.data(), out.data(), (int)image.shape(0), (int)image.shape(1), threads);
}

void match(Map left, Map right, Output alpha, Output beta, int first, int count, Row taps, int subpixel, Row bias,
           int encc_window, Map encc_left, Map encc_right, float ratio_threshold, float noise_floor, int cost,
           int threads, std::optional<Ranges> ranges) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  same_shape(left, encc_left, "encc_left must have the shape of left");
  same_shape(left, encc_right, "encc_right must have the shape of left");
  same_shape(left, alpha, "alpha must have the shape of left");
  same_shape(left, beta, "beta must have the shape of left");
  require(count >= 3, "at least three disparities");
  require(std::abs((double)first) <= kLargest && count <= kLargest, "disparities must lie within 2^20");
  require(taps.shape(0) >= 1 && taps.shape(0) < 4096, "1 to 4095 taps");
  require(cost >= 0 && cost < dualpix::kCosts, "cost must be 0 (sad), 1 (ssd), 2 (ncc), 3 (zncc), 4 (bt) or 5 (census)");
  require(subpixel >= 0 && subpixel <= 2, "subpixel must be 0 (parabola), 1 (histeq) or 2 (encc)");
  require(encc_window >= 3 && encc_window < 1024 && encc_window % 2 == 1, "encc_window must be odd, 3 to 1023");
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
  const dualpix::Matching options = {(dualpix::Cost)cost,
                                     first,
                                     count,
                                     ranges ? ranges->data() : nullptr,
                                     {taps.data(), (int)taps.shape(0) - 1},
                                     (dualpix::Subpixel)subpixel,
                                     bias.data(),
                                     encc_window,
                                     encc_left.data(),
                                     encc_right.data(),
                                     ratio_threshold,
                                     noise_floor};
  nb::gil_scoped_release release;
  dualpix::match(left.data(), right.data(), alpha.data(), beta.data(), (int)left.shape(0), (int)left.shape(1), options,
                 threads);
}

void tile_extremes(Map d, int reach, Output least, Output most, int threads) {
  check_size(d);
  require(reach >= 0 && reach <= kLargest, "reach must be 0 to 2^20");
  const size_t side = dualpix::kTile / 2, down = (d.shape(0) + side - 1) / side, across = (d.shape(1) + side - 1) / side;
  require(least.shape(0) == down && least.shape(1) == across, "least must have a value for each tile");
  same_shape(least, most, "most must have the shape of least");
  nb::gil_scoped_release release;
  dualpix::tile_extremes(d.data(), (int)d.shape(0), (int)d.shape(1), reach, least.data(), most.data(), threads);
}

void condition(Output alpha, Output beta, Row divisor, std::optional<Map> prior_A, std::optional<Map> prior_B,
               float prior_weight, float prior_limit, float invalid_threshold, int threads) {
  check_size(alpha);
  same_shape(alpha, beta, "alpha and beta must have the same shape");
  require(divisor.shape(0) == alpha.shape(1), "one divisor a column");
  require(prior_A.has_value() == prior_B.has_value(), "prior_A and prior_B go together");
  dualpix::Prior prior;
  if (prior_A) {
    same_shape(*prior_A, *prior_B, "prior_A and prior_B must have the same shape");
    require(prior_A->shape(0) == (alpha.shape(0) + 1) / 2 && prior_A->shape(1) == (alpha.shape(1) + 1) / 2,
            "the prior must be half the size of alpha, rounded up");
    prior = {prior_A->data(), prior_B->data(), prior_weight, prior_limit > 0 ? 1 / prior_limit : 0.0f};
  }
  nb::gil_scoped_release release;
  dualpix::condition(alpha.data(), beta.data(), (int)alpha.shape(0), (int)alpha.shape(1), divisor.data(), prior,
                     invalid_threshold, threads);
}

void edge_weights(Map guide, Array<uint16_t, 3> weights, float sigma, int threads) {
  check_size(guide);
  require(weights.shape(0) == guide.shape(0) && weights.shape(2) == guide.shape(1),
          "weights must have the height and width of guide");
  require(weights.shape(1) == 2 || weights.shape(1) == 4, "weights must be of 2 or 4 edges");
  require(sigma > 1e-15f, "sigma must be above 1e-15");
  nb::gil_scoped_release release;
  dualpix::edge_weights(guide.data(), weights.data(), (int)guide.shape(0), (int)guide.shape(1), sigma,
                        (int)weights.shape(1), threads);
}

void aggregate(Map alpha, Map beta, Array<const uint16_t, 3> weights, Output A, Output B, int messages, float penalty,
               std::optional<Map> disparity, float robust_tau, float scale, float jump_penalty, float farthest,
               int threads, std::optional<Output> minimizer) {
  check_size(alpha);
  same_shape(alpha, beta, "alpha and beta must have the same shape");
  require(weights.shape(0) == alpha.shape(0) && weights.shape(2) == alpha.shape(1),
          "weights must have the height and width of alpha");
  require(weights.shape(1) == 2 || weights.shape(1) == 4, "weights must be of 2 or 4 edges");
  same_shape(alpha, A, "A must have the shape of alpha");
  same_shape(alpha, B, "B must have the shape of alpha");
  if (disparity) same_shape(alpha, *disparity, "disparity must have the shape of alpha");
  require(!disparity || robust_tau >= 0, "robust_tau must not be below 0");
  require(!disparity || messages == 1, "only exact messages heed the disparity before");
  const float* previous = disparity ? disparity->data() : nullptr;
  const void* inputs[] = {alpha.data(), beta.data(), weights.data(), previous};
  for (const void* output : {A.data(), B.data()})
    require(std::find(std::begin(inputs), std::end(inputs), output) == std::end(inputs), "outputs must not be inputs");
  require(A.data() != B.data(), "A and B must not be the same map");
  require(messages >= 0 && messages <= 2, "messages must be 0 (paper), 1 (exact) or 2 (jumps)");
  float* found = minimizer ? minimizer->data() : nullptr;
  if (minimizer) {
    same_shape(alpha, *minimizer, "minimizer must have the shape of alpha");
    const void* others[] = {alpha.data(), beta.data(), weights.data(), A.data(), B.data()};
    for (const void* other : others) require(other != found, "minimizer must be a map of its own or disparity");
  }
  const dualpix::Aggregation options = {(dualpix::Messages)messages, penalty, (int)weights.shape(1), previous, found,
                                        robust_tau,                  scale,   jump_penalty,          farthest};
  nb::gil_scoped_release release;
  dualpix::aggregate(alpha.data(), beta.data(), weights.data(), A.data(), B.data(), (int)alpha.shape(0),
                     (int)alpha.shape(1), options, threads);
}

void tile_covariances(Map left, Map right, Array<double, 3> C, int side, int threads) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  require(side >= 1 && side <= dualpix::kMostSide, "side must be 1 to 32");
  require(left.shape(0) > 2 && left.shape(1) > 2, "the views must have 3 rows and columns or more");
  require(C.shape(0) == (left.shape(0) - 2) / side * ((left.shape(1) - 2) / side) && C.shape(1) == dualpix::kTerms &&
              C.shape(2) == dualpix::kTerms,
          "C must have 6 x 6 covariances of every tile");
  nb::gil_scoped_release release;
  dualpix::tile_covariances(left.data(), right.data(), C.data(), (int)left.shape(0), (int)left.shape(1), side, threads);
}

void release_free_memory() {
  nb::gil_scoped_release release;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void minimizer(Map A, Map B, Output d, int threads) {
  same_shape(A, B, "A and B must have the same shape");
  same_shape(A, d, "d must have the shape of A");
  nb::gil_scoped_release release;
  dualpix::minimizer(A.data(), B.data(), d.data(), A.size(), threads);
}

void census(Map image, Output codes, int threads) {
  check_size(image);
  same_shape(image, codes, "codes must have the shape of image");
  require(image.data() != codes.data(), "codes must not be image");
  nb::gil_scoped_release release;
  dualpix::census(image.data(), codes.data(), (int)image.shape(0), (int)image.shape(1), threads);
}

// How many maps of the shape of `map` the planes are.
int planes_of(const OutputPlanes& planes, const Map& map, const char* message) {
  require(planes.shape(1) == map.shape(0) && planes.shape(2) == map.shape(1), message);
  require(planes.shape(0) >= 1 && planes.shape(0) <= (size_t)dualpix::kMostKept, "1 to 6 candidates");
  return (int)planes.shape(0);
}

void find_candidates(Map left, Map right, OutputPlanes cost, OutputPlanes disparity, OutputPlanes curvature,
                     Output right_winner, int first, int count, Row taps, int minimum, int cost_kind, int threads) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  same_shape(left, right_winner, "right_winner must have the shape of left");
  const int kept = planes_of(cost, left, "planes of cost must have the shape of left");
  require(planes_of(disparity, left, "planes of disparity must have the shape of left") == kept &&
              planes_of(curvature, left, "planes of curvature must have the shape of left") == kept,
          "cost, disparity and curvature must have the same number of planes");
  require(count >= 3, "at least three disparities");
  require(std::abs((double)first) <= kLargest && count <= kLargest, "disparities must lie within 2^20");
  require(taps.shape(0) >= 1 && taps.shape(0) < 4096, "1 to 4095 taps");
  require(cost_kind >= 0 && cost_kind < dualpix::kCosts && !dualpix::correlates((dualpix::Cost)cost_kind),
          "cost must be 0 (sad), 1 (ssd), 4 (bt) or 5 (census)");
  require(minimum >= 0 && minimum <= 1, "minimum must be 0 (whole) or 1 (parabola)");
  const dualpix::Search options = {(dualpix::Cost)cost_kind,
                                   first,
                                   count,
                                   {taps.data(), (int)taps.shape(0) - 1},
                                   (dualpix::Minimum)minimum,
                                   kept};
  nb::gil_scoped_release release;
  dualpix::find_candidates(left.data(), right.data(),
                           {cost.data(), disparity.data(), curvature.data(), right_winner.data()}, (int)left.shape(0),
                           (int)left.shape(1), options, threads);
}

void choose(OutputPlanes cost, OutputPlanes disparity, OutputPlanes curvature, Map guide, float step, float jump,
            float edge_sigma, int threads) {
  check_size(guide);
  const int kept = planes_of(cost, guide, "planes of cost must have the shape of guide");
  require(planes_of(disparity, guide, "planes of disparity must have the shape of guide") == kept &&
              planes_of(curvature, guide, "planes of curvature must have the shape of guide") == kept,
          "cost, disparity and curvature must have the same number of planes");
  require(step >= 0 && jump >= 0 && edge_sigma > 0, "step and jump must not be below 0, edge_sigma must be above");
  nb::gil_scoped_release release;
  dualpix::choose(cost.data(), disparity.data(), curvature.data(), guide.data(), (int)guide.shape(0),
                  (int)guide.shape(1), {kept, step, jump, edge_sigma}, threads);
}

void refine(Map left, Map right, Output d, OutputMask textured, int window, int threads) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  same_shape(left, d, "d must have the shape of left");
  same_shape(left, textured, "textured must have the shape of left");
  require(window >= 3 && window < 1024 && window % 2 == 1, "window must be odd, 3 to 1023");
  nb::gil_scoped_release release;
  dualpix::refine(left.data(), right.data(), d.data(), textured.data(), (int)d.shape(0), (int)d.shape(1), window,
                  threads);
}

void check_views(Map left, Map right, OutputMask consistent, float most, int threads) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  same_shape(left, consistent, "consistent must have the shape of left");
  nb::gil_scoped_release release;
  dualpix::check_views(left.data(), right.data(), consistent.data(), (int)left.shape(0), (int)left.shape(1), most,
                       threads);
}

void sgm(Map left, Map right, Output d, int first, int count, Row taps, float P1, float P2, int threads) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  same_shape(left, d, "d must have the shape of left");
  require(d.data() != left.data() && d.data() != right.data(), "d must not be left or right");
  require(count >= 1, "at least one disparity");
  require(std::abs((double)first) <= kLargest && count <= kLargest, "disparities must lie within 2^20");
  require(taps.shape(0) >= 1 && taps.shape(0) < 4096, "1 to 4095 taps");
  require(0 <= P1 && P1 <= P2 && P2 <= dualpix::kMostPenalty, "P1 and P2 must rise from 0 to 127");
  const dualpix::SemiGlobal options = {first, count, {taps.data(), (int)taps.shape(0) - 1}, P1, P2};
  nb::gil_scoped_release release;
  dualpix::sgm(left.data(), right.data(), d.data(), (int)left.shape(0), (int)left.shape(1), options, threads);
}

dualpix::Kernel kernel(const Map& taps, size_t margin) {
  require(taps.shape(0) % 2 == 1 && taps.shape(1) % 2 == 1, "kernels must have odd sides");
  require(taps.shape(0) / 2 <= margin && taps.shape(1) / 2 <= margin, "kernels must not reach beyond the margin");
  return {taps.data(), (int)(taps.shape(0) / 2), (int)(taps.shape(1) / 2)};
}

void tile_sums(Map left, Map right, Map k_left, Map k_right, Output sums, Output squares, int margin, int tile,
               int threads) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  require(margin >= 0 && 2 * (size_t)margin < std::min(left.shape(0), left.shape(1)), "views must exceed their margin");
  require(tile >= 1, "tile must be 1 or more");
  const size_t h = left.shape(0) - 2 * margin, w = left.shape(1) - 2 * margin;
  require(sums.shape(0) == (h - 1) / tile + 1 && sums.shape(1) == (w - 1) / tile + 1, "sums must have one value a tile");
  same_shape(sums, squares, "squares must have the shape of sums");
  require(sums.data() != squares.data(), "sums and squares must not be the same map");
  const dualpix::Kernel of_left = kernel(k_left, margin), of_right = kernel(k_right, margin);
  nb::gil_scoped_release release;
  dualpix::tile_sums(left.data(), right.data(), of_left, of_right, sums.data(), squares.data(), (int)h, (int)w, margin,
                     tile, threads);
}

// What the filters take: a map, its confidence if there is one, and the planes of its guide.
dualpix::Measured measured(const Map& d, const std::optional<Map>& confidence, const Planes& guide, const Output& out) {
  check_size(d);
  require(d.size() < kNumbered, "maps must have less than 2^31 pixels");
  require(guide.shape(1) == d.shape(0) && guide.shape(2) == d.shape(1), "planes of guide must have the shape of d");
  require(guide.shape(0) == 1 || guide.shape(0) == 3, "guide must have 1 or 3 planes");
  if (confidence) same_shape(d, *confidence, "confidence must have the shape of d");
  same_shape(d, out, "out must have the shape of d");
  require(out.data() != d.data(), "out must not be d");
  return {d.data(), confidence ? confidence->data() : nullptr, guide.data(), (int)guide.shape(0), (int)d.shape(0),
          (int)d.shape(1)};
}

void guided_filter(Map d, std::optional<Map> confidence, Planes guide, Output out, int radius, float eps, int threads) {
  const dualpix::Measured in = measured(d, confidence, guide, out);
  require(radius >= 1 && radius <= 4096, "radius must be 1 to 4096");
  require(eps > 0, "eps must be above 0");
  nb::gil_scoped_release release;
  dualpix::guided_filter(in, out.data(), radius, eps, threads);
}

void bilateral_solver(Map d, std::optional<Map> confidence, Planes guide, Output out, float luma, float chroma, int xy,
                      float lam, int iterations, int threads) {
  const dualpix::Measured in = measured(d, confidence, guide, out);
  require(luma > 0 && chroma > 0, "luma and chroma must be above 0");
  require(xy >= 1 && xy <= 4096, "xy must be 1 to 4096");
  require(lam >= 0 && iterations >= 0, "lam and iterations must not be below 0");
  nb::gil_scoped_release release;
  dualpix::bilateral_solver(in, out.data(), {luma, chroma, xy}, lam, iterations, threads);
}

void weighted_median(Map d, std::optional<Map> confidence, Planes guide, Output out, int radius, float sigma,
                     int threads) {
  const dualpix::Measured in = measured(d, confidence, guide, out);
  require(radius >= 1 && radius <= 255, "radius must be 1 to 255");
  require(sigma > 0, "sigma must be above 0");
  nb::gil_scoped_release release;
  dualpix::weighted_median(in, out.data(), radius, sigma, threads);
}

void remove_speckles(Output d, int size, float step) {
  check_size(d);
  require(d.size() < kNumbered, "maps must have less than 2^31 pixels");
  require(step >= 0, "step must not be below 0");
  nb::gil_scoped_release release;
  dualpix::remove_speckles(d.data(), (int)d.shape(0), (int)d.shape(1), size, step);
}

void fill_holes(Output d) {
  check_size(d);
  require(d.size() < kNumbered, "maps must have less than 2^31 pixels");
  nb::gil_scoped_release release;
  dualpix::fill_holes(d.data(), (int)d.shape(0), (int)d.shape(1));
}

void copy(Map source, Output target, int threads) {
  same_shape(source, target, "target must have the shape of source");
  require(source.data() != target.data(), "target must not be source");
  require(threads >= 1, "threads must be 1 or more");
  nb::gil_scoped_release release;
  dualpix::copy(source.data(), target.data(), source.size(), threads);
}

float multiply_adds(double count, int lanes, int threads) {
  require(count >= 0 && count <= 1e15, "count must be 0 to 1e15");
  require(lanes == 4 || lanes == 8 || lanes == 16, "lanes must be 4, 8 or 16");
  require(threads >= 1, "threads must be 1 or more");
  nb::gil_scoped_release release;
  return dualpix::multiply_adds(count, lanes, threads);
}

// An array taken as it is: a converted copy of an output would swallow the result.
auto map(const char* name) { return nb::arg(name).noconvert(); }

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Kernels of dualpix: contiguous float32 maps in and out, the GIL released, the same bytes for any threads.";
  m.def("to_plane", to_plane<uint8_t>, map("pixels"), map("plane"), map("weights"), "scale"_a, "threads"_a);
  m.def("to_plane", to_plane<uint16_t>, map("pixels"), map("plane"), map("weights"), "scale"_a, "threads"_a);
  m.def("to_plane", to_plane<float>, map("pixels"), map("plane"), map("weights"), "scale"_a, "threads"_a,
        "plane = scale * sum of weights[c] * pixels[:, :, c].");
  m.def("power", power, map("plane"), "gamma"_a, "scale"_a, "threads"_a, "plane = scale * plane^gamma, in place.");
  m.def("confidence", confidence, map("A"), map("most"), map("least"), map("textured"), "sure"_a, "threads"_a,
        "most = A' / (A' + sure), 1 / A' = 1 / A + (most - least)^2 / 12, or 0 where not textured.");
  m.def("pyramid_down", pyramid_down, map("image"), map("half"), "threads"_a,
        "Half size by 1 4 6 4 1 with symmetric borders; pixel i of half lies at pixel 2 i of image.");
  m.def("subtract_bilateral", subtract_bilateral, map("image"), map("out"), "threads"_a,
        "out = image less its bilateral smoothing, on a 0..255 scale.");
  m.def("match", match, map("left"), map("right"), map("alpha"), map("beta"), "first"_a, "count"_a, map("taps"),
        "subpixel"_a, map("bias"), "encc_window"_a, map("encc_left"), map("encc_right"), "ratio_threshold"_a,
        "noise_floor"_a, "cost"_a, "threads"_a, map("ranges").none() = nb::none(),
        "Local parabolas from the windowed cost over the disparities first .. first + count - 1, or those of each tile.");
  m.attr("tile") = dualpix::kTile;
  m.def("tile_extremes", tile_extremes, map("d"), "reach"_a, map("least"), map("most"), "threads"_a,
        "The least and the greatest coarse disparity in and around each tile of the finer scale.");
  m.def("tile_covariances", tile_covariances, map("left"), map("right"), map("C"), "side"_a, "threads"_a,
        "Of L - R, the slopes along x and y of the mean M, M, x M and y M in every tile.");
  m.def("condition", condition, map("alpha"), map("beta"), map("divisor"), map("prior_A").none(), map("prior_B").none(),
        "prior_weight"_a, "prior_limit"_a, "invalid_threshold"_a, "threads"_a,
        "Border, prior of the coarser scale, invalidation, in place.");
  m.def("edge_weights", edge_weights, map("guide"), map("weights"), "sigma"_a, "threads"_a,
        "Of each pixel and those before it: the one to its left, above, and with 4 edges on both diagonals above.");
  m.def("aggregate", aggregate, map("alpha"), map("beta"), map("weights"), map("A"), map("B"), "messages"_a,
        "penalty"_a, map("disparity").none(), "robust_tau"_a, "scale"_a, "jump_penalty"_a, "farthest"_a, "threads"_a,
        map("minimizer").none() = nb::none(),
        "One pass over all paths: A, B = scale * sum of the aggregated coefficients, minimizer = -B / (2 A).");
  m.def("release_free_memory", release_free_memory,
        "Give back to the system what the heap keeps of memory that was freed, where the C library can.");
  m.def("minimizer", minimizer, map("A"), map("B"), map("d"), "threads"_a, "d = -B / (2 A), 0 where A is 0.");
  m.def("sgm", sgm, map("left"), map("right"), map("d"), "first"_a, "count"_a, map("taps"), "P1"_a, "P2"_a, "threads"_a,
        "d = semi-global matching of the Birchfield-Tomasi cost over the disparities first .. first + count - 1.");
  m.def("tile_sums", tile_sums, map("left"), map("right"), map("k_left"), map("k_right"), map("sums"), map("squares"),
        "margin"_a, "tile"_a, "threads"_a,
        "Sums over tiles of e = k_left * left - k_right * right and of its square; the views have a margin.");
  m.def("census", census, map("image"), map("codes"), "threads"_a,
        "codes = which of the 24 neighbours of a pixel are darker, a bit each.");
  m.def("find_candidates", find_candidates, map("left"), map("right"), map("cost"), map("disparity"), map("curvature"),
        map("right_winner"), "first"_a, "count"_a, map("taps"), "minimum"_a, "cost_kind"_a, "threads"_a,
        "The lowest minima of every pixel's cost, and the disparities that win in the right image.");
  m.def("choose", choose, map("cost"), map("disparity"), map("curvature"), map("guide"), "step"_a, "jump"_a,
        "edge_sigma"_a, "threads"_a,
        "The candidate that fits its neighbours best: the first plane of disparity and curvature becomes its own.");
  m.def("refine", refine, map("left"), map("right"), map("d"), map("textured"), "window"_a, "threads"_a,
        "Whole disparities d moved to the peak of the windows' correlation.");
  m.def("check_views", check_views, map("left"), map("right"), map("consistent"), "most"_a, "threads"_a,
        "consistent = 1 where the disparities of both views agree.");
  m.def("guided_filter", guided_filter, map("d"), map("confidence").none(), map("guide"), map("out"), "radius"_a,
        "eps"_a, "threads"_a,
        "out = d fitted by a linear function of the guide in every window; NaN where there is no data.");
  m.def("bilateral_solver", bilateral_solver, map("d"), map("confidence").none(), map("guide"), map("out"), "luma"_a,
        "chroma"_a, "xy"_a, "lam"_a, "iterations"_a, "threads"_a,
        "out = the map close to d and smooth where the guide is; NaN where nothing connects to data.");
  m.def("weighted_median", weighted_median, map("d"), map("confidence").none(), map("guide"), map("out"), "radius"_a,
        "sigma"_a, "threads"_a, "out = the median of d around a pixel, weighted by how alike the guide is there.");
  m.def("remove_speckles", remove_speckles, map("d"), "size"_a, "step"_a, "Small regions become NaN, in place.");
  m.def("fill_holes", fill_holes, map("d"), "NaN replaced ring by ring by the median of what is beside it, in place.");
  m.def("copy", copy, map("source"), map("target"), "threads"_a, "target = source, as fast as the machine can.");
  m.def("multiply_adds", multiply_adds, "count"_a, "lanes"_a, "threads"_a,
        "So many multiply-adds in vectors of 4, 8 or 16 floats, as fast as the machine can; the sum means nothing.");
}
