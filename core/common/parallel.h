// Work split over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "common/crew.h"
#include "common/stop.h"

namespace dualpix {

// Tells a worker whether to go on with its next piece of work. It stops when another worker has failed. The worker on
// the calling thread also looks for a stop from outside, which it throws.
class GoOn {
 public:
  GoOn(const std::atomic<bool>& failed, int worker) : failed_(failed), calling_(worker == 0) {}
  bool operator()() const {
    if (calling_) look_for_stop();
    return !failed_.load(std::memory_order_relaxed);
  }

 private:
  const std::atomic<bool>& failed_;
  bool calling_;
};

// Calls work(worker, workers, go_on) for worker = 0..workers-1, each on its own thread, and waits. There are `wanted`
// workers, or fewer if the system does not start that many threads. An exception of a worker is thrown again here; the
// others end when they ask go_on(), at the latest every few milliseconds.
template <class Work>
void run_workers(int wanted, const Work& work) {
  std::exception_ptr error;
  std::mutex mutex;
  std::atomic<bool> failed{false};
  auto guarded = [&](int worker, int workers) {
    try {
      work(worker, workers, GoOn(failed, worker));
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
  };
  Lent lent;
  Crew& crew = lent.crew();
  const int others = crew.hire(wanted - 1);
  const Crew::Work rest = [&](int i) { guarded(i + 1, others + 1); };
  crew.start(others, rest);
  guarded(0, others + 1);
  crew.wait();
  if (error) std::rethrow_exception(error);
}

// The pieces 0..count-1 of a kernel. Every worker begins with its own part of them, and helps the others when that is
// done. All kernels split an image alike, so a worker finds in its cache what it wrote in the kernel before. Workers
// that take neighbouring pieces in turns would fetch it from each other.
class Pieces {
 public:
  Pieces(int count, int workers) : parts_(workers) {
    for (int64_t k = 0; k < workers; ++k) parts_[k].left = pack(count * k / workers, count * (k + 1) / workers);
  }
  // The next piece for this worker, -1 if none is left.
  int take(int worker) {
    const int workers = (int)parts_.size();
    int piece = parts_[worker].take(true);
    for (int k = 1; piece < 0 && k < workers; ++k) piece = parts_[(worker + k) % workers].take(false);
    return piece;
  }

 private:
  static uint64_t pack(uint64_t begin, uint64_t end) { return begin << 32 | end; }

  // The pieces [begin, end) that are left of a part, in one number. Each part has a line of the cache of its own.
  struct alignas(128) Part {
    std::atomic<uint64_t> left{0};

    // Its owner takes the first of them, others take the last.
    int take(bool first) {
      for (uint64_t seen = left.load(std::memory_order_relaxed);;) {
        const uint64_t begin = seen >> 32, end = seen & 0xffffffff;
        if (begin == end) return -1;
        const uint64_t rest = first ? pack(begin + 1, end) : pack(begin, end - 1);
        if (left.compare_exchange_weak(seen, rest, std::memory_order_relaxed)) return (int)(first ? begin : end - 1);
      }
    }
  };
  std::vector<Part> parts_;
};

// Calls body(i, scratch) for i = 0..count-1 in any order, with one make_scratch() per thread. The result for
// one i must not depend on the number of threads.
template <class MakeScratch, class Body>
void parallel_for(int count, int threads, const MakeScratch& make_scratch, const Body& body) {
  const int wanted = std::max(1, std::min(threads, count));
  Pieces pieces(count, wanted);
  run_workers(wanted, [&](int worker, int, const GoOn& go_on) {
    auto scratch = make_scratch();
    for (int i; go_on() && (i = pieces.take(worker)) >= 0;) body(i, scratch);
  });
}

// Splits `count` pixels into parts, regardless of rows, and calls body(begin, n) for each part.
template <class Body>
void parallel_pixels(size_t count, int threads, const Body& body) {
  constexpr size_t kPart = 1 << 16;
  parallel_for((int)((count + kPart - 1) / kPart), threads, [] { return 0; }, [&](int i, int) {
    const size_t begin = i * kPart;
    body(begin, (int)std::min(kPart, count - begin));
  });
}

}  // namespace dualpix
