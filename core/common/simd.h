// Vectors of eight or sixteen floats for any CPU. GCC and Clang compile them to SSE, AVX, AVX-512 or NEON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

// One binary for every x86-64: hot functions are compiled for several instruction sets, and one is chosen at load time.
// Sanitizers start after that choice, so they get one version only.
#if defined(DUALPIX_SANITIZE)
#define DUALPIX_CLONES
#elif defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define DUALPIX_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#define DUALPIX_V4
#elif defined(__x86_64__) && defined(__gnu_linux__)
#define DUALPIX_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define DUALPIX_CLONES
#endif
// Helpers are inlined into every clone, so that they are compiled for its instruction set.
#define DUALPIX_INLINE static inline __attribute__((always_inline))

namespace dualpix {

constexpr int kLanes = 8;
typedef float vfloat __attribute__((vector_size(4 * kLanes)));
typedef int32_t vint __attribute__((vector_size(4 * kLanes)));
typedef uint32_t vuint __attribute__((vector_size(4 * kLanes)));  // for sums that may wrap around
// Vectors of the same size of small whole numbers.
typedef uint8_t vbyte __attribute__((vector_size(4 * kLanes)));
typedef int16_t vshort __attribute__((vector_size(4 * kLanes)));
typedef uint16_t vword __attribute__((vector_size(4 * kLanes)));
typedef int64_t vlong __attribute__((vector_size(4 * kLanes)));
constexpr int kShorts = 2 * kLanes, kBytes = 4 * kLanes, kLongs = kLanes / 2;

// Vectors of sixteen floats. Sums and products of them become two instructions where vectors are shorter. Comparisons
// become one for each lane there (GCC 12), so functions with these are compiled twice: for vectors of eight and every
// processor, and for the longest vectors, of sixteen, and AVX-512. kHasWide tells which to call.
constexpr int kWide = 2 * kLanes;
typedef float vwide __attribute__((vector_size(4 * kWide)));
typedef int32_t vwideint __attribute__((vector_size(4 * kWide)));
typedef uint32_t vwideuint __attribute__((vector_size(4 * kWide)));
#ifdef DUALPIX_V4
#define DUALPIX_WIDE __attribute__((target("arch=x86-64-v4")))
typedef vwide vlongest;
inline const bool kHasWide = (__builtin_cpu_init(), __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"));
#else
#define DUALPIX_WIDE
typedef vfloat vlongest;
constexpr bool kHasWide = false;
#endif

template <class V>
constexpr int lanes_of = sizeof(V) / sizeof(float);
template <class V>
using ints_of = std::conditional_t<lanes_of<V> == kWide, vwideint, vint>;
template <class V>
using uints_of = std::conditional_t<lanes_of<V> == kWide, vwideuint, vuint>;

template <class V>
DUALPIX_INLINE V splat_as(float s) {
  return V{} + s;
}

DUALPIX_INLINE vfloat splat(float s) { return vfloat{} + s; }

DUALPIX_INLINE vfloat load(const float* p) {
  vfloat v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

DUALPIX_INLINE void store(float* p, vfloat v) { __builtin_memcpy(p, &v, sizeof v); }

// Any vector V, from and to numbers of any type.
template <class V, class T>
DUALPIX_INLINE V load_as(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

template <class V, class T>
DUALPIX_INLINE void store_as(T* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// Loads the first n lanes of a vector, 1 <= n. The others are zero.
template <class V>
DUALPIX_INLINE V load_part(const float* p, int n) {
  if (n == lanes_of<V>) return load_as<V>(p);
  V v = {};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
}

template <class V>
DUALPIX_INLINE void store_part(float* p, V v, int n) {
  if (n == lanes_of<V>) return store_as(p, v);
  for (int i = 0; i < n; ++i) p[i] = v[i];
}

// The pixels at p, as floats. GCC makes one instruction of the loop over all lanes.
template <class V>
DUALPIX_INLINE V load_floats(const float* p) {
  return load_as<V>(p);
}

template <class V>
DUALPIX_INLINE V load_floats(const uint8_t* p) {
  ints_of<V> numbers;
  for (int i = 0; i < lanes_of<V>; ++i) numbers[i] = p[i];
  return __builtin_convertvector(numbers, V);
}

// The vector of pixels at x of a row of w pixels. Outside the image the outermost pixel is repeated.
template <class V, class T>
DUALPIX_INLINE V load_beside(const T* row, int x, int w) {
  if (x >= 0 && x + lanes_of<V> <= w) return load_floats<V>(row + x);
  T v[lanes_of<V>];
  for (int i = 0; i < lanes_of<V>; ++i) v[i] = row[x + i < 0 ? 0 : x + i < w ? x + i : w - 1];
  return load_floats<V>(v);
}

DUALPIX_INLINE vfloat load(const float* p, int n) { return load_part<vfloat>(p, n); }

DUALPIX_INLINE void store(float* p, vfloat v, int n) { store_part(p, v, n); }

template <class Mask, class V>
DUALPIX_INLINE V select(Mask mask, V yes, V no) {
  return mask ? yes : no;
}

// Whether a comparison is true in any lane.
template <class Mask>
DUALPIX_INLINE bool any(const Mask& mask) {
  uint64_t pairs[sizeof mask / sizeof(uint64_t)], all = 0;
  __builtin_memcpy(pairs, &mask, sizeof mask);
  for (uint64_t pair : pairs) all |= pair;
  return all != 0;
}

template <class V>
DUALPIX_INLINE V max(V a, V b) {
  return select(a > b, a, b);
}

template <class V>
DUALPIX_INLINE V min(V a, V b) {
  return select(a < b, a, b);
}

// a becomes the lesser and b the greater of the two.
template <class V>
DUALPIX_INLINE void sort(V& a, V& b) {
  const V lesser = a < b ? a : b;
  b = a < b ? b : a;
  a = lesser;
}

// 2^x for x < 127, relative error 3e-7. For x < -126 the result is 2^-126.
template <class V>
DUALPIX_INLINE V exp2(V x) {
  // x = n + f, |f| <= 1/2. Adding 1.5 * 2^23 rounds to the nearest integer n and leaves it in the lowest bits.
  const V magic = splat_as<V>(12582912.0f), shifted = max(x, splat_as<V>(-126.0f)) + magic;
  const V f = max(x, splat_as<V>(-126.0f)) - (shifted - magic);
  V e = splat_as<V>(1.32764715e-3f);
  e = e * f + 9.67554133e-3f;
  e = e * f + 5.55071327e-2f;
  e = e * f + 2.40221197e-1f;
  e = e * f + 6.93146967e-1f;
  e = e * f + 1.00000007f;
  return (V)((uints_of<V>)e + ((uints_of<V>)shifted << 23));
}

// log2(x) for normal x > 0, error 4e-6.
DUALPIX_INLINE vfloat log2(vfloat x) {
  // x = 2^n m, m in [1/sqrt 2, sqrt 2);  t = (m - 1) / (m + 1);  ln m = 2 (t + t^3 / 3 + t^5 / 5 + t^7 / 7 + ...)
  const vuint bits = (vuint)x;
  const vint n = (vint)(bits - 0x3f3504f3u) >> 23;
  const vfloat m = (vfloat)(bits - ((vuint)n << 23)), t = (m - 1.0f) / (m + 1.0f), t2 = t * t;
  const vfloat series = ((t2 * (1.0f / 7) + 1.0f / 5) * t2 + 1.0f / 3) * t2 + 1.0f;
  return __builtin_convertvector(n, vfloat) + 2.88539008f * t * series;
}

// exp(x) for x <= 0, relative error 2e-7 (1 + |x|). For x < -87 the result is 1e-38.
template <class V>
DUALPIX_INLINE V exp_negative(V x) {
  return exp2(1.44269504f * x);
}

// a(0) + a(1), a(2) + a(3) ... b(6) + b(7)
DUALPIX_INLINE vfloat pair_sums(vfloat a, vfloat b) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14) +
         __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
#else  // GCC before 12
  vfloat sums;
  for (int i = 0; i < kLanes / 2; ++i) sums[i] = a[2 * i] + a[2 * i + 1], sums[i + kLanes / 2] = b[2 * i] + b[2 * i + 1];
  return sums;
#endif
}

// Transposes a square of 8 x 8 pixels.
DUALPIX_INLINE void transpose(vfloat v[kLanes]) {
#if __has_builtin(__builtin_shufflevector)
  vfloat a[kLanes], b[kLanes];
  for (int i = 0; i < kLanes; i += 2) {
    a[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < kLanes; i += 4)
    for (int k = 0; k < 2; ++k) {
      b[i + k] = __builtin_shufflevector(a[i + k], a[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      b[i + k + 2] = __builtin_shufflevector(a[i + k], a[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    v[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#else  // GCC before 12
  for (int i = 1; i < kLanes; ++i)
    for (int k = 0; k < i; ++k) {
      const float swapped = v[i][k];
      v[i][k] = v[k][i];
      v[k][i] = swapped;
    }
#endif
}

}  // namespace dualpix
