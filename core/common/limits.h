// What the machine can do at best: bytes copied and multiply-adds computed, for kernels to be measured against.
#pragma once

#include <cstddef>

namespace dualpix {

// target = source, a part a thread.
void copy(const float* source, float* target, size_t count, int threads);

// At least `count` multiply-adds in vectors of 4, 8 or 16 floats, shared by the threads, as fast as they can be had:
// nothing but chains long enough in number to hide their latency. Returns what they add up to.
float multiply_adds(double count, int lanes, int threads);

}  // namespace dualpix
