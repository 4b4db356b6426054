// The interface by which long computations report progress and find out whether the user cancelled them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace terrane {

/// Long computations call start(), then advance() from any thread, and finish(). Between tasks they call
/// cancelled() and, if it is true, throw Cancelled. This base class reports nothing and never cancels.
class Progress {
 public:
  virtual ~Progress() = default;
  virtual void start(std::string_view /*what*/, std::uint64_t /*total*/) {}
  virtual void advance(std::uint64_t /*amount*/) {}
  virtual void finish() {}
  virtual bool cancelled() const { return false; }
};

/// Advances the progress of the whole work by `share` while one part of it runs from start to finish. If that
/// part calls start() several times, only its first phase advances the progress.
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

/// A progress bar with the remaining time on stderr if that is a terminal; otherwise nothing is printed.
/// Ctrl-C (SIGINT), SIGTERM and SIGHUP set cancelled(); a second signal ends the process. The signal handlers
/// are installed for the lifetime of the object; a signal that was ignored before stays ignored.
std::unique_ptr<Progress> terminal_progress();

}  // namespace terrane
