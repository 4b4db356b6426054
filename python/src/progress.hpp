// Progress from the engine's threads to a Python function, and Ctrl-C from Python to the engine.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/progress.hpp"
#include "terrane/parallel/threads/interruptible.hpp"

namespace terrane::python {

namespace nb = nanobind;

/// Lives on the thread that called from Python. Only that thread takes the GIL, at most every 50 ms: then it
/// runs Python's signal handlers and calls report(what, done, total). An exception from either stops the run.
class PythonProgress final : public Progress {
 public:
  /// report: a callable or None.
  explicit PythonProgress(nb::object report) : report_(std::move(report)) {}

  void start(std::string_view what, std::uint64_t total) override {
    const std::lock_guard lock(naming_);
    what_ = what;
    total_ = total;
    done_ = 0;
  }
  void advance(std::uint64_t amount) override {
    done_ += amount;
    poll(false);
  }
  void finish() override { poll(true); }
  bool cancelled() const override {
    const_cast<PythonProgress*>(this)->poll(false);
    return stop_;
  }

  /// The exception that stopped the run; with the GIL held.
  std::optional<nb::python_error>& raised() { return raised_; }

 private:
  using Clock = std::chrono::steady_clock;

  void poll(bool now) {
    if (std::this_thread::get_id() != caller_ || stop_) return;
    const auto time = Clock::now();
    if (!now && time - last_ < std::chrono::milliseconds(50)) return;
    if (now && report_.is_none()) return;
    last_ = time;
    const nb::gil_scoped_acquire gil;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!report_.is_none()) {
        std::string what;
        {
          const std::lock_guard lock(naming_);
          what = what_;
        }
        report_(what.c_str(), done_.load(), total_.load());
      }
    } catch (nb::python_error& error) {
      raised_.emplace(std::move(error));
      stop_ = true;
    }
  }

  nb::object report_;
  std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point last_ = Clock::now();
  std::mutex naming_;
  std::string what_;
  std::atomic<std::uint64_t> done_{0}, total_{0};
  std::atomic<bool> stop_{false};
  std::optional<nb::python_error> raised_;
};

/// work(progress) without the GIL. Ctrl-C and exceptions of `report` end it within a second, wherever it is:
/// what asks for itself has half of that. They are raised also where the work had come to its end meanwhile.
template <class Work>
auto released(const nb::object& report, Work&& work) {
  PythonProgress progress(report);
  const auto raise = [&] {
    if (progress.raised()) throw nb::python_error(std::move(*progress.raised()));
  };
  try {
    const auto freely = [&] {
      const nb::gil_scoped_release free;
      const Interruptible interruptible([&] { return progress.cancelled(); }, std::chrono::milliseconds(500));
      return work(progress);
    };
    if constexpr (std::is_void_v<decltype(freely())>) {
      freely();
      raise();
    } else {
      auto made = freely();
      raise();
      return made;
    }
  } catch (const Cancelled&) {
    raise();
    throw;
  }
}

/// Like released(), for work that says nothing of its progress.
template <class Work>
auto released(Work&& work) {
  return released(nb::none(), [&](Progress&) { return work(); });
}

/// Lets one Python thread at a time use an object; others wait, and Ctrl-C ends their wait.
class OneAtATime {
 public:
  /// released(report, work), alone. Throws InputError: called by a function that the work itself reports to.
  template <class Work>
  auto released(const nb::object& report, Work&& work) {
    if (owner_.load() == std::this_thread::get_id())
      throw InputError(
          "progress",
          "the object computes, and cannot be used by the function that its progress is reported to",
          "Use it when it is done.");
    return python::released(report, [&](Progress& progress) {
      std::unique_lock lock(mutex_, std::defer_lock);
      while (!lock.try_lock_for(std::chrono::milliseconds(50)))
        if (progress.cancelled()) throw Cancelled();
      owner_ = std::this_thread::get_id();
      const Leave leave{*this};
      return work(progress);
    });
  }

 private:
  struct Leave {
    OneAtATime& here;
    ~Leave() { here.owner_ = std::thread::id(); }
  };
  std::timed_mutex mutex_;
  std::atomic<std::thread::id> owner_{};
};

}  // namespace terrane::python
