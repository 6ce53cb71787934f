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

// One strip of a block of rows. Strip 0 stands for the horizontal paths of the block.
struct Task {
  int block, strip;
};

// The horizontal paths of a block take longer than a strip: they start this many waves before its first strip.
constexpr int kAhead = 6;

// All tasks ordered by wave = 2 block + strip. Tasks of one wave do not depend on each other.
inline std::vector<Task> schedule(int blocks, int strips) {
  std::vector<Task> tasks;
  tasks.reserve((size_t)blocks * (strips + 1));
  for (int wave = -kAhead; wave <= 2 * (blocks - 1) + strips; ++wave) {
    const int ahead = wave + kAhead;
    if (ahead % 2 == 0 && ahead / 2 < blocks) tasks.push_back({ahead / 2, 0});
    for (int block = std::max(0, (wave - strips + 1) / 2); block < blocks && 2 * block < wave; ++block)
      tasks.push_back({block, wave - 2 * block});
  }
  return tasks;
}

// Calls along(block, scratch) for every block of kLanes rows, with one make_scratch() per thread. Then calls
// visit(i, begin, end) for each row i of the block, strip by strip, with the columns [begin, end) of the strip. One
// thread visits an image narrower than two strips.
template <class MakeScratch, class Along, class Visit>
void sweep_rows(int h, int w, int threads, const MakeScratch& make_scratch, const Along& along, const Visit& visit) {
  threads = std::min(std::max(threads, 1), 1 << 10);
  const Strips strips(w, threads);
  const int blocks = (h + kLanes - 1) / kLanes;
  const std::vector<Task> tasks = schedule(blocks, strips.count);
  std::unique_ptr<std::atomic<bool>[]> flags(new std::atomic<bool>[tasks.size()]());
  auto done = [&](int block, int strip) -> std::atomic<bool>& {
    return flags[(size_t)block * (strips.count + 1) + strip];
  };
  auto wait = [&](int block, int strip, const GoOn& go_on) {
    for (int spins = 0; !done(block, strip).load(std::memory_order_acquire); ++spins) {
      if (spins <= 1000) continue;
      if (!go_on()) return false;
      std::this_thread::yield();
    }
    return true;
  };
  // At any time one strip of a block is visited, and the next block is two strips behind: more workers have no work.
  const int workers = std::min({threads, strips.count / 2 + 1, blocks});
  std::vector<decltype(make_scratch())> scratch(workers, make_scratch());
  std::atomic<size_t> next{0};
  run_workers(workers, [&](int worker, int, const GoOn& go_on) {
    for (size_t i; go_on() && (i = next.fetch_add(1)) < tasks.size();) {
      const auto [block, strip] = tasks[i];
      if (strip == 0) {
        along(block, scratch[worker]);
      } else {
        if (!wait(block, strip - 1, go_on)) return;
        if (block > 0 && !wait(block - 1, std::min(strip + 1, strips.count), go_on)) return;
        for (int row = 0; row < std::min(kLanes, h - block * kLanes); ++row)
          visit(block * kLanes + row, strips.border(strip - 1, row), strips.border(strip, row));
      }
      done(block, strip).store(true, std::memory_order_release);
    }
  });
}

}  // namespace dualpix
