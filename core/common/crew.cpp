#include "common/crew.h"

#include <algorithm>
#include <chrono>
#include <exception>

#if defined(__unix__) || defined(__APPLE__)
#include <unistd.h>
#endif

namespace dualpix {
namespace {

// How long a thread looks for a change before it sleeps. To wake it takes 10 to 50 us. Most kernels follow each other
// faster than this.
constexpr auto kLook = std::chrono::microseconds(200);

const Crew::Work kLeave;  // the address tells a thread to end

long this_process() {
#if defined(__unix__) || defined(__APPLE__)
  return (long)getpid();
#else
  return 0;  // no fork
#endif
}

struct Call {
  std::unique_ptr<Crew> crew;
  int depth = 0;
  // The threads of a forked process are gone, and nobody can wait for them. So its copy of the crew is left as it is.
  void forget_if_forked() {
    if (crew && crew->forked()) (void)crew.release();
  }
  ~Call() { forget_if_forked(); }
};
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
  const auto end = std::chrono::steady_clock::now() + kLook;
  while (!done()) {
    if (std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
      continue;
    }
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait(lock, done);
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
  if (call.depth == 0 || --call.depth > 0) return;
  call.forget_if_forked();
  call.crew.reset();
}

Crew* crew_of_call() {
  if (call.depth == 0) return nullptr;
  call.forget_if_forked();
  if (!call.crew) call.crew = std::make_unique<Crew>();
  return call.crew.get();
}

}  // namespace dualpix
