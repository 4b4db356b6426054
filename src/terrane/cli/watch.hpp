// Ends the program within a second after Ctrl-C, whatever it is computing.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "terrane/base/progress.hpp"

namespace terrane::cli {

/// A thread that ends the process after an interrupt. Computations that check Progress::cancelled() stop
/// themselves. Those that do not (painting 10⁸ cells, writing a file) are ended by this thread soon after the
/// signal: unfinished files are removed, `last_words` is called, and the process exits with status 130. The
/// thread waits while a checkpoint is being written, and up to ten seconds for the end of a step whose
/// results a last checkpoint shall save. On rank 0 of several ranks the thread does the same; the MPI
/// launcher then ends the other ranks.
class Watch {
 public:
  /// patience: time after an interrupt within which a computation must check cancelled(); then the process is
  /// ended
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

/// On ranks other than 0: after SIGINT, SIGTERM or SIGHUP the process exits with status 130, but only after a
/// delay in which rank 0 can end the run.
void leave_signals_to_rank_0();

}  // namespace terrane::cli
