// Work split over threads that live as long as one call: nothing to keep, safe after fork.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace dualpix {

// Calls work(worker, workers) for worker = 0..workers-1, each on a thread of its own, and waits. There are as many
// workers as threads could be had, up to `wanted`. What a worker throws is thrown again here.
template <class Work>
void run_workers(int wanted, const Work& work) {
  std::exception_ptr error;
  std::mutex mutex;
  auto guarded = [&](int worker, int workers) {
    try {
      work(worker, workers);
    } catch (...) {
      std::lock_guard<std::mutex> lock(mutex);
      error = std::current_exception();
    }
  };
  std::promise<int> number;
  std::shared_future<int> workers = number.get_future().share();
  std::vector<std::thread> others;
  try {
    for (int worker = 1; worker < wanted; ++worker)
      others.emplace_back([&guarded, workers, worker] { guarded(worker, workers.get()); });
  } catch (const std::exception&) {
    // No more threads to be had: those that started do all the work.
  }
  number.set_value((int)others.size() + 1);
  guarded(0, workers.get());
  for (std::thread& thread : others) thread.join();
  if (error) std::rethrow_exception(error);
}

// Calls body(i, scratch) for i = 0..count-1 in any order, with one make_scratch() a thread. What one i computes must
// not depend on the thread count.
template <class MakeScratch, class Body>
void parallel_for(int count, int threads, const MakeScratch& make_scratch, const Body& body) {
  std::atomic<int> next{0};
  run_workers(std::max(1, std::min(threads, count)), [&](int, int) {
    auto scratch = make_scratch();
    for (int i; (i = next.fetch_add(1)) < count;) body(i, scratch);
  });
}

// Calls body(begin, n) for parts of `count` pixels, where rows do not matter.
template <class Body>
void parallel_pixels(size_t count, int threads, const Body& body) {
  constexpr size_t kPart = 1 << 16;
  parallel_for((int)((count + kPart - 1) / kPart), threads, [] { return 0; }, [&](int i, int) {
    const size_t begin = i * kPart;
    body(begin, (int)std::min(kPart, count - begin));
  });
}

}  // namespace dualpix
