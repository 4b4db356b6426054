// Lets the user stop work that does not check for it itself: checks between the tasks of for_each.
#pragma once

#include <chrono>
#include <functional>

namespace terrane {

/// While an Interruptible exists, for_each loops begun by its thread check, on that thread alone and at most
/// every 50 ms, whether the user wants to stop. Work that checks by itself (Progress) has the time `grace` to
/// end regularly, with a last checkpoint; after that the next loop throws Cancelled. One Interruptible per
/// thread is active; an inner one replaces the outer one.
class Interruptible {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Interruptible(std::function<bool()> stop, Clock::duration grace = Clock::duration::zero());
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// Whether a for_each loop of this thread must end now.
  static bool ends_now() { return current != nullptr && current->is_over(); }
  /// To be called in long tasks: throws Cancelled if the task runs on the thread of the Interruptible and
  /// must end now.
  static void stop_here();

 private:
  bool is_over();

  static thread_local Interruptible* current;
  std::function<bool()> stop_;
  Clock::duration grace_;
  Clock::time_point last_ = Clock::now(), asked_to_stop_{};
  bool stopping_ = false;
  Interruptible* outer_;
};

}  // namespace terrane
