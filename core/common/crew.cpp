#include "common/crew.h"

#include <algorithm>
#include <exception>

#include "common/wait.h"

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace dualpix {
namespace {

const Crew::Work kLeave;  // the address tells a thread to end

long this_process() {
#if defined(__unix__) || defined(__APPLE__)
  return (long)getpid();
#else
  return 0;  // no fork
#endif
}

struct Call {
  Crew* crew = nullptr;
  int depth = 0;
  bool lent = false;  // a kernel uses the crew

  // The threads of a forked process are gone, and nobody can wait for them. So its copy of the crew is left as it is.
  void forget_if_forked() {
    if (!crew || !crew->forked()) return;
    crew = nullptr;
    lent = false;
  }
  void close_if_done() {
    if (depth > 0 || lent) return;
    delete crew;
    crew = nullptr;
  }
};
// It has no destructor: some systems do not allow a thread that ends to wait for others. A thread that ends within a call
// leaves threads that sleep.
thread_local Call call;

}  // namespace

void Crew::Hand::set(const Work* value) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    work.store(value, std::memory_order_release);
  }
  changed.notify_one();
}

template <class Done>
void Crew::Hand::wait_until(const Done& done) {
  if (look_for(done)) return;
  std::unique_lock<std::mutex> lock(mutex);
  // Without an end, `wait` would need the C++ library of GCC 12. RHEL 9 has that of GCC 11.
  while (!changed.wait_for(lock, std::chrono::hours(1), done)) {
  }
}

void Crew::Hand::serve(int i) {
  for (;;) {
    wait_until([&] { return work.load(std::memory_order_acquire) != nullptr; });
    const Work* const given = work.load(std::memory_order_acquire);
    if (given == &kLeave) return;
    (*given)(i);
    set(nullptr);
  }
}

Crew::Crew() : process_(this_process()) {}

Crew::~Crew() {
  for (auto& hand : hands_) hand->set(&kLeave);
  for (auto& hand : hands_) hand->thread.join();
}

int Crew::hire(int wanted) {
  try {
    hands_.reserve(std::max(wanted, 0));
    while ((int)hands_.size() < wanted) {
      auto hand = std::make_unique<Hand>();
      hand->thread = std::thread(&Hand::serve, hand.get(), (int)hands_.size());
      hands_.push_back(std::move(hand));
    }
  } catch (const std::exception&) {
    // The system starts no more threads: those that run do all the work.
  }
  return std::min((int)hands_.size(), std::max(wanted, 0));
}

void Crew::start(int count, const Work& work) {
  for (int i = 0; i < count; ++i) hands_[i]->set(&work);
}

void Crew::wait() {
  for (auto& hand : hands_) hand->wait_until([&] { return hand->work.load(std::memory_order_acquire) == nullptr; });
}

bool Crew::forked() const { return process_ != this_process(); }

void begin_call() { ++call.depth; }

void end_call() noexcept {
  if (call.depth == 0) return;
  --call.depth;
  call.forget_if_forked();
  call.close_if_done();
}

Lent::Lent() {
  call.forget_if_forked();
  if (call.depth == 0 || call.lent) return;
  if (!call.crew) call.crew = new Crew;
  shared_ = call.crew;
  call.lent = true;
}

Lent::~Lent() {
  if (!shared_) return;
  call.lent = false;
  call.close_if_done();  // the call may have ended within the kernel
}

}  // namespace dualpix
