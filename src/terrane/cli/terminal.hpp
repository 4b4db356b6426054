// Writes to the terminal. If the terminal has been closed, or output is redirected to a full disk, the
// program continues.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace terrane::cli {

/// To be called first by main(). Closed standard streams are opened as /dev/null, so that no other file gets
/// their descriptors; writing to a closed pipe or beyond a limit on file size becomes an error instead of a
/// signal.
void prepare_terminal();

/// Writes text to standard output or standard error; failures are recorded and never thrown.
void put(std::FILE* stream, std::string_view text);

template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  put(stdout, fmt::format(format, std::forward<Values>(values)...));
}

/// Prints an error, "terrane: job.toml:14: survey.height: ...", with the advice indented below. Red only on a
/// terminal.
void complain(std::string_view message);
void warn(std::string_view message);

/// errno of the first text that could not be written to standard output; 0 if all could, or if the reader
/// closed the pipe (EPIPE).
int lost_output();

}  // namespace terrane::cli
