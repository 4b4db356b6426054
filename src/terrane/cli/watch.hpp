// Ctrl-C ends the program within a second, whatever it is doing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "terrane/base/progress.hpp"

namespace terrane::cli {

/// Work that asks Progress::cancelled() ends by itself. Work that does not (a model of 10⁸ cells being
/// painted, a file being written) is ended by this thread soon after the signal: unfinished files are
/// removed, `last_words` is called, and the process ends with status 130. While the checkpoint is being
/// written it waits, and up to ten seconds for the end of a step whose work a last checkpoint is to keep. On
/// rank 0 of several it does the same: the launcher ends the others.
class Watch {
 public:
  /// patience: how long work may take until it asks whether it is cancelled
  Watch(const Progress& progress, std::filesystem::path checkpoint, std::chrono::milliseconds patience,
        std::function<void()> last_words);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

 private:
  void look();
  const Progress& progress_;
  const std::filesystem::path checkpoint_;
  const std::chrono::milliseconds patience_;
  const std::function<void()> last_words_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

/// On ranks other than 0: SIGINT, SIGTERM and SIGHUP end the process, with status 130, only after rank 0 has
/// had the time to end the run.
void leave_signals_to_rank_0();

}  // namespace terrane::cli
