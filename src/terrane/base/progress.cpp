#include "terrane/base/progress.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>

#include "terrane/base/text.hpp"

namespace terrane {

namespace {

// A signal handler can access only static storage. The second signal ends the process at once.
std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_interrupt(int) {
  if (++interrupts > 1) _exit(130);
}

/// Installs the handler of a signal, unless the signal was ignored when the program began (by `nohup`, or
/// scripts with `command &`); the destructor restores the previous handler.
class TakenSignal {
 public:
  explicit TakenSignal(int number) : number_(number) {
    sigaction(number, nullptr, &before_);
    taken_ = before_.sa_handler != SIG_IGN;
    if (!taken_) return;
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;  // an interrupted read is restarted and not taken for the end of the file
    sigaction(number, &action, nullptr);
  }
  TakenSignal(const TakenSignal&) = delete;
  TakenSignal& operator=(const TakenSignal&) = delete;
  ~TakenSignal() {
    if (taken_) sigaction(number_, &before_, nullptr);
  }

 private:
  int number_;
  bool taken_ = false;
  struct sigaction before_ {};
};

class TerminalProgress final : public Progress {
 public:
  TerminalProgress() : visible_(isatty(STDERR_FILENO) != 0) {}
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;
  ~TerminalProgress() override { wipe(); }

  void start(std::string_view what, std::uint64_t total) override {
    const std::lock_guard lock(drawing_);
    what_ = what;
    total_ = total;
    done_ = 0;
    begin_ = last_drawn_ = Clock::now();
  }

  void advance(std::uint64_t amount) override {
    done_ += amount;
    if (!visible_) return;
    const std::unique_lock lock(drawing_, std::try_to_lock);
    if (!lock.owns_lock()) return;  // another thread is drawing the progress bar
    const auto now = Clock::now();
    if (now - last_drawn_ < std::chrono::milliseconds(100)) return;
    last_drawn_ = now;
    draw(std::chrono::duration<double>(now - begin_).count());
  }

  void finish() override {
    const std::lock_guard lock(drawing_);
    wipe();
  }

  bool cancelled() const override { return interrupts > 0; }

 private:
  using Clock = std::chrono::steady_clock;

  void draw(double elapsed) {
    const double part =
        total_ ? std::min(1.0, static_cast<double>(done_.load()) / static_cast<double>(total_)) : 0;
    winsize window{};
    const int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col ? window.ws_col : 80;
    const std::string left = part > 0 ? duration_text(elapsed * (1 - part) / part) + " left" : "";
    const int width = std::clamp(columns - static_cast<int>(what_.size()) - 30, 5, 40);
    const int filled = static_cast<int>(part * width);
    std::string line = fmt::format("\r{} [{:=<{}}{:<{}}] {:3.0f} %  {}", what_, "", filled, "",
                                   width - filled, 100 * part, left);
    std::fputs((line + "\033[K").c_str(), stderr);
    std::fflush(stderr);
    drawn_ = true;
  }

  void wipe() {
    if (drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
    std::fflush(stderr);
  }

  const bool visible_;
  bool drawn_ = false;
  std::mutex drawing_;
  std::string what_;
  std::uint64_t total_ = 0;
  std::atomic<std::uint64_t> done_{0};
  Clock::time_point begin_, last_drawn_;
  // Signals sent by Ctrl-C, by a batch system at the end of the allotted time, and when the terminal is
  // closed.
  TakenSignal interrupt_{SIGINT}, terminate_{SIGTERM}, hang_up_{SIGHUP};
};

}  // namespace

std::unique_ptr<Progress> terminal_progress() {
  interrupts = 0;
  return std::make_unique<TerminalProgress>();
}

}  // namespace terrane
