// What every walk along the paths of an image needs: rows abreast, and a front that goes from row to row.
#pragma once

#include <memory>

#include "parallel.h"
#include "simd.h"

namespace dualpix {

// n rows transposed, one a lane: column x is the vector at x * kLanes.
DUALPIX_INLINE void gather(const float* rows, int w, int n, float* columns) {
  int x = 0;
  for (; n == kLanes && x + kLanes <= w; x += kLanes) {
    vfloat v[kLanes];
    for (int i = 0; i < kLanes; ++i) v[i] = load(rows + (size_t)i * w + x);
    transpose(v);
    for (int i = 0; i < kLanes; ++i) store(columns + (size_t)(x + i) * kLanes, v[i]);
  }
  for (; x < w; ++x)
    for (int lane = 0; lane < n; ++lane) columns[(size_t)x * kLanes + lane] = rows[(size_t)lane * w + x];
}

DUALPIX_INLINE void scatter(const float* columns, int w, int n, float* rows) {
  int x = 0;
  for (; n == kLanes && x + kLanes <= w; x += kLanes) {
    vfloat v[kLanes];
    for (int i = 0; i < kLanes; ++i) v[i] = load(columns + (size_t)(x + i) * kLanes);
    transpose(v);
    for (int i = 0; i < kLanes; ++i) store(rows + (size_t)i * w + x, v[i]);
  }
  for (; x < w; ++x)
    for (int lane = 0; lane < n; ++lane) rows[(size_t)lane * w + x] = columns[(size_t)x * kLanes + lane];
}

constexpr int kSteps[3] = {0, 1, -1};  // along x, of the paths that run from row to row: straight on and diagonally

constexpr int kGuide = 0;      // the plane of a front that holds the guide
constexpr float kFar = 1e9f;   // the guide where there is no image: no edge weight is left of anything from there

// Planes of one row with a margin of a vector, so that a diagonal may read beside the image.
class Front {
 public:
  Front(int w, int planes) : stride_(w + 3 * kLanes), data_((size_t)planes * stride_) {
    std::fill_n(data_.begin(), stride_, kFar);
  }
  float* plane(int k) { return data_.data() + (size_t)k * stride_ + kLanes; }

 private:
  int stride_;
  std::vector<float> data_;
};

// Calls visit(y, begin, end, before, now) for the columns [begin, end) of every row, downwards or upwards, with the
// fronts of the row before and of this one. Each worker owns a strip of columns; before a row it waits until both
// neighbours have finished the one before, from which diagonals cross over.
template <class Visit>
void sweep_rows(int h, int w, int planes, bool down, int threads, const Visit& visit) {
  Front fronts[2] = {Front(w, planes), Front(w, planes)};
  const int vectors = (w + kLanes - 1) / kLanes;
  const int most = std::max(1, std::min(threads, vectors / 16));
  struct alignas(64) Progress {
    std::atomic<int> rows{0};
  };
  std::unique_ptr<Progress[]> done(new Progress[most]);
  auto wait = [&](int neighbour, int rows) {
    for (int spins = 0; done[neighbour].rows.load(std::memory_order_acquire) < rows; ++spins)
      if (spins > 1000) std::this_thread::yield();
  };
  run_workers(most, [&](int worker, int workers) {
    const int begin = (int)((long)vectors * worker / workers) * kLanes;
    const int end = std::min(w, (int)((long)vectors * (worker + 1) / workers) * kLanes);
    for (int i = 0; i < h; ++i) {
      if (worker > 0) wait(worker - 1, i);
      if (worker + 1 < workers) wait(worker + 1, i);
      visit(down ? i : h - 1 - i, begin, end, fronts[(i + 1) % 2], fronts[i % 2]);
      done[worker].rows.store(i + 1, std::memory_order_release);
    }
  });
}

}  // namespace dualpix
