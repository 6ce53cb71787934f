// Eight floats at a time, on any CPU: GCC and Clang lower these vectors to SSE, AVX, AVX-512 or NEON.
#pragma once

#include <cstddef>
#include <cstdint>

// One binary for every x86-64: hot functions are compiled several times and chosen when the module loads.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define DUALPIX_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#elif defined(__x86_64__) && defined(__gnu_linux__)
#define DUALPIX_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define DUALPIX_CLONES
#endif
// Helpers must be inlined into each clone to be compiled for its instruction set.
#define DUALPIX_INLINE static inline __attribute__((always_inline))

namespace dualpix {

constexpr int kLanes = 8;
typedef float vfloat __attribute__((vector_size(4 * kLanes)));
typedef int32_t vint __attribute__((vector_size(4 * kLanes)));

DUALPIX_INLINE vfloat splat(float s) { return vfloat{} + s; }

DUALPIX_INLINE vfloat load(const float* p) {
  vfloat v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

DUALPIX_INLINE void store(float* p, vfloat v) { __builtin_memcpy(p, &v, sizeof v); }

// The first n lanes only, n in 1..kLanes; the others read as zero.
DUALPIX_INLINE vfloat load(const float* p, int n) {
  if (n == kLanes) return load(p);
  vfloat v = {};
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
}

DUALPIX_INLINE void store(float* p, vfloat v, int n) {
  if (n == kLanes) return store(p, v);
  for (int i = 0; i < n; ++i) p[i] = v[i];
}

DUALPIX_INLINE vfloat select(vint mask, vfloat yes, vfloat no) {
  return (vfloat)((mask & (vint)yes) | (~mask & (vint)no));
}

DUALPIX_INLINE vfloat max(vfloat a, vfloat b) { return select(a > b, a, b); }

// exp(x) for x <= 0, to 3 ulp; anything below -87 gives exp(-87), which is 1e-38.
DUALPIX_INLINE vfloat exp_negative(vfloat x) {
  x = max(x, splat(-87.0f));
  // x = n ln 2 + f, |f| <= ln 2 / 2: adding 1.5 * 2^23 rounds to the nearest integer.
  const vfloat magic = splat(12582912.0f);
  const vfloat n = (x * 1.44269504f + magic) - magic;
  const vfloat f = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  vfloat e = splat(1.0f / 720);
  e = e * f + 1.0f / 120;
  e = e * f + 1.0f / 24;
  e = e * f + 1.0f / 6;
  e = e * f + 0.5f;
  e = e * f + 1.0f;
  e = e * f + 1.0f;
  const vint power = (__builtin_convertvector(n, vint) + 127) << 23;
  return e * (vfloat)power;
}

}  // namespace dualpix
