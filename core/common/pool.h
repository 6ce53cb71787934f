// Memory of large arrays that is used again. A page that the system hands out is cleared first, which takes as long as
// writing it: without the pool, a quarter of the time of a map.
#pragma once

#include <cstddef>
#include <map>

namespace dualpix {

// A best-fit allocator. It holds no more than its users held at once since the rest before the last, or since a release, so that it never
// raises the peak. It has no lock: all calls are made with the GIL held, also those of a process that has just forked.
class Pool {
 public:
  // Throws std::bad_alloc.
  void* take(size_t bytes);
  void give(void* p, size_t bytes) noexcept;

  // A call has ended. Lets the system have what is free if it needs it; until then the next call may use it.
  void rest() noexcept;

  // Returns all that is free to the system now.
  void release() noexcept;

 private:
  void release_down_to(size_t most) noexcept;

  std::map<char*, size_t> free_;  // ranges by address; no two of them touch
  size_t used_ = 0, unused_ = 0;  // bytes
  size_t peak_ = 0, before_ = 0;  // most bytes used since the last rest, and before it
};

Pool& pool();

}  // namespace dualpix
