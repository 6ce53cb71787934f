// Bindings of core/render.
#include "bindings/arrays.h"
#include "render/defocus.h"
#include "render/refocus.h"

namespace {

void check_map(const Map& d, float focus, float gain, int threads) {
  check_size(d);
  require(d.size() < (size_t)1 << 31, "maps must have less than 2^31 pixels");
  require(std::isfinite(focus) && std::isfinite(gain), "focus and gain must be finite");
  require(threads >= 1, "threads must be 1 or more");
}

void defocus_codes(Map d, OutputCodes codes, float focus, float gain, int threads) {
  check_map(d, focus, gain, threads);
  same_shape(d, codes, "codes must have the shape of d");
  apart(d, codes);
  Released release;
  dualpix::defocus_codes({d.data(), focus, gain}, codes.data(), (int)d.shape(0), (int)d.shape(1), threads);
}

void find_background(Codes codes, OutputCodes behind, int threads) {
  check_size(codes);
  same_shape(codes, behind, "behind must have the shape of codes");
  apart(codes, behind);
  require(threads >= 1, "threads must be 1 or more");
  for (size_t i = 0; i < codes.size(); ++i)
    require(std::abs((int)codes.data()[i]) <= dualpix::kMostCode, "codes must lie within -333 to 333");
  Released release;
  dualpix::find_background(codes.data(), behind.data(), (int)codes.shape(0), (int)codes.shape(1), threads);
}

template <class T>
void refocus(Array<const T, 3> photo, Map d, Array<const float, 4> chords, Array<T, 3> out, float focus, float gain,
             bool linear, int threads) {
  check_map(d, focus, gain, threads);
  same_shape(d, photo, "photo must have the height and width of d");
  same_shape(photo, out, "out must have the shape of photo");
  require(photo.shape(2) == out.shape(2) && (photo.shape(2) == 1 || photo.shape(2) == 3), "1 or 3 channels");
  apart(photo, d, chords, out);
  require(chords.size() > 0 && chords.shape(2) == 2 && chords.size() <= 1 << 22, "chords must be rows x columns x 2 x n");
  bool open = true;  // every opening
  for (size_t i = 0; i < chords.shape(0) * chords.shape(1); ++i) {
    const size_t n = chords.shape(3);
    const float* lines = chords.data() + 2 * n * i;
    bool some = false;
    for (size_t k = 0; k < n; ++k) {
      require(std::abs(lines[k]) <= 2 && std::abs(lines[n + k]) <= 2, "chords must lie within -2 to 2");
      some |= lines[k] < lines[n + k];
    }
    open &= some;
  }
  require(open, "every opening must be open somewhere");
  const dualpix::Openings openings{chords.data(), (int)chords.shape(0), (int)chords.shape(1), (int)chords.shape(3)};
  const dualpix::Photo<T> in{photo.data(), (int)d.shape(0), (int)d.shape(1), (int)photo.shape(2), linear};
  Released release;
  dualpix::refocus(in, {d.data(), focus, gain}, openings, out.data(), threads);
}

template <class T>
void bind_refocus(nb::module_& m, const char* doc) {
  m.def("refocus", refocus<T>, as_is("photo"), as_is("d"), as_is("chords"), as_is("out"), nb::kw_only(), "focus"_a,
        "gain"_a, "linear"_a, "threads"_a, doc);
}

}  // namespace

void bind_render(nb::module_& m) {
  m.attr("most_radius") = dualpix::kMostRadius;
  m.def("defocus_codes", defocus_codes, as_is("d"), as_is("codes"), nb::kw_only(), "focus"_a, "gain"_a, "threads"_a,
        "codes = round(80 asinh(r / 8)) of the blur radius r = gain (d - focus) in px.");
  m.def("find_background", find_background, as_is("codes"), as_is("behind"), nb::kw_only(), "threads"_a,
        "behind = 4 * distance + direction of the background that a pixel hides; 0 if none.");
  bind_refocus<uint8_t>(m, "");
  bind_refocus<uint16_t>(m, "");
  bind_refocus<float>(m, "out = photo, every pixel spread over its spot of radius |gain (d - focus)|, near over far.");
}
