// Memory of large arrays that is used again. A page that the system hands out is cleared first, which takes as long as
// writing it: without the pool, a quarter of the time of a map.
#pragma once

#include <cstddef>
#include <map>

namespace dualpix {

// A best-fit allocator. What it holds, used or free, is at most what was used at one time in this call or in the one
// before, and the rest of one huge page: it hardly raises the peak. It has no lock: every caller holds the GIL, also in a
// process that has just forked.
class Pool {
 public:
  // Throws std::bad_alloc.
  void* take(size_t bytes);
  void give(void* p, size_t bytes) noexcept;

  // Between begin and rest, freed memory is kept. Afterwards the system may have it if it needs it; until then the next
  // call may use it.
  void begin() noexcept { ++calls_; }
  void rest() noexcept;

  // Returns all that is free to the system now.
  void release() noexcept;

 private:
  char* fresh(size_t bytes);
  void keep(char* p, size_t bytes) noexcept;
  char* cut(std::map<char*, size_t>::iterator range, size_t bytes) noexcept;
  void release_down_to(size_t most) noexcept;

  std::map<char*, size_t> free_;  // ranges by address; no two of them touch
  size_t used_ = 0, unused_ = 0;  // bytes
  size_t peak_ = 0, before_ = 0;  // most bytes used since the last rest, and before it
  int calls_ = 0;
};

Pool& pool();

}  // namespace dualpix
