#include "common/pool.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

namespace dualpix {
namespace {

constexpr size_t kUnit = 1 << 16;  // ranges are multiples of this, which is a multiple of every page size in use
constexpr size_t kHuge = 1 << 21;  // a huge page: what the system is asked for is a multiple of it

size_t rounded(size_t bytes, size_t unit = kUnit) { return (std::max<size_t>(bytes, 1) + unit - 1) / unit * unit; }

#if (defined(__unix__) || defined(__APPLE__)) && !defined(DUALPIX_SANITIZE)
constexpr bool kReuses = true;

char* map(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(p, bytes, MADV_HUGEPAGE);
#endif
  return static_cast<char*>(p);
}

void unmap(char* p, size_t bytes) { munmap(p, bytes); }

// The system may take the whole huge pages of a range. Others would have to be split.
void offer(char* p, size_t bytes) {
#ifdef MADV_FREE
  const uintptr_t begin = ((uintptr_t)p + kHuge - 1) / kHuge * kHuge, end = ((uintptr_t)p + bytes) / kHuge * kHuge;
  if (begin < end) madvise((void*)begin, end - begin, MADV_FREE);
#endif
}
#else  // sanitizers find more if every array is an allocation of its own
constexpr bool kReuses = false;

char* map(size_t bytes) {
  void* p = std::malloc(bytes);
  if (!p) throw std::bad_alloc();
  return static_cast<char*>(p);
}
void unmap(char* p, size_t) { std::free(p); }
void offer(char*, size_t) {}
#endif

}  // namespace

void* Pool::take(size_t bytes) {
  bytes = rounded(bytes);
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range)
    if (range->second >= bytes && (best == free_.end() || range->second < best->second)) best = range;
  char* p;
  if (best != free_.end()) {
    p = cut(best, bytes);
  } else {
    release_down_to(std::max({peak_, before_, used_ + bytes}) - used_ - bytes);
    p = fresh(bytes);
  }
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return p;
}

// New memory from the system, in whole huge pages. What is left of the last one is free: the page is there anyway, and
// small arrays find room in it.
char* Pool::fresh(size_t bytes) {
  const size_t whole = kReuses ? rounded(bytes, kHuge) : bytes;
  char* const p = map(whole);
  if (whole > bytes) keep(p + bytes, whole - bytes);
  return p;
}

// Takes that many bytes off the end of a free range.
char* Pool::cut(std::map<char*, size_t>::iterator range, size_t bytes) noexcept {
  char* p = range->first + (range->second -= bytes);
  if (range->second == 0) free_.erase(range);
  unused_ -= bytes;
  return p;
}

void Pool::give(void* p, size_t bytes) noexcept {
  bytes = rounded(bytes);
  used_ -= bytes;
  if (!kReuses) return unmap(static_cast<char*>(p), bytes);
  if (calls_ == 0) offer(static_cast<char*>(p), bytes);
  keep(static_cast<char*>(p), bytes);
}

// Adds a range to the free ones, joined with its neighbours.
void Pool::keep(char* p, size_t bytes) noexcept {
  try {
    auto range = free_.emplace(p, bytes).first;
    unused_ += bytes;
    if (auto next = std::next(range); next != free_.end() && range->first + range->second == next->first) {
      range->second += next->second;
      free_.erase(next);
    }
    if (range != free_.begin())
      if (auto last = std::prev(range); last->first + last->second == range->first) {
        last->second += range->second;
        free_.erase(range);
      }
  } catch (const std::bad_alloc&) {
    unmap(p, bytes);
  }
}

void Pool::rest() noexcept {
  calls_ = std::max(calls_ - 1, 0);
  before_ = peak_;
  peak_ = used_;
  release_down_to(before_ - used_);
  for (const auto& [p, bytes] : free_) offer(p, bytes);
}

void Pool::release() noexcept {
  release_down_to(0);
  peak_ = before_ = used_;
}

// Small ranges first: large ones serve more requests.
void Pool::release_down_to(size_t most) noexcept {
  while (unused_ > most) {
    auto least = std::min_element(free_.begin(), free_.end(),
                                  [](const auto& a, const auto& b) { return a.second < b.second; });
    const size_t bytes = std::min(least->second, rounded(unused_ - most));
    unmap(cut(least, bytes), bytes);
  }
}

Pool& pool() {
  static Pool* const one = new Pool;  // never destroyed: arrays may outlive the module
  return *one;
}

}  // namespace dualpix
