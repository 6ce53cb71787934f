// Arrays that begin where a line of the cache does, so that the vectors in them do not lie in two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace dualpix {

constexpr size_t kCacheLine = 64;  // bytes

template <class T>
struct OnCacheLine {
  using value_type = T;
  OnCacheLine() = default;
  template <class U>
  OnCacheLine(const OnCacheLine<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(kCacheLine))); }
  void deallocate(T* p, size_t) { ::operator delete(p, std::align_val_t(kCacheLine)); }
  template <class U>
  bool operator==(const OnCacheLine<U>&) const { return true; }
  template <class U>
  bool operator!=(const OnCacheLine<U>&) const { return false; }
};

template <class T>
using Aligned = std::vector<T, OnCacheLine<T>>;

}  // namespace dualpix
