// Bindings of core/filters.
#include "bindings/arrays.h"
#include "filters/blank.h"
#include "filters/guided.h"
#include "filters/median.h"
#include "filters/outlines.h"
#include "filters/polish.h"
#include "filters/regions.h"
#include "filters/solver.h"

namespace {

// The filters number pixels by int.
template <class A>
void check_number_of_pixels(const A& d) {
  check_size(d);
  require(d.size() < (size_t)1 << 31, "maps must have less than 2^31 pixels");
}

// The input of a filter: a map, its confidence if given, and the planes of its guide.
dualpix::Measured measured(const Map& d, const std::optional<Map>& confidence, const Planes& guide, const Output& out) {
  check_number_of_pixels(d);
  require(guide.shape(1) == d.shape(0) && guide.shape(2) == d.shape(1), "planes of guide must have the shape of d");
  require(guide.shape(0) == 1 || guide.shape(0) == 3, "guide must have 1 or 3 planes");
  if (confidence) same_shape(d, *confidence, "confidence must have the shape of d");
  same_shape(d, out, "out must have the shape of d");
  apart(d, confidence, guide, out);
  return {d.data(), confidence ? confidence->data() : nullptr, guide.data(), (int)guide.shape(0), (int)d.shape(0),
          (int)d.shape(1)};
}

void guided_filter(Map d, std::optional<Map> confidence, Planes guide, Output out, int radius, float eps, int threads) {
  const dualpix::Measured in = measured(d, confidence, guide, out);
  require(radius >= 1 && radius <= 4096, "radius must be 1 to 4096");
  require(eps > 0, "eps must be above 0");
  Released release;
  dualpix::guided_filter(in, out.data(), radius, eps, threads);
}

void bilateral_solver(Map d, std::optional<Map> confidence, Planes guide, Output out, float luma, float chroma, int xy,
                      float lam, int iterations, int threads) {
  const dualpix::Measured in = measured(d, confidence, guide, out);
  require(luma > 0 && chroma > 0, "luma and chroma must be above 0");
  require(xy >= 1 && xy <= 4096, "xy must be 1 to 4096");
  require(lam >= 0 && iterations >= 0, "lam and iterations must not be below 0");
  Released release;
  dualpix::bilateral_solver(in, out.data(), {luma, chroma, xy}, lam, iterations, threads);
}

void weighted_median(Map d, std::optional<Map> confidence, Planes guide, Output out, int radius, float sigma,
                     int threads) {
  const dualpix::Measured in = measured(d, confidence, guide, out);
  require(radius >= 1 && radius <= 255, "radius must be 1 to 255");
  require(sigma > 0, "sigma must be above 0");
  Released release;
  dualpix::weighted_median(in, out.data(), radius, sigma, threads);
}

void polish(Map d, Output out, float eps, float low, float high, int threads, std::optional<Map> minus) {
  check_number_of_pixels(d);
  same_shape(d, out, "out must have the shape of d");
  if (minus) same_shape(d, *minus, "minus must have the shape of d");
  apart(d, out);
  if (minus) apart(*minus, out);
  require(eps > 0, "eps must be above 0");
  Released release;
  dualpix::polish(d.data(), minus ? minus->data() : nullptr, out.data(), (int)d.shape(0), (int)d.shape(1), eps, low, high, threads);
}

void follow_outlines(Output d, Mask guide, Output room, float sigma, float step, int threads) {
  check_number_of_pixels(d);
  same_shape(d, guide, "guide must have the shape of d");
  same_shape(d, room, "room must have the shape of d");
  apart(d, guide, room);
  require(sigma >= 0.01f, "sigma must be 0.01 or more");
  require(step >= 0, "step must be 0 or more");
  Released release;
  dualpix::follow_outlines(d.data(), guide.data(), room.data(), (int)d.shape(0), (int)d.shape(1), sigma, step, threads);
}

void take_changes(Output d, Map before, Map after, int every, int threads) {
  check_number_of_pixels(d);
  require(every >= 1 && every <= 64, "every must be 1 to 64");
  for (int side : {0, 1})
    require(before.shape(side) == (d.shape(side) - 1) / every + 1, "before must have one pixel for every block of d");
  same_shape(before, after, "after must have the shape of before");
  apart(d, before, after);
  Released release;
  dualpix::take_changes(d.data(), before.data(), after.data(), (int)d.shape(0), (int)d.shape(1), every, threads);
}

void to_bytes(Map plane, OutputMask bytes, int threads) {
  same_shape(plane, bytes, "bytes must have the shape of plane");
  apart(plane, bytes);
  Released release;
  dualpix::to_bytes(plane.data(), bytes.data(), plane.size(), threads);
}

int blank_parts(Mask blank, Map d, OutputLabels part, OutputMask steps, Output beside, int least, int reach) {
  check_number_of_pixels(d);
  same_shape(d, blank, "blank must have the shape of d");
  same_shape(d, part, "part must have the shape of d");
  same_shape(d, steps, "steps must have the shape of d");
  same_shape(d, beside, "beside must have the shape of d");
  apart(d, blank, part, steps, beside);
  require(reach >= 0 && reach <= 255, "reach must be 0 to 255");
  Released release;
  return dualpix::blank_parts(blank.data(), d.data(), (int)d.shape(0), (int)d.shape(1), least, reach, part.data(),
                              steps.data(), beside.data());
}

void remove_speckles(Output d, int size, float step) {
  check_number_of_pixels(d);
  require(step >= 0, "step must not be below 0");
  Released release;
  dualpix::remove_speckles(d.data(), (int)d.shape(0), (int)d.shape(1), size, step);
}

void fill_holes(Output d) {
  check_number_of_pixels(d);
  Released release;
  dualpix::fill_holes(d.data(), (int)d.shape(0), (int)d.shape(1));
}

}  // namespace

