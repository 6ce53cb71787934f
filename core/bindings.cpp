// The module dualpix._core: shapes checked here, kernels called with the GIL released.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

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

void match(Map left, Map right, Output alpha, Output beta, int first, int count, Row taps,
           dualpix::Subpixel subpixel, Row bias, int encc_window, Map encc_left, Map encc_right, float ratio_threshold,
           float noise_floor, dualpix::Cost cost, int threads, std::optional<Ranges> ranges) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
  same_shape(left, encc_left, "encc_left must have the shape of left");
  same_shape(left, encc_right, "encc_right must have the shape of left");
  same_shape(left, alpha, "alpha must have the shape of left");
  same_shape(left, beta, "beta must have the shape of left");
  require(count >= 3, "at least three disparities");
  require(std::abs((double)first) <= kLargest && count <= kLargest, "disparities must lie within 2^20");
  require(taps.shape(0) >= 1 && taps.shape(0) < 4096, "1 to 4095 taps");
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
  const dualpix::Matching options = {cost,
                                     first,
                                     count,
                                     ranges ? ranges->data() : nullptr,
                                     {taps.data(), (int)taps.shape(0) - 1},
                                     subpixel,
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

// A, B, factor, weight, limit: as the fields of dualpix::Prior; a limit of 0 is none.
using Prior = std::tuple<Map, Map, int, float, float>;

void condition(Output alpha, Output beta, Row divisor, const std::vector<Prior>& priors, float invalid_threshold,
               int threads) {
  check_size(alpha);
  same_shape(alpha, beta, "alpha and beta must have the same shape");
  require(alpha.data() != beta.data(), "alpha and beta must not be the same map");
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
    for (const float* map : {A.data(), B.data()})
      require(map != alpha.data() && map != beta.data(), "a prior must not be alpha or beta");
    added.push_back({A.data(), B.data(), factor, weight, limit > 0 ? 1 / limit : 0.0f});
  }
  nb::gil_scoped_release release;
  dualpix::condition(alpha.data(), beta.data(), (int)alpha.shape(0), (int)alpha.shape(1), divisor.data(), added,
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

void aggregate(Map alpha, Map beta, Array<const uint16_t, 3> weights, Output A, Output B, dualpix::Messages messages,
               float penalty, std::optional<Map> disparity, float robust_tau, float scale, float jump_penalty, float farthest,
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
  require(!disparity || messages == dualpix::Messages::exact, "only exact messages take a disparity");
  const float* previous = disparity ? disparity->data() : nullptr;
  const void* inputs[] = {alpha.data(), beta.data(), weights.data(), previous};
  for (const void* output : {A.data(), B.data()})
    require(std::find(std::begin(inputs), std::end(inputs), output) == std::end(inputs), "outputs must not be inputs");
  require(A.data() != B.data(), "A and B must not be the same map");
  float* found = minimizer ? minimizer->data() : nullptr;
  if (minimizer) {
    same_shape(alpha, *minimizer, "minimizer must have the shape of alpha");
    const void* others[] = {alpha.data(), beta.data(), weights.data(), A.data(), B.data()};
    for (const void* other : others) require(other != found, "minimizer must be a map of its own or disparity");
  }
  const dualpix::Aggregation options = {messages,   penalty, (int)weights.shape(1), previous, found,
                                        robust_tau, scale,   jump_penalty,          farthest};
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
                     Output right_winner, int first, int count, Row taps, dualpix::Minimum minimum,
                     dualpix::Cost cost_kind, int threads) {
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
  require(!dualpix::correlates(cost_kind), "cost_kind must be sad, ssd, bt or census");
  const dualpix::Search options = {cost_kind,
                                   first,
                                   count,
                                   {taps.data(), (int)taps.shape(0) - 1},
                                   minimum,
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

// No conversion: the result would go to a converted copy of an output, and an integer would pass for an enum.
auto as_is(const char* name) { return nb::arg(name).noconvert(); }

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Kernels of dualpix: contiguous float32 maps in and out, the GIL released, the same bytes for any threads.";
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
  nb::enum_<dualpix::Messages>(m, "Messages", "What a pixel passes on along a path.")
      .value("paper", dualpix::Messages::paper)
      .value("exact", dualpix::Messages::exact)
      .value("jumps", dualpix::Messages::jumps);
  m.def("to_plane", to_plane<uint8_t>, as_is("pixels"), as_is("plane"), as_is("weights"), "scale"_a, "threads"_a);
  m.def("to_plane", to_plane<uint16_t>, as_is("pixels"), as_is("plane"), as_is("weights"), "scale"_a, "threads"_a);
  m.def("to_plane", to_plane<float>, as_is("pixels"), as_is("plane"), as_is("weights"), "scale"_a, "threads"_a,
        "plane = scale * sum of weights[c] * pixels[:, :, c].");
  m.def("power", power, as_is("plane"), "gamma"_a, "scale"_a, "threads"_a, "plane = scale * plane^gamma, in place.");
  m.def("confidence", confidence, as_is("A"), as_is("most"), as_is("least"), as_is("textured"), "sure"_a, "threads"_a,
        "most = A' / (A' + sure), 1 / A' = 1 / A + (most - least)^2 / 12, or 0 where not textured.");
  m.def("pyramid_down", pyramid_down, as_is("image"), as_is("half"), "threads"_a,
        "Half size by 1 4 6 4 1 with symmetric borders; pixel i of half lies at pixel 2 i of image.");
  m.def("subtract_bilateral", subtract_bilateral, as_is("image"), as_is("out"), "threads"_a,
        "out = image less its bilateral smoothing, on a 0..255 scale.");
  m.def("match", match, as_is("left"), as_is("right"), as_is("alpha"), as_is("beta"), nb::kw_only(), "first"_a,
        "count"_a, as_is("taps"), as_is("subpixel"), as_is("bias"), "encc_window"_a, as_is("encc_left"), as_is("encc_right"), "ratio_threshold"_a,
        "noise_floor"_a, as_is("cost"), "threads"_a, as_is("ranges").none() = nb::none(),
        "Local parabolas from the windowed cost over the disparities first .. first + count - 1, or those of each tile.");
  m.attr("tile") = dualpix::kTile;
  m.def("tile_extremes", tile_extremes, as_is("d"), "reach"_a, as_is("least"), as_is("most"), "threads"_a,
        "The least and the greatest coarse disparity in and around each tile of the finer scale.");
  m.def("tile_covariances", tile_covariances, as_is("left"), as_is("right"), as_is("C"), "side"_a, "threads"_a,
        "Of L - R, the slopes along x and y of the mean M, M, x M and y M in every tile.");
  m.def("condition", condition, as_is("alpha"), as_is("beta"), as_is("divisor"), nb::kw_only(), "priors"_a,
        "invalid_threshold"_a, "threads"_a,
        "Border, priors (A, B, factor, weight, limit) and invalid pixels, in place. A prior of factor 1 has the shape of\n"
        "alpha, one of factor 2 is of the coarser scale. A limit of 0 is none.");
  m.def("edge_weights", edge_weights, as_is("guide"), as_is("weights"), "sigma"_a, "threads"_a,
        "Of each pixel and those before it: the one to its left, above, and with 4 edges on both diagonals above.");
  m.def("aggregate", aggregate, as_is("alpha"), as_is("beta"), as_is("weights"), as_is("A"), as_is("B"), nb::kw_only(),
        as_is("messages"), "penalty"_a, as_is("disparity").none(), "robust_tau"_a, "scale"_a, "jump_penalty"_a, "farthest"_a, "threads"_a,
        as_is("minimizer").none() = nb::none(),
        "One pass over all paths: A, B = scale * sum of the aggregated coefficients, minimizer = -B / (2 A).");
  m.def("release_free_memory", release_free_memory,
        "Give back to the system what the heap keeps of memory that was freed, where the C library can.");
  m.def("minimizer", minimizer, as_is("A"), as_is("B"), as_is("d"), "threads"_a, "d = -B / (2 A), 0 where A is 0.");
  m.def("sgm", sgm, as_is("left"), as_is("right"), as_is("d"), nb::kw_only(), "first"_a, "count"_a, as_is("taps"),
        "P1"_a, "P2"_a, "threads"_a,
        "d = semi-global matching of the Birchfield-Tomasi cost over the disparities first .. first + count - 1.");
  m.def("tile_sums", tile_sums, as_is("left"), as_is("right"), as_is("k_left"), as_is("k_right"), as_is("sums"), as_is("squares"),
        nb::kw_only(), "margin"_a, "tile"_a, "threads"_a,
        "Sums over tiles of e = k_left * left - k_right * right and of its square; the views have a margin.");
  m.def("census", census, as_is("image"), as_is("codes"), "threads"_a,
        "codes = which of the 24 neighbours of a pixel are darker, a bit each.");
  m.def("find_candidates", find_candidates, as_is("left"), as_is("right"), as_is("cost"), as_is("disparity"), as_is("curvature"),
        as_is("right_winner"), nb::kw_only(), "first"_a, "count"_a, as_is("taps"), as_is("minimum"), as_is("cost_kind"),
        "threads"_a,
        "The lowest minima of every pixel's cost, and the disparities that win in the right image.");
  m.def("choose", choose, as_is("cost"), as_is("disparity"), as_is("curvature"), as_is("guide"), nb::kw_only(), "step"_a, "jump"_a,
        "edge_sigma"_a, "threads"_a,
        "The candidate that fits its neighbours best: the first plane of disparity and curvature becomes its own.");
  m.def("refine", refine, as_is("left"), as_is("right"), as_is("d"), as_is("textured"), "window"_a, "threads"_a,
        "Whole disparities d moved to the peak of the windows' correlation.");
  m.def("check_views", check_views, as_is("left"), as_is("right"), as_is("consistent"), "most"_a, "threads"_a,
        "consistent = 1 where the disparities of both views agree.");
  m.def("guided_filter", guided_filter, as_is("d"), as_is("confidence").none(), as_is("guide"), as_is("out"), nb::kw_only(),
        "radius"_a, "eps"_a, "threads"_a,
        "out = d fitted by a linear function of the guide in every window; NaN where there is no data.");
  m.def("bilateral_solver", bilateral_solver, as_is("d"), as_is("confidence").none(), as_is("guide"), as_is("out"), nb::kw_only(),
        "luma"_a, "chroma"_a, "xy"_a, "lam"_a, "iterations"_a, "threads"_a,
        "out = the map close to d and smooth where the guide is; NaN where nothing connects to data.");
  m.def("weighted_median", weighted_median, as_is("d"), as_is("confidence").none(), as_is("guide"), as_is("out"), nb::kw_only(),
        "radius"_a, "sigma"_a, "threads"_a, "out = the median of d around a pixel, weighted by how alike the guide is there.");
  m.def("remove_speckles", remove_speckles, as_is("d"), "size"_a, "step"_a, "Small regions become NaN, in place.");
  m.def("fill_holes", fill_holes, as_is("d"), "NaN replaced ring by ring by the median of what is beside it, in place.");
  m.def("copy", copy, as_is("source"), as_is("target"), "threads"_a, "target = source, as fast as the machine can.");
  m.def("multiply_adds", multiply_adds, "count"_a, "lanes"_a, "threads"_a,
        "So many multiply-adds in vectors of 4, 8 or 16 floats, as fast as the machine can; the sum means nothing.");
}
