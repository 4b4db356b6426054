// How work that knows nothing of its user is stopped: between the tasks of for_each.
#pragma once

#include <chrono>
#include <functional>

namespace terrane {

/// While it lives, loops that this thread begins by for_each ask now and then whether to stop, on this thread
/// alone and at most every 50 ms. A work that asks itself (Progress) has `grace` to end in its own order,
/// with a last checkpoint; after that the next loop throws Cancelled. One for a thread at a time; an inner
/// one takes the place of the outer one.
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
