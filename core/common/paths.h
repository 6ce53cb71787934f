// The order in which threads visit an image whose paths run along rows and from row to row.
#pragma once

#include <cstdint>
#include <vector>

#include "common/parallel.h"
#include "common/rows.h"
#include "common/wait.h"

namespace dualpix {

// Width of a strip of columns, in vectors. It must exceed kLanes, since the borders move by one vector a row (see
// Strips). It is small enough for the planes of the paths to stay in the L2 cache, and large enough for long runs of
// memory.
constexpr int kLeastVectors = 2 * kLanes, kMostVectors = 32 * kLanes;

constexpr int kSteps[3] = {0, 1, -1};  // dx from row to row of the vertical and the two diagonal paths

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

// Blocks of rows that a worker takes at once. The state of the paths goes to another processor after that many. A block
// is one strip behind the block above, so many workers find work only if each takes few. The maps of these rows should
// stay in the L2 cache, so rows that are long count, too. Three blocks of long rows do not, but then two workers that
// share no cache hand over the state less often.
constexpr int kTaken = 2, kTakenByFew = 3, kTakenIfNarrow = 4, kNarrow = 4096;

// Sweeps over the rows of an image, one behind the other. A free worker takes the next few blocks of kLanes rows. For
// each sweep it calls along(sweep, block, scratch) for these blocks, with one make_scratch() per thread. Then it calls
// visit(sweep, i, begin, end) for each row i, strip by strip, with the columns [begin, end) of the strip. So the maps of a
// block stay in the cache of one processor, and a sweep finds there what the sweep before it left.
//
// What a strip waits for belongs to blocks that were taken before, so some worker can always go on. One thread visits an
// image narrower than four strips.
template <class MakeScratch, class Along, class Visit>
void sweep_rows(int sweeps, int h, int w, int threads, const MakeScratch& make_scratch, const Along& along,
                const Visit& visit) {
  threads = std::min(std::max(threads, 1), 1 << 10);
  const Strips strips(w, threads);
  const int most = threads > 2 ? kTaken : w > kNarrow ? kTakenByFew : kTakenIfNarrow;
  const int blocks = (h + kLanes - 1) / kLanes, turns = (blocks + most - 1) / most;
  auto visit_strip = [&](int sweep, int block, int strip) {
    for (int row = 0; row < std::min(kLanes, h - block * kLanes); ++row)
      visit(sweep, block * kLanes + row, strips.border(strip - 1, row), strips.border(strip, row));
  };
  // Strips of the last block of a turn that are visited. Each has a line of the cache of its own.
  struct alignas(128) Visited {
    std::atomic<int> strips{0};
  };
  std::vector<Visited> visited((size_t)sweeps * (turns + 1));
  for (int sweep = 0; sweep < sweeps; ++sweep) visited[(size_t)sweep * (turns + 1)].strips = strips.count;
  std::atomic<int> next{0};
  // A worker is a few strips behind the one before it.
  run_workers(std::max(1, std::min({threads, strips.count / 2, turns})), [&](int, int, const GoOn& go_on) {
    auto scratch = make_scratch();
    for (int turn; go_on() && (turn = next.fetch_add(1)) < turns;)
      for (int sweep = 0; sweep < sweeps && go_on(); ++sweep) {
        Visited* const above = &visited[(size_t)sweep * (turns + 1) + turn];
        const int first = turn * most, taken = std::min(most, blocks - first);
        for (int k = 0; k < taken; ++k) along(sweep, first + k, scratch);
        // A block follows the block above it, one strip behind.
        for (int step = 1; step < strips.count + taken; ++step) {
          const int needed = std::min(step + 1, strips.count);
          if (!wait_for([&] { return above->strips.load(std::memory_order_acquire) >= needed; }, go_on)) return;
          for (int k = 0; k < taken; ++k)
            if (step - k >= 1 && step - k <= strips.count) visit_strip(sweep, first + k, step - k);
          above[1].strips.store(step + 1 - taken, std::memory_order_release);
        }
      }
  });
}

}  // namespace dualpix
