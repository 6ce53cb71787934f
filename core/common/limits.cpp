#include "common/limits.h"

#include <cstring>

#include "common/parallel.h"
#include "common/simd.h"

namespace dualpix {
namespace {

// A core that starts two multiply-adds a cycle, each with a latency of 4 or 5 cycles, needs 8 to 10 independent chains.
// 12 chains and two constants still fit into 16 registers.
constexpr int kChains = 12;

typedef float float4 __attribute__((vector_size(16)));
typedef float float16 __attribute__((vector_size(64)));

template <class Vector>
DUALPIX_INLINE float chains(int64_t steps) {
  Vector x[kChains];
  for (int i = 0; i < kChains; ++i) x[i] = Vector{} + (float)i;
  const Vector a = Vector{} + 0.5f, b = Vector{} + 1.0f;  // x stays between 0 and kChains
  for (int64_t step = 0; step < steps; ++step)
    for (int i = 0; i < kChains; ++i) x[i] = x[i] * a + b;
  Vector sum = {};
  for (int i = 0; i < kChains; ++i) sum += x[i];
  return sum[0];
}

DUALPIX_CLONES float chains_of_4(int64_t steps) { return chains<float4>(steps); }
DUALPIX_CLONES float chains_of_8(int64_t steps) { return chains<vfloat>(steps); }
DUALPIX_CLONES float chains_of_16(int64_t steps) { return chains<float16>(steps); }

}  // namespace

void copy(const float* source, float* target, size_t count, int threads) {
  run_workers(threads, [&](int worker, int workers, const GoOn&) {
    const size_t begin = count * worker / workers, end = count * (worker + 1) / workers;
    std::memcpy(target + begin, source + begin, (end - begin) * sizeof(float));
  });
}

float multiply_adds(double count, int lanes, int threads) {
  const auto run = lanes == 4 ? chains_of_4 : lanes == 8 ? chains_of_8 : chains_of_16;
  std::vector<float> sums(threads);
  run_workers(threads, [&](int worker, int workers, const GoOn&) {
    sums[worker] = run((int64_t)(count / (kChains * lanes * (double)workers)) + 1);
  });
  float sum = 0;
  for (float each : sums) sum += each;
  return sum;
}

}  // namespace dualpix
