// How a long call is stopped from outside.
#pragma once

#include <chrono>

namespace dualpix {

// Set by the bindings for the time of a call, on the thread that calls. `ask` throws if the call shall stop. Other
// threads have none.
struct Pulse {
  void (*ask)() = nullptr;
  std::chrono::steady_clock::time_point next{};
};
inline thread_local Pulse pulse;

constexpr auto kPause = std::chrono::milliseconds(50);  // between two questions

// Loops that may take long call this on the calling thread, every few milliseconds or more often.
inline void look_for_stop() {
  if (!pulse.ask) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < pulse.next) return;
  pulse.ask();
  pulse.next = now + kPause;
}

}  // namespace dualpix
