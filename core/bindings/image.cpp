// Bindings of core/image.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "image/bilateral.h"
#include "image/census.h"
#include "image/confidence.h"
#include "image/covariance.h"
#include "image/planes.h"
#include "image/shifts.h"
#include "image/texture.h"
#include "image/windows.h"

namespace {

template <class T>
void to_plane(Array<const T, 3> pixels, Output plane, Row weights, float scale, int threads, float most, float black,
              float gamma, float full) {
  same_shape(pixels, plane, "plane must have the height and width of pixels");
  require(weights.shape(0) == pixels.shape(2), "one weight a channel");
  require(full > 0, "full must be above 0");
  apart(pixels, plane, weights);
  Released release;
  dualpix::to_plane(pixels.data(), plane.data(), plane.size(), (int)pixels.shape(2), weights.data(),
                    {scale, black, most, gamma, full}, threads);
}

void multiply(Output plane, Map grid, int height, int width, int top, int left, int step, int threads) {
  check_size(plane);
  check_size(grid);
  const int h = (int)plane.shape(0), w = (int)plane.shape(1);
  auto fits = [step](int n, int first, int whole) { return first >= 0 && first + (int64_t)step * (n - 1) < whole; };
  require(step >= 1 && fits(h, top, height) && fits(w, left, width), "plane must lie in height x width pixels");
  apart(plane, grid);
  Released release;
  dualpix::multiply(plane.data(), h, w, grid.data(), (int)grid.shape(0), (int)grid.shape(1),
                    {height, width, top, left, step}, threads);
}

void scale(Output plane, float factor, int threads) {
  Released release;
  dualpix::scale(plane.data(), plane.size(), factor, threads);
}

float largest(Map plane, int threads) {
  require(plane.size() > 0, "plane must not be empty");
  Released release;
  return dualpix::largest(plane.data(), plane.size(), threads);
}

// Rows and columns of what is left of n when every step-th is taken.
template <class A, class B>
void check_sampled(const A& a, const B& sampled, int step) {
  check_size(a);
  require(step >= 1 && step < 8192, "step must be 1 to 8191");
  require(sampled.shape(0) == (a.shape(0) + step - 1) / step && sampled.shape(1) == (a.shape(1) + step - 1) / step,
          "out must have every step-th row and column");
}

void sample(Map image, Output out, int step, int threads) {
  check_sampled(image, out, step);
  apart(image, out);
  Released release;
  dualpix::sample(image.data(), out.data(), (int)image.shape(0), (int)image.shape(1), step, threads);
}

void pyramid_down(Map image, Output half, int threads) {
  check_size(image);
  require(half.shape(0) == (image.shape(0) + 1) / 2 && half.shape(1) == (image.shape(1) + 1) / 2,
          "half must be half the size of image, rounded up");
  apart(image, half);
  Released release;
  dualpix::pyramid_down(image.data(), half.data(), (int)image.shape(0), (int)image.shape(1), threads);
}

void pyramid_up(Map half, Output image, bool add, int threads) {
  check_size(image);
  require(half.shape(0) == (image.shape(0) + 1) / 2 && half.shape(1) == (image.shape(1) + 1) / 2,
          "half must be half the size of image, rounded up");
  apart(half, image);
  Released release;
  dualpix::pyramid_up(half.data(), image.data(), (int)image.shape(0), (int)image.shape(1), add, threads);
}

void subtract_bilateral(Map image, Output out, int threads) {
  check_size(image);
  same_shape(image, out, "out must have the shape of image");
  apart(image, out);
  Released release;
  dualpix::subtract_bilateral(image.data(), out.data(), (int)image.shape(0), (int)image.shape(1), threads);
}

void census(Map image, Output codes, int threads) {
  check_size(image);
  same_shape(image, codes, "codes must have the shape of image");
  apart(image, codes);
  Released release;
  dualpix::census(image.data(), codes.data(), (int)image.shape(0), (int)image.shape(1), threads);
}

void smooth(Map image, Output out, Array<const double, 1> taps, int threads) {
  check_size(image);
  same_shape(image, out, "out must have the shape of image");
  require(taps.shape(0) >= 1 && taps.shape(0) < 4096, "1 to 4095 taps");
  apart(image, out, taps);
  Released release;
  dualpix::smooth(image.data(), out.data(), (int)image.shape(0), (int)image.shape(1), taps.data(), (int)taps.shape(0),
                  threads);
}

void spread(Map d, Output out, int side, int threads) {
  check_size(d);
  same_shape(d, out, "out must have the shape of d");
  require(side >= 1 && side < 8192, "side must be 1 to 8191");
  apart(d, out);
  Released release;
  dualpix::spread(d.data(), out.data(), (int)d.shape(0), (int)d.shape(1), side, threads);
}

void shrink(Map image, Output out, int threads) {
  check_size(image);
  check_size(out);
  require(out.shape(0) <= image.shape(0) && out.shape(1) <= image.shape(1), "out must not be larger than image");
  apart(image, out);
  Released release;
  dualpix::shrink(image.data(), out.data(), (int)image.shape(0), (int)image.shape(1), (int)out.shape(0),
                  (int)out.shape(1), threads);
}

void tile_shifts(Map left, Map right, Array<double, 2> rest, int side, int reach, double alike, int threads) {
  check_pair(left, right);
  require(side >= 1 && side <= dualpix::kMostSide, "side must be 1 to 32");
  require(reach >= 0 && reach < 8192, "reach must be 0 to 8191");
  require(alike > 0, "alike must be above 0");
  const size_t tiles = left.shape(0) / side * (left.shape(1) / side);
  require(rest.shape(0) == 3 && rest.shape(1) == tiles && tiles < (size_t)1 << 30, "rest must have 3 rows of all tiles");
  apart(left, right, rest);
  Released release;
  dualpix::tile_shifts(left.data(), right.data(), rest.data(), (int)left.shape(0), (int)left.shape(1), side, reach, alike,
                       threads);
}

template <class M>
void near_texture(M A, std::optional<Mask> coarser, OutputMask out, int side, int threads) {
  check_size(A);
  same_shape(A, out, "out must have the shape of A");
  require(side >= 1 && side < 8192, "side must be 1 to 8191");
  require(!coarser || (coarser->shape(0) == (A.shape(0) + 1) / 2 && coarser->shape(1) == (A.shape(1) + 1) / 2),
          "coarser must be half the size of A, rounded up");
  apart(A, coarser, out);
  Released release;
  dualpix::near_texture(A.data(), coarser ? coarser->data() : nullptr, out.data(), (int)A.shape(0), (int)A.shape(1), side,
                        threads);
}

void expected_error(const std::vector<std::tuple<Map, float, float>>& signs, Output sigma, float scale, float lens,
                    float middle, float y0, float x0, int step, int threads) {
  check_size(sigma);
  require(scale > 0, "scale must be above 0");
  require(step >= 1 && step < 8192, "step must be 1 to 8191");
  std::vector<dualpix::Sign> own;
  for (const auto& [map, floor, exponent] : signs) {
    same_shape(map, sigma, "signs must have the shape of sigma");
    apart(map, sigma);
    own.push_back({map.data(), floor, exponent});
  }
  Released release;
  dualpix::expected_error(own, scale, {lens, middle, y0, x0}, sigma.data(), (int)sigma.shape(0), (int)sigma.shape(1), step,
                          threads);
}

void weigh_offsets(Map A, Halves vertex, Map d, Output weight, Output offset, int step, float farthest, int threads) {
  same_shape(A, vertex, "vertex must have the shape of A");
  same_shape(A, d, "d must have the shape of A");
  check_sampled(A, weight, step);
  check_sampled(A, offset, step);
  apart(A, vertex, d, weight, offset);
  Released release;
  dualpix::weigh_offsets(A.data(), vertex.data(), d.data(), weight.data(), offset.data(), (int)A.shape(0),
                         (int)A.shape(1), step, farthest, threads);
}

void fill_untextured(Output sigma, Mask textured, float value, int threads) {
  same_shape(sigma, textured, "textured must have the shape of sigma");
  apart(sigma, textured);
  Released release;
  dualpix::fill_untextured(sigma.data(), textured.data(), sigma.size(), value, threads);
}

void confidence_of(Map sigma, Mask textured, Output confidence, float sure, int threads) {
  same_shape(sigma, textured, "textured must have the shape of sigma");
  same_shape(sigma, confidence, "confidence must have the shape of sigma");
  apart(sigma, textured, confidence);
  Released release;
  dualpix::confidence_of(sigma.data(), textured.data(), confidence.data(), sigma.size(), sure, threads);
}

void limit(Output d, Output confidence, std::optional<Output> sigma, float low, float high, float beyond, int threads) {
  same_shape(d, confidence, "confidence must have the shape of d");
  if (sigma) same_shape(d, *sigma, "sigma must have the shape of d");
  require(beyond >= 0, "beyond must not be below 0");
  float* expected = sigma ? sigma->data() : nullptr;
  apart(d, confidence, sigma);
  Released release;
  dualpix::limit(d.data(), confidence.data(), expected, d.size(), low, high, beyond, threads);
}

double mean(Map values, int threads) {
  require(values.size() > 0, "values must not be empty");
  Released release;
  return dualpix::mean(values.data(), values.size(), threads);
}

void tile_covariances(Map left, Map right, Array<double, 3> C, int side, int threads) {
  check_pair(left, right);
  require(side >= 1 && side <= dualpix::kMostSide, "side must be 1 to 32");
  require(left.shape(0) > 2 && left.shape(1) > 2, "the views must have 3 rows and columns or more");
  require(C.shape(0) == (left.shape(0) - 2) / side * ((left.shape(1) - 2) / side) && C.shape(1) == dualpix::kTerms &&
              C.shape(2) == dualpix::kTerms,
          "C must have 6 x 6 covariances of every tile");
  apart(left, right, C);
  Released release;
  dualpix::tile_covariances(left.data(), right.data(), C.data(), (int)left.shape(0), (int)left.shape(1), side, threads);
}

}  // namespace

