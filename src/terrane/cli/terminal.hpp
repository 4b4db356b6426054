// Output to the terminal. A terminal that is gone, or a full disk in its place, never stops the program.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace terrane::cli {

/// Before anything else: closed standard streams become /dev/null, so that no file takes their place; a
/// reader that has gone, or a file that may not grow further, is an error of the write and no signal.
void prepare_terminal();

/// Text to standard output or standard error; failures are remembered and never thrown.
void put(std::FILE* stream, std::string_view text);

template <class... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  put(stdout, fmt::format(format, std::forward<Values>(values)...));
}

/// "terrane: job.toml:14: survey.height: ...", the next move indented below. Red only on a terminal.
void complain(std::string_view message);
void warn(std::string_view message);

/// errno of the first text that could not be written to standard output; 0 when all could, or when its reader
/// closed the pipe (EPIPE).
int lost_output();

}  // namespace terrane::cli
