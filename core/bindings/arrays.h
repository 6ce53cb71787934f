// Shared by all bindings: array types, checks of shapes, arguments without conversion.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "aggregate/weights.h"
#include "common/stop.h"

namespace nb = nanobind;
using namespace nb::literals;

template <class T, int N>
using AnyArray = nb::ndarray<nb::numpy, T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

// An array whose values lie at multiples of their size, which NumPy does not promise. Others raise TypeError.
template <class T, int N>
struct Array : AnyArray<T, N> {
  Array() = default;
  explicit Array(AnyArray<T, N>&& array) : AnyArray<T, N>(std::move(array)) {}
};

namespace nanobind::detail {

template <class T, int N>
struct type_caster<Array<T, N>> {
  using Own = Array<T, N>;
  using Any = make_caster<AnyArray<T, N>>;
  NB_TYPE_CASTER(Own, Any::Name)

  bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
    Any any;
    if (!any.from_python(source, flags, cleanup) || (uintptr_t)any.value.data() % alignof(T)) return false;
    value = Own(std::move(any.value));
    return true;
  }
};

}  // namespace nanobind::detail

using Map = Array<const float, 2>;
using Output = Array<float, 2>;
using Row = Array<const float, 1>;
using Planes = Array<const float, 3>;
using OutputPlanes = Array<float, 3>;
using Mask = Array<const unsigned char, 2>;
using OutputMask = Array<unsigned char, 2>;
using OutputLabels = Array<int32_t, 2>;
using Weights = Array<const dualpix::Weight, 3>;
using OutputWeights = Array<dualpix::Weight, 3>;
using Halves = Array<const uint16_t, 2>;  // the bits of half floats
using OutputHalves = Array<uint16_t, 2>;
using OutputCodes = Array<int16_t, 2>;
using Codes = Array<const int16_t, 2>;
using Ranges = Array<const int, 3>;

constexpr int kLargest = 1 << 20;  // px; float32 holds such disparities exactly

// Raises ValueError.
inline void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

template <class A, class B>
void same_shape(const A& a, const B& b, const char* message) {
  require(a.shape(0) == b.shape(0) && a.shape(1) == b.shape(1), message);
}

// The memory of an array. A kernel writes it unless its values are const.
struct Extent {
  const char *first = nullptr, *last = nullptr;  // the last is behind the array
  bool written = false;
};

template <class T, int N>
Extent extent(const Array<T, N>& array) {
  const char* first = (const char*)array.data();
  return {first, first + array.nbytes(), !std::is_const_v<T>};
}

template <class A>
Extent extent(const std::optional<A>& array) {
  return array ? extent(*array) : Extent{};
}

// For all arrays of a kernel: what it writes must share no memory with another array, or it would read its own results
// and its threads would race.
template <class... Arrays>
void apart(const Arrays&... arrays) {
  const Extent all[] = {extent(arrays)...};
  for (const Extent& a : all)
    for (const Extent& b : all)
      require(&a == &b || !a.written || std::max(a.first, b.first) >= std::min(a.last, b.last),
              "outputs must not overlap other arrays");
}

template <class A>
void check_size(const A& a) {
  const size_t most = (size_t)1 << 30;
  require(a.size() > 0 && a.shape(0) < most && a.shape(1) < most, "maps must have 1 to 2^30 rows and columns");
}

template <class A>
void check_pair(const A& left, const A& right) {
  check_size(left);
  same_shape(left, right, "left and right must have the same shape");
}

inline void check_disparities(int first, int count) {
  require(std::abs((double)first) <= kLargest && count <= kLargest, "disparities must lie within 2^20");
}

// Census codes are whole numbers below 2^24.
inline void check_taps(const Row& taps) { require(taps.shape(0) >= 1 && taps.shape(0) < 4096, "1 to 4095 taps"); }

// The GIL released for the time of a kernel. If it runs on Python's main thread, where signals are handled, it asks now
// and then whether one has come: what its handler raises, such as KeyboardInterrupt, ends the kernel. Its outputs are
// then undefined.
class Released {
 public:
  Released() : before_(dualpix::pulse) {
    dualpix::pulse = {is_main() ? ask : nullptr, std::chrono::steady_clock::now() + dualpix::kPause};
    release_.emplace();
  }
  ~Released() { dualpix::pulse = before_; }
  Released(const Released&) = delete;

 private:
  // Asked every time: after a fork, another thread may be the main one.
  static bool is_main() {
    const nb::object main = nb::module_::import_("threading").attr("main_thread")().attr("ident");
    return nb::cast<unsigned long>(main) == PyThread_get_thread_ident();
  }
  static void ask() {
    nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals()) throw nb::python_error();
  }
  dualpix::Pulse before_;
  std::optional<nb::gil_scoped_release> release_;
};

// An argument without conversion. Results written to a converted copy of an output would be lost, and an integer would
// be accepted as an enum.
inline auto as_is(const char* name) { return nb::arg(name).noconvert(); }

// Each binds the kernels of one folder.
void bind_image(nb::module_& m);
void bind_match(nb::module_& m);
void bind_aggregate(nb::module_& m);
void bind_files(nb::module_& m);
void bind_filters(nb::module_& m);
void bind_baselines(nb::module_& m);
void bind_render(nb::module_& m);
