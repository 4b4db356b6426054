// A machine on which others compute.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <vector>

namespace terrane::test {

/// Processes that do nothing but keep the processors busy, while it lives.
class BusyMachine {
 public:
  explicit BusyMachine(int processes) {
    for (int n = 0; n < processes; ++n) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(60);  // should this process be killed
        for (volatile bool busy = true; busy;) {
        }
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~BusyMachine() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  BusyMachine(const BusyMachine&) = delete;
  BusyMachine& operator=(const BusyMachine&) = delete;

 private:
  std::vector<pid_t> children_;
};

}  // namespace terrane::test
