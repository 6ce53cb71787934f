// The order in which threads visit an image whose paths run along rows and from row to row.
#pragma once

#include <cstdint>
#include <vector>

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

// How far a worker is in a sweep. Each has lines of the cache of its own, so that workers do not write to the same one.
struct alignas(128) Progress {
  std::atomic<int> along{0};    // blocks whose rows it has walked along
  std::atomic<int> visited{0};  // strips that it has visited

  // Waits for one of the two; false if the work shall end.
  static bool wait(const std::atomic<int>& done, int enough, const GoOn& go_on) {
    for (int spins = 0; done.load(std::memory_order_acquire) < enough; ++spins) {
      if (spins <= 1000) continue;
      if (!go_on()) return false;
      std::this_thread::yield();
    }
    return true;
  }
};

// Sweeps over the rows of an image, one behind the other: a sweep takes a block of kLanes rows when the sweep before it
// has left it, while its values are still in the cache (if there are few workers: the sweeps are `workers` blocks apart). For each sweep and block, calls along(sweep, block, scratch) with
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
  // With two strips or more, a worker has work while its neighbour to the right visits the block above.
  const int most = std::max(1, std::min(threads, strips.count / 2));
  std::vector<Progress> progress((size_t)sweeps * most);
  run_workers(most, [&](int worker, int workers, const GoOn& go_on) {
    auto of = [&](int sweep, int other) -> Progress& { return progress[(size_t)sweep * most + other]; };
    auto first = [&](int other) { return strips.count * other / workers; };  // of the strips of a worker
    auto count = [&](int other) { return first(other + 1) - first(other); };
    auto scratch = make_scratch();

    // The workers take turns with the blocks.
    auto walk_along = [&](int sweep, int end) {
      std::atomic<int>& along_so_far = of(sweep, worker).along;
      int done = along_so_far.load(std::memory_order_relaxed);  // written by this worker alone
      for (int block; (block = done * workers + worker) < std::min(end, blocks);) {
        for (int other = 0; sweep > 0 && other < workers; ++other)
          if (!Progress::wait(of(sweep - 1, other).visited, (block + 1) * count(other), go_on)) return false;
        along(sweep, block, scratch);
        along_so_far.store(++done, std::memory_order_release);
      }
      return true;
    };

    auto visit_block = [&](int sweep, int block) {
      const int own = count(worker), left = worker - 1, right = worker + 1;
      if (!Progress::wait(of(sweep, block % workers).along, block / workers + 1, go_on)) return false;
      if (left >= 0 && !Progress::wait(of(sweep, left).visited, (block + 1) * count(left), go_on)) return false;
      for (int i = 0; i < own; ++i) {
        if (i + 1 == own && right < workers && block > 0 &&
            !Progress::wait(of(sweep, right).visited, (block - 1) * count(right) + 1, go_on))
          return false;
        const int strip = first(worker) + i + 1;
        for (int row = 0; row < std::min(kLanes, h - block * kLanes); ++row)
          visit(sweep, block * kLanes + row, strips.border(strip - 1, row), strips.border(strip, row));
        of(sweep, worker).visited.store(block * own + i + 1, std::memory_order_release);
      }
      return true;
    };

    const int lag = workers;  // blocks from a sweep to the next
    for (int step = 0; step < blocks + (sweeps - 1) * lag && go_on(); ++step)
      for (int sweep = 0; sweep < sweeps; ++sweep) {
        const int block = step - sweep * lag;
        // Worker k is about k blocks behind the first. So all walk along rows at about the same time, and a block of a
        // later sweep is begun when the last worker should have left it.
        const int ahead = worker + 1 + (sweep > 0 ? 0 : workers);
        if (!walk_along(sweep, block + ahead)) return;
        if (block >= 0 && block < blocks && !visit_block(sweep, block)) return;
      }
  });
}

}  // namespace dualpix
