// The module dualpix._core. The bindings check shapes and run the kernels with the GIL released.
#include "bindings/arrays.h"
#include "common/crew.h"
#include "common/limits.h"
#include "common/pool.h"

#include <memory>

#ifdef __GLIBC__  // defined by any standard header: keep this after the others
#include <malloc.h>
#endif

namespace {

constexpr int kMostThreads = 1024;  // these two measure, so they start as many as they are told

using Bytes = nb::ndarray<nb::numpy, unsigned char, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct Block {
  size_t count;
  void* p = nullptr;
  ~Block() {
    if (p) dualpix::pool().give(p, count);
  }
};

Bytes allocate(size_t count) {
  require(count >= 1 && count <= (size_t)1 << 44, "count must be 1 to 2^44");
  auto block = std::make_unique<Block>(Block{count});
  try {
    block->p = dualpix::pool().take(count);
  } catch (const std::bad_alloc&) {
    PyErr_Format(PyExc_MemoryError, "no memory for an array of %zu bytes", count);
    throw nb::python_error();
  }
  const nb::capsule owner(block.get(), [](void* held) noexcept { delete static_cast<Block*>(held); });
  return Bytes(block.release()->p, {count}, owner);
}

void begin() {
  dualpix::pool().begin();
  dualpix::begin_call();
}

void rest() {
  {
    const nb::gil_scoped_release release;  // threads end
    dualpix::end_call();
  }
  dualpix::pool().rest();
}

void release_free_memory() {
  dualpix::pool().release();
  Released release;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void copy(Map source, Output target, int threads) {
  same_shape(source, target, "target must have the shape of source");
  apart(source, target);
  require(threads >= 1 && threads <= kMostThreads, "threads must be 1 to 1024");
  Released release;
  dualpix::copy(source.data(), target.data(), source.size(), threads);
}

float multiply_adds(double count, int lanes, int threads) {
  require(count >= 0 && count <= 1e15, "count must be 0 to 1e15");
  require(lanes == 4 || lanes == 8 || lanes == 16, "lanes must be 4, 8 or 16");
  require(threads >= 1 && threads <= kMostThreads, "threads must be 1 to 1024");
  Released release;
  return dualpix::multiply_adds(count, lanes, threads);
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Kernels of dualpix: contiguous float32 maps in and out, the GIL released, the same bytes for any threads.";
  bind_image(m);
  bind_match(m);
  bind_aggregate(m);
  bind_files(m);
  bind_filters(m);
  bind_baselines(m);
  bind_render(m);
  m.def("allocate", allocate, "count"_a, "That many bytes of memory, not initialised; used again once freed.");
  m.def("begin", begin, "A call begins: memory that is freed and threads that are started are kept for its next kernels.");
  m.def("rest", rest, "A call has ended, on the thread that began it: its threads end, and the system may take its memory.");
  m.def("release_free_memory", release_free_memory, "Return freed memory to the system.");
  m.def("copy", copy, as_is("source"), as_is("target"), "threads"_a, "target = source.");
  m.def("multiply_adds", multiply_adds, "count"_a, "lanes"_a, "threads"_a,
        "Compute `count` multiply-adds in vectors of 4, 8 or 16 floats. Measures arithmetic; ignore the sum.");
}
