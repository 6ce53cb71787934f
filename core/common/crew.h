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

  // Starts threads until there are `wanted`. Returns how many of the wanted threads exist: fewer if the system starts no
  // more.
  int hire(int wanted);
  // Calls work(i) for i = 0..count-1, each on a thread of its own. hire(count) must have returned count. `work` must not
  // throw.
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

// The crew for one kernel: that of the call, or one of its own. A kernel may be called within a kernel on the same
// thread, by a handler of a signal. Then the crew of the call is busy, and the inner kernel has its own.
class Lent {
 public:
  Lent();
  Lent(const Lent&) = delete;
  ~Lent();
  Crew& crew() { return shared_ ? *shared_ : own_; }

 private:
  Crew* shared_ = nullptr;
  Crew own_;
};

}  // namespace dualpix
