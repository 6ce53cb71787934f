// Bindings of core/files.
#include "files/codes.h"

#include "bindings/arrays.h"
#include "files/png.h"

namespace {

using Bytes = Array<const uint8_t, 1>;
using OutputBytes = Array<uint8_t, 1>;

bool unfilter(Bytes data, OutputMask rows, int pixel) {
  require(rows.shape(1) > 0 && data.size() == rows.size() + rows.shape(0), "data must have one byte more a row than rows");
  require(pixel >= 1 && pixel <= 8 && rows.shape(1) % (size_t)pixel == 0, "pixel must be 1 to 8 and divide the rows");
  apart(data, rows);
  Released release;
  return dualpix::unfilter(data.data(), rows.data(), rows.shape(0), rows.shape(1), pixel);
}

size_t unpack_bits(Bytes data, OutputBytes out) {
  apart(data, out);
  Released release;
  return dualpix::unpack_bits(data.data(), data.size(), out.data(), out.size());
}

size_t unpack_lzw(Bytes data, OutputBytes out) {
  apart(data, out);
  Released release;
  return dualpix::unpack_lzw(data.data(), data.size(), out.data(), out.size());
}

template <class T>
void add_up(Array<T, 3> values) {
  require(values.size() > 0 && values.shape(2) < 256, "values must be rows of up to 255 channels");
  Released release;
  dualpix::add_up(values.data(), values.shape(0), values.shape(1), (int)values.shape(2));
}

long long parse_numbers(Bytes text, Array<uint16_t, 1> out, int largest) {
  require(largest >= 0 && largest < 1 << 16, "largest must be 0 to 65535");
  apart(text, out);
  Released release;
  return dualpix::parse_numbers(text.data(), text.size(), out.data(), out.size(), (unsigned)largest);
}

}  // namespace

void bind_files(nb::module_& m) {
  m.def("unfilter", unfilter, as_is("data"), as_is("rows"), "pixel"_a,
        "rows = the rows of a PNG without their filters. False if there is an unknown one.");
  m.def("unpack_bits", unpack_bits, as_is("data"), as_is("out"), "out = PackBits data. Returns the bytes written.");
  m.def("unpack_lzw", unpack_lzw, as_is("data"), as_is("out"), "out = LZW data of TIFF. Returns the bytes written.");
  m.def("add_up", add_up<uint8_t>, as_is("values"));
  m.def("add_up", add_up<uint16_t>, as_is("values"));
  m.def("add_up", add_up<uint32_t>, as_is("values"));
  m.def("add_up", add_up<uint64_t>, as_is("values"),
        "In place: the sums of every row and channel, of rows x columns x channels. They wrap around.");
  m.def("parse_numbers", parse_numbers, as_is("text"), as_is("out"), "largest"_a,
        "out = whole numbers between spaces. Returns their number; -1 for another word, -2 for one beyond 0 to largest.");
}
