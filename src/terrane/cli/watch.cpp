#include "terrane/cli/watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "terrane/io/file.hpp"

namespace terrane::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 50ms;
constexpr auto patience = 700ms;  // what work that asks may take until it asks

}  // namespace

Watch::Watch(const Progress& progress, std::filesystem::path checkpoint, std::function<void()> last_words)
    : progress_(progress),
      checkpoint_(std::move(checkpoint)),
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
  do {
    if (changed_.wait_for(guard, patience, [&] { return over_; })) return;
  } while (std::ranges::count(io::unfinished_files(), checkpoint_.string()) > 0);
  io::remove_unfinished();
  last_words_();
  _exit(130);
}

}  // namespace terrane::cli