void bind_filters(nb::module_& m) {
  m.def("guided_filter", guided_filter, as_is("d"), as_is("confidence").none(), as_is("guide"), as_is("out"),
        nb::kw_only(), "radius"_a, "eps"_a, "threads"_a,
        "out = d fitted by a linear function of the guide in every window. NaN where no window has data.");
  m.def("bilateral_solver", bilateral_solver, as_is("d"), as_is("confidence").none(), as_is("guide"),
        as_is("out"), nb::kw_only(), "luma"_a, "chroma"_a, "xy"_a, "lam"_a, "iterations"_a, "threads"_a,
        "out = the map close to d and smooth where the guide is. NaN where nothing connects to data.");
  m.def("weighted_median", weighted_median, as_is("d"), as_is("confidence").none(), as_is("guide"), as_is("out"),
        nb::kw_only(), "radius"_a, "sigma"_a, "threads"_a,
        "out = the median of d around a pixel, weighted by the similarity of the guide.");
  m.def("polish", polish, as_is("d"), as_is("out"), nb::kw_only(), "eps"_a, "low"_a, "high"_a, "threads"_a,
        as_is("minus").none() = nb::none(),
        "out = d, smoothed where its variance in 5x5 pixels is well below eps, and clipped to low..high; less minus.");
  m.def("follow_outlines", follow_outlines, as_is("d"), as_is("guide"), as_is("room"), nb::kw_only(), "sigma"_a,
        "step"_a, "threads"_a,
        "In place: where d spans more than step around a pixel, the median of what looks alike in guide.");
  m.def("take_changes", take_changes, as_is("d"), as_is("before"), as_is("after"), nb::kw_only(), "every"_a, "threads"_a,
        "In place: where after differs from before, the block of d that the pixel stands for becomes after.");
  m.def("to_bytes", to_bytes, as_is("plane"), as_is("bytes"), "threads"_a, "bytes = plane, rounded, within 0..255.");
  m.def("blank_parts", blank_parts, as_is("blank"), as_is("d"), as_is("part"), as_is("steps"), as_is("beside"),
        nb::kw_only(), "least"_a, "reach"_a,
        "The number of blank parts. Of every pixel the part that it is in or next to, the steps to it, and d where the "
        "way leaves the part.");
  m.def("remove_speckles", remove_speckles, as_is("d"), "size"_a, "step"_a, "Small regions become NaN, in place.");
  m.def("fill_holes", fill_holes, as_is("d"), "NaN pixels get the median of their neighbours, ring by ring, in place.");
}
