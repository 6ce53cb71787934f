// Threads that are kept for the kernels of one call. Starting a thread takes as long as a small kernel.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dualpix {

// Threads that wait for work of the thread that owns them.
class Crew {
 public:
  using Work = std::function<void(int)>;

  Crew();
  Crew(const Crew&) = delete;
  ~Crew();

  // Starts threads until there are `wanted`. Returns how many of these there are: fewer if the system starts no more.
  int hire(int wanted);
  // Calls work(i) for i = 0..count-1, each on a thread of its own. There must be as many. `work` must not throw.
  void start(int count, const Work& work);
  // Waits until that work is done.
  void wait();
  // A forked process has a copy of this object, but none of its threads.
  bool forked() const;

 private:
  // A thread, and the work that it has. Both sides wait for the other by looking at `work`.
  struct Hand {
    std::atomic<const Work*> work{nullptr};  // nullptr: done
    std::mutex mutex;
    std::condition_variable changed;
    std::thread thread;

    void set(const Work* value);
    template <class Done>
    void wait_until(const Done& done);
    void serve(int i);
  };
  std::vector<std::unique_ptr<Hand>> hands_;
  long process_;
};

// Between begin_call and end_call, which may be nested, kernels that this thread calls share one crew.
void begin_call();
void end_call() noexcept;
// That crew; nullptr outside of a call.
Crew* crew_of_call();

}  // namespace dualpix
