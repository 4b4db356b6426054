// A large value that copies of an object share; an object that changes the value gets its own copy (copy on
// write).
#pragma once

#include <memory>
#include <utility>

namespace terrane {

template <class T>
class Shared {
 public:
  Shared() = default;
  Shared(T value) : value_(std::make_shared<T>(std::move(value))) {}  // NOLINT: implicit, to assign a T

  const T& operator*() const noexcept { return *value_; }
  const T* operator->() const noexcept { return value_.get(); }
  /// The value, to be changed; if other objects share it, it is copied first.
  T& own() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return *value_;
  }

 private:
  std::shared_ptr<T> value_ = std::make_shared<T>();
};

}  // namespace terrane
