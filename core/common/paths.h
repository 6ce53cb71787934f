// The order in which threads visit an image whose paths run along rows and from row to row.
#pragma once

#include <cstdint>
#include <memory>

#include "common/parallel.h"
#include "common/rows.h"

namespace dualpix {

// Width of a strip of columns, in vectors. It must exceed kLanes, since the borders move by one vector a row (see
// Strips). It is small enough for the planes of the paths to stay in the L2 cache, and large enough for long runs of
// memory.
constexpr int kLeastVectors = 2 * kLanes, kMostVectors = 32 * kLanes;

constexpr int kSteps[3] = {0, 1, -1};  // dx from row to row of the vertical and the two diagonal paths

// The vector of pixels at x of a row of w pixels. Outside the image the outermost pixel is repeated.
DUALPIX_INLINE vfloat load_beside(const float* row, int x, int w) {
  if (x >= 0 && x + kLanes <= w) return load(row + x);
  vfloat v = {};
  for (int i = 0; i < kLanes; ++i) v[i] = row[std::min(std::max(x + i, 0), w - 1)];
  return v;
}

// The state of all paths that run from row to row: `planes` values for each path. The value of a path stays at the same
// address from row to row and is updated in place. `none` is the initial value.
class Front {
 public:
  Front(int h, int w, int planes, float none)
      : h_(h), planes_(planes), stride_((size_t)h + w + kLanes), data_(3 * planes * stride_, none) {}

  // Plane k of the paths with step kSteps[path], in the i-th row visited: the value at column x is at [x].
  float* plane(int path, int k, int i) {
    const int from = kSteps[path] > 0 ? h_ - 1 - i : kSteps[path] < 0 ? i : 0;
    return data_.data() + (path * planes_ + k) * stride_ + from;
  }

 private:
  int h_, planes_;
  size_t stride_;
  std::vector<float> data_;
};

// Strips of columns. Their borders move left by one vector a row, so that within a block of rows no strip depends on a
// strip to its right:
//
//   block 0    |   1    /   2    /   3    |   A strip is visited after the strip to its left in the same block
//              |  1   /   2    /   3      |
//   block 1    |   1    /   2    /   3    |   and after the strip to its right in the block above.
struct Strips {
  int w, vectors, count;

  Strips(int w, int threads) : w(w), vectors((w + kLanes - 1) / kLanes) {
    count = std::max(1, vectors / std::min(std::max(vectors / (4 * threads), kLeastVectors), kMostVectors));
  }
  // The right border of a strip, which is the left border of the next. Strips count from 1; border(0) is column 0.
  int border(int strip, int row) const {
    return strip == 0 ? 0 : strip == count ? w : ((int)((int64_t)vectors * strip / count) - row) * kLanes;
  }
};
static_assert(kLeastVectors > kLanes, "a strip must be wider than its border moves");

// Sweeps over the rows of an image, one behind the other: a sweep takes a block of kLanes rows when the sweep before it
// has left it, while its values are still in the cache. For each sweep and block, calls along(sweep, block, scratch) with
// one make_scratch() per thread. Then calls visit(sweep, i, begin, end) for each row i of the block, strip by strip, with
// the columns [begin, end) of the strip.
//
// Every worker has its own columns, so the state of their paths stays in the cache of its processor. It takes block after
// block, and in a block strip after strip. What a strip waits for comes before it in this order, so some worker can
// always go on. One thread visits an image narrower than four strips.
template <class MakeScratch, class Along, class Visit>
void sweep_rows(int sweeps, int h, int w, int threads, const MakeScratch& make_scratch, const Along& along,
                const Visit& visit) {
  threads = std::min(std::max(threads, 1), 1 << 10);
  const Strips strips(w, threads);
  const int blocks = (h + kLanes - 1) / kLanes;
  // Strip 0 stands for the paths along the rows of the block.
  std::unique_ptr<std::atomic<bool>[]> flags(new std::atomic<bool>[(size_t)sweeps * blocks * (strips.count + 1)]());
  auto done = [&](int sweep, int block, int strip) -> std::atomic<bool>& {
    return flags[((size_t)sweep * blocks + block) * (strips.count + 1) + strip];
  };
  auto wait = [&](int sweep, int block, int strip, const GoOn& go_on) {
    for (int spins = 0; !done(sweep, block, strip).load(std::memory_order_acquire); ++spins) {
      if (spins <= 1000) continue;
      if (!go_on()) return false;
      std::this_thread::yield();
    }
    return true;
  };
  // With two strips or more, a worker has work while its neighbour to the right visits the block above.
  run_workers(std::max(1, std::min(threads, strips.count / 2)), [&](int worker, int workers, const GoOn& go_on) {
    const int first = strips.count * worker / workers + 1, last = strips.count * (worker + 1) / workers;
    const int lag = workers;  // blocks from a sweep to the next
    auto scratch = make_scratch();
    std::vector<int> ahead(sweeps, worker);  // the next block whose rows this worker walks along, before others need them
    auto walk_along = [&](int sweep, int end) {
      for (int& block = ahead[sweep]; block < std::min(end, blocks); block += workers) {
        if (sweep > 0)
          for (int strip = 1; strip <= strips.count; ++strip)
            if (!wait(sweep - 1, block, strip, go_on)) return false;
        along(sweep, block, scratch);
        done(sweep, block, 0).store(true, std::memory_order_release);
      }
      return true;
    };
    auto visit_block = [&](int sweep, int block) {
      if (!wait(sweep, block, 0, go_on)) return false;
      for (int strip = first; strip <= last; ++strip) {
        if (!wait(sweep, block, strip - 1, go_on)) return false;
        if (block > 0 && !wait(sweep, block - 1, std::min(strip + 1, strips.count), go_on)) return false;
        for (int row = 0; row < std::min(kLanes, h - block * kLanes); ++row)
          visit(sweep, block * kLanes + row, strips.border(strip - 1, row), strips.border(strip, row));
        done(sweep, block, strip).store(true, std::memory_order_release);
      }
      return true;
    };
    for (int step = 0; step < blocks + (sweeps - 1) * lag && go_on(); ++step)
      for (int sweep = 0; sweep < sweeps; ++sweep) {
        const int block = step - sweep * lag;
        if (!walk_along(sweep, block + (sweep > 0 ? lag : 2 * workers))) return;
        if (block >= 0 && block < blocks && !visit_block(sweep, block)) return;
      }
  });
}

}  // namespace dualpix
