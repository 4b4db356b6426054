// Ctrl-C is heard within a second, whatever the program is doing.
#pragma once

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
/// written it waits.
class Watch {
 public:
  Watch(const Progress& progress, std::filesystem::path checkpoint, std::function<void()> last_words);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

 private:
  void look();
  const Progress& progress_;
  const std::filesystem::path checkpoint_;
  const std::function<void()> last_words_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace terrane::cli
