// Long work reports its progress here, and learns here that the user wants it to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace terrane {

/// Long work calls start, advance from any thread, and finish; it asks cancelled() between tasks and then
/// throws Cancelled. The base class does nothing and never cancels.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void start(std::string_view /*what*/, std::uint64_t /*total*/) {}
  virtual void advance(std::uint64_t /*amount*/) {}
  virtual void finish() {}
  virtual bool cancelled() const { return false; }
};

/// Moves the whole bar by `share` while one part of the work runs from start to finish. Work in several
/// phases moves it during the first one.
class ShareOfProgress final : public Progress {
 public:
  ShareOfProgress(Progress& whole, double share) : whole_(whole), share_(share) {}
  void start(std::string_view, std::uint64_t total) override {
    if (std::exchange(started_, true)) scale_ = 0;
    else scale_ = total > 0 ? share_ / static_cast<double>(total) : 0;
  }
  void advance(std::uint64_t amount) override {
    const std::uint64_t before = done_.fetch_add(amount);
    if (scale_ > 0) whole_.advance(steps(before + amount) - steps(before));
  }
  bool cancelled() const override { return whole_.cancelled(); }

 private:
  std::uint64_t steps(std::uint64_t done) const {
    return static_cast<std::uint64_t>(scale_ * static_cast<double>(done));
  }
  Progress& whole_;
  double share_, scale_ = 0;
  bool started_ = false;
  std::atomic<std::uint64_t> done_{0};
};

/// A bar with time left on stderr when that is a terminal, silent otherwise. Ctrl-C (SIGINT), SIGTERM and
/// SIGHUP set cancelled(); a second one ends the process. The handlers are installed for the life of the
/// object; a signal that was ignored before stays ignored.
std::unique_ptr<Progress> terminal_progress();

}  // namespace terrane
