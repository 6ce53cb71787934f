// The limits of the machine, memory bandwidth and arithmetic. The bench compares the kernels with them.
#pragma once

#include <cstddef>

namespace dualpix {

// target = source. Every thread copies one part.
void copy(const float* source, float* target, size_t count, int threads);

// At least `count` multiply-adds in vectors of 4, 8 or 16 floats, shared by the threads, in enough independent chains
// to hide the latency. Returns the sum of the results, so that the compiler cannot drop them.
float multiply_adds(double count, int lanes, int threads);

}  // namespace dualpix
