// Work split over threads that live as long as one call: nothing to keep, safe after fork.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace dualpix {

// Calls work(worker) for worker = 0..workers-1, each on a thread of its own, and waits.
template <class Work>
void run_workers(int workers, const Work& work) {
  std::vector<std::thread> others;
  others.reserve(workers);
  for (int worker = 1; worker < workers; ++worker) others.emplace_back([&work, worker] { work(worker); });
  work(0);
  for (std::thread& thread : others) thread.join();
}

// Calls body(i, scratch) for i = 0..count-1 in any order, with one make_scratch() a thread. What one i computes must
// not depend on the thread count.
template <class MakeScratch, class Body>
void parallel_for(int count, int threads, const MakeScratch& make_scratch, const Body& body) {
  std::atomic<int> next{0};
  run_workers(std::max(1, std::min(threads, count)), [&](int) {
    auto scratch = make_scratch();
    for (int i; (i = next.fetch_add(1)) < count;) body(i, scratch);
  });
}

}  // namespace dualpix
