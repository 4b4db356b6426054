#include "terrane/cli/terminal.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "terrane/base/text.hpp"

namespace terrane::cli {

namespace {

int first_failure = 0;  // errno of the first failed write to standard output; only one thread writes
bool closed = false;    // whether standard output was closed when the program started

}  // namespace

void prepare_terminal() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF) {
      // open() returns the lowest free descriptor, which is the closed one.
      const int opened = ::open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY);
      if (opened >= 0 && opened != descriptor) ::close(opened);
      if (descriptor == STDOUT_FILENO) closed = true;
    }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

void put(std::FILE* stream, std::string_view text) {
  if (stream == stdout && closed && first_failure == 0) first_failure = EBADF;
  errno = 0;
  const bool taken =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (taken) return;
  if (stream == stdout && first_failure == 0) first_failure = errno != 0 ? errno : EIO;
  std::clearerr(stream);
}

void complain(std::string_view message) {
  const bool colour = ::isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
  put(stderr, fmt::format("{}terrane:{} {}\n", colour ? "\033[1;31m" : "", colour ? "\033[0m" : "",
                          printable(message)));
}

void warn(std::string_view message) {
  put(stderr, fmt::format("terrane: warning: {}\n", printable(message)));
}

int lost_output() { return first_failure == EPIPE ? 0 : first_failure; }

}  // namespace terrane::cli
