// Stops work that does not itself ask whether the user wants to stop it: between the tasks of for_each.
#pragma once

#include <chrono>
#include <functional>

namespace terrane {

/// While it exists, loops that this thread begins by for_each ask whether to stop, on this thread alone and
/// at most every 50 ms. Work that asks itself (Progress) has the time `grace` to end in order, with a last
/// checkpoint; after that the next loop throws Cancelled. A thread has one at a time; an inner one replaces
/// the outer one.
class Interruptible {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Interruptible(std::function<bool()> stop, Clock::duration grace = Clock::duration::zero());
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// Whether a loop of this thread is to end now.
  static bool ends_now() { return current != nullptr && current->is_over(); }
  /// In a task that takes long: throws Cancelled where it runs on that thread and is to end now.
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
