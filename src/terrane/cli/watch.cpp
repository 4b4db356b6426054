#include "terrane/cli/watch.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "terrane/io/file.hpp"
#include "terrane/simulation/checkpoint_times.hpp"

namespace terrane::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds look_every = 50ms, longest_step = 10s;

void give_rank_0_time(int) {
  // Open MPI kills all ranks one second after the signal; this process exits just before that.
  const itimerval soon{{}, {0, 900'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction before {};
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;  // ignored signals stay ignored, as on rank 0
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void leave_signals_to_rank_0() {
  handle(SIGALRM, [](int) { _exit(130); });
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, give_rank_0_time);
}

Watch::Watch(const Progress& progress, std::filesystem::path checkpoint, std::chrono::milliseconds patience,
             std::function<void()> last_words)
    : progress_(progress),
      checkpoint_(std::move(checkpoint)),
      patience_(patience),
      last_words_(std::move(last_words)),
      thread_([this] { look(); }) {}

Watch::~Watch() {
  {
    const std::lock_guard guard(lock_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watch::look() {
  std::unique_lock guard(lock_);
  while (!progress_.cancelled())
    if (changed_.wait_for(guard, look_every, [&] { return over_; })) return;
  const auto until = std::chrono::steady_clock::now() + longest_step;
  do {
    if (changed_.wait_for(guard, patience_, [&] { return over_; })) return;
  } while (std::ranges::count(io::unfinished_files(), checkpoint_.string()) > 0 ||
           (work_to_keep && std::chrono::steady_clock::now() < until));
  io::remove_unfinished();
  last_words_();
  _exit(130);
}

}  // namespace terrane::cli
