#include "terrane/parallel/threads/interruptible.hpp"

#include <utility>

#include "terrane/base/error.hpp"

namespace terrane {

thread_local Interruptible* Interruptible::current = nullptr;

Interruptible::Interruptible(std::function<bool()> stop, Clock::duration grace)
    : stop_(std::move(stop)), grace_(grace), outer_(std::exchange(current, this)) {}

void Interruptible::stop_here() {
  if (ends_now()) throw Cancelled();
}

Interruptible::~Interruptible() { current = outer_; }

bool Interruptible::is_over() {
  const auto now = Clock::now();
  if (stopping_) return now - asked_to_stop_ >= grace_;
  if (now - last_ < std::chrono::milliseconds(50)) return false;
  last_ = now;
  if (!stop_()) return false;
  stopping_ = true;
  asked_to_stop_ = now;
  return grace_ == Clock::duration::zero();
}

}  // namespace terrane
