// Tiles in which the paths of an image run from row to row.
#pragma once

#include <cstdint>
#include <memory>

#include "common/parallel.h"
#include "common/rows.h"

namespace dualpix {

// Vectors a strip of columns: enough to go left by one a row within a block, and few enough for the paths' planes to
// stay in the first-level cache.
constexpr int kLeastVectors = 2 * kLanes, kMostVectors = 8 * kLanes;

constexpr int kSteps[3] = {0, 1, -1};  // along x, of the paths that run from row to row: straight on and diagonally

// A vector of pixels from x on of a row of w; beside the image the outermost pixel again.
DUALPIX_INLINE vfloat load_beside(const float* row, int x, int w) {
  if (x >= 0 && x + kLanes <= w) return load(row + x);
  vfloat v = {};
  for (int i = 0; i < kLanes; ++i) v[i] = row[std::min(std::max(x + i, 0), w - 1)];
  return v;
}

// Planes of what each path that runs from row to row has come to. A path keeps its place in them from row to row, so
// that it is changed where it is; `none` is what a path begins with.
class Front {
 public:
  Front(int h, int w, int planes, float none)
      : h_(h), planes_(planes), stride_((size_t)h + w + kLanes), data_(3 * planes * stride_, none) {}

  // A plane of the path with that step: the pixel at x in the i-th row of the way is at [x].
  float* plane(int path, int k, int i) {
    const int from = kSteps[path] > 0 ? h_ - 1 - i : kSteps[path] < 0 ? i : 0;
    return data_.data() + (path * planes_ + k) * stride_ + from;
  }

 private:
  int h_, planes_;
  size_t stride_;
  std::vector<float> data_;
};

// Strips of columns whose borders go left by a vector a row, so that within a block of rows a strip needs nothing of
// those to its right:
//
//   block 0    |   1    /   2    /   3    |   a strip is visited after the one to its left in the same block
//              |  1   /   2    /   3      |
//   block 1    |   1    /   2    /   3    |   and after the one to its right in the block before
struct Strips {
  int w, vectors, count;

  Strips(int w, int threads) : w(w), vectors((w + kLanes - 1) / kLanes) {
    count = std::max(1, vectors / std::min(std::max(vectors / (4 * threads), kLeastVectors), kMostVectors));
  }
  // The right border of a strip, which is the left one of the next; strip 0 ends where the image begins.
  int border(int strip, int row) const {
    return strip == 0 ? 0 : strip == count ? w : ((int)((int64_t)vectors * strip / count) - row) * kLanes;
  }
};
static_assert(kLeastVectors > kLanes, "a strip must be wider than its border moves");

// A strip of a block of rows; strip 0 is the walk along them.
struct Task {
  int block, strip;
};

// So many waves before its rows are visited a block is walked along them, which takes longer than a strip.
constexpr int kAhead = 6;

// All tasks in the order of their waves, 2 block + strip: those of one wave do not need each other.
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

// Calls along(block, scratch) for every block of kLanes rows, with one make_scratch() a thread, and then
// visit(i, begin, end) for the columns [begin, end) of each of its rows, the i-th of the way, strip by strip. Neither
// may throw: others would wait for ever. Images narrower than two strips are visited by one thread.
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
  auto wait = [&](int block, int strip) {
    for (int spins = 0; !done(block, strip).load(std::memory_order_acquire); ++spins)
      if (spins > 1000) std::this_thread::yield();
  };
  // Of a block's strips one at a time is visited, of the next block's one two strips behind.
  const int workers = std::min({threads, strips.count / 2 + 1, blocks});
  std::vector<decltype(make_scratch())> scratch(workers, make_scratch());
  std::atomic<size_t> next{0};
  run_workers(workers, [&](int worker, int) {
    for (size_t i; (i = next.fetch_add(1)) < tasks.size();) {
      const auto [block, strip] = tasks[i];
      if (strip == 0) {
        along(block, scratch[worker]);
      } else {
        wait(block, strip - 1);
        if (block > 0) wait(block - 1, std::min(strip + 1, strips.count));
        for (int row = 0; row < std::min(kLanes, h - block * kLanes); ++row)
          visit(block * kLanes + row, strips.border(strip - 1, row), strips.border(strip, row));
      }
      done(block, strip).store(true, std::memory_order_release);
    }
  });
}

}  // namespace dualpix