void bind_image(nb::module_& m) {
  auto def_to_plane = [&](auto function, const char* doc) {
    m.def("to_plane", function, as_is("pixels"), as_is("plane"), as_is("weights"), "scale"_a, "threads"_a, nb::kw_only(),
          "most"_a, "black"_a = 0.0f, "gamma"_a = 1.0f, "full"_a = 1.0f, doc);
  };
  def_to_plane(to_plane<uint8_t>, "");
  def_to_plane(to_plane<uint16_t>, "");
  def_to_plane(to_plane<float>,
               "plane = full (min(max(scale * sum of weights[c] * pixels[:, :, c] - black, 0), most) / full)^gamma.");
  m.def("multiply", multiply, as_is("plane"), as_is("grid"), nb::kw_only(), "height"_a, "width"_a, "top"_a, "left"_a,
        "step"_a, "threads"_a,
        "plane *= grid, enlarged linearly to the height x width pixels of which plane has every step-th of a part, in place.");
  m.def("scale", scale, as_is("plane"), "factor"_a, "threads"_a, "plane *= factor, in place.");
  m.def("largest", largest, as_is("plane"), "threads"_a, "The largest value. NaN does not count.");
  m.def("sample", sample, as_is("image"), as_is("out"), "step"_a, "threads"_a, "out = image[::step, ::step].");
  m.def("pyramid_down", pyramid_down, as_is("image"), as_is("half"), "threads"_a,
        "Half size by 1 4 6 4 1 with symmetric borders; pixel i of half lies at pixel 2 i of image.");
  m.def("pyramid_up", pyramid_up, as_is("half"), as_is("image"), nb::kw_only(), "add"_a, "threads"_a,
        "image = or += half at twice the size, by linear interpolation; pixel i of half lies at pixel 2 i of image.");
  m.def("subtract_bilateral", subtract_bilateral, as_is("image"), as_is("out"), "threads"_a,
        "out = image - bilateral(image), on a 0..255 scale.");
  m.def("census", census, as_is("image"), as_is("codes"), "threads"_a,
        "codes = one bit for each of the 24 neighbours of a pixel, set where it is darker.");
  m.def("smooth", smooth, as_is("image"), as_is("out"), as_is("taps"), "threads"_a,
        "out = image weighted with the taps along x and y, mirrored at the borders.");
  m.def("spread", spread, as_is("d"), as_is("out"), "side"_a, "threads"_a,
        "out = the largest minus the smallest d in the window around a pixel.");
  m.def("shrink", shrink, as_is("image"), as_is("out"), "threads"_a,
        "out = image with fewer rows and columns: every pixel is the mean of the area it covers.");
  m.def("near_texture", near_texture<Map>, as_is("matches"), as_is("coarser").none(), as_is("out"), "side"_a, "threads"_a,
        "out = 1 where a curvature is above 0 in the window around a pixel, or where coarser, half the size, is 1.");
  m.def("near_texture", near_texture<Halves>, as_is("matches"), as_is("coarser").none(), as_is("out"), "side"_a,
        "threads"_a, "The same where a vertex, in half floats, is above minus infinity.");
  m.def("expected_error", expected_error, "signs"_a, as_is("sigma"), nb::kw_only(), "scale"_a, "lens"_a, "middle"_a,
        "y0"_a, "x0"_a, "step"_a, "threads"_a,
        "sigma^2 = (scale * product of (sign + floor)^exponent)^2 + (lens * ((y - y0)^2 + (x - x0)^2))^2 + middle^2.\n"
        "Signs are (map, floor, exponent). Rows and columns of the maps lie `step` apart.");
  m.def("weigh_offsets", weigh_offsets, as_is("A"), as_is("vertex"), as_is("d"), as_is("weight"), as_is("apart"),
        "step"_a, "farthest"_a, "threads"_a,
        "At every step-th pixel: weight = A, 0 where vertex, a half float, is minus infinity;\n"
        "apart = weight * (vertex - d), which is clipped to -farthest..farthest.");
  m.def("fill_untextured", fill_untextured, as_is("sigma"), as_is("textured"), "value"_a, "threads"_a,
        "In place: sigma = value where textured is 0.");
  m.def("confidence_of", confidence_of, as_is("sigma"), as_is("textured"), as_is("confidence"), "sure"_a, "threads"_a,
        "confidence = textured / (1 + (sigma / sure)^2).");
  m.def("limit", limit, as_is("d"), as_is("confidence"), as_is("sigma").none(), nb::kw_only(), "low"_a, "high"_a,
        "beyond"_a, "threads"_a,
        "In place: d is clipped. Where it lay outside by more than `beyond`, confidence = 0 and sigma = high - low.");
  m.def("mean", mean, as_is("values"), "threads"_a, "The mean; it does not depend on the number of threads.");
  m.def("tile_covariances", tile_covariances, as_is("left"), as_is("right"), as_is("C"), "side"_a, "threads"_a,
        "C = the covariances in every tile of L - R, the slopes of the mean M along x and y, M, x M and y M.");
  m.def("tile_shifts", tile_shifts, as_is("left"), as_is("right"), as_is("rest"), nb::kw_only(), "side"_a,
        "reach"_a, "alike"_a, "threads"_a,
        "rest = the variance of every tile of left that right does not explain: as it is, shifted along x, along y.");
}
