// How a thread waits for another.
#pragma once

#include <chrono>
#include <thread>

namespace dualpix {

// A thread looks for a while before it sleeps: most waits are over within microseconds, and waking takes 10 to 50 us. It
// does not yield. On a busy machine a thread that yields runs again only when the other program has used up its time, a
// few milliseconds later; one that sleeps runs as soon as it wakes.
constexpr auto kLook = std::chrono::microseconds(50), kSleep = std::chrono::microseconds(50);
constexpr int kLooksAtOnce = 64;  // between two looks at the clock

// Tells the processor that this is a loop that waits. The other thread of the same core then has more of the core.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks until done(), for kLook at most. Returns whether it is done.
template <class Done>
bool look_for(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + kLook;
  do {
    for (int i = 0; i < kLooksAtOnce; ++i, relax())
      if (done()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Waits until done(). Returns false if the work shall end before.
template <class Done, class GoOn>
bool wait_for(const Done& done, const GoOn& go_on) {
  if (done() || look_for(done)) return true;
  while (!done()) {
    if (!go_on()) return false;
#if defined(_WIN32)
    std::this_thread::yield();  // it would sleep for milliseconds
#else
    std::this_thread::sleep_for(kSleep);
#endif
  }
  return true;
}

}  // namespace dualpix
