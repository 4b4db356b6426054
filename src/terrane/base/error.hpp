// The errors that Terrane throws. An error gives its place, the problem, what would be allowed, and what to
// do next.
#pragma once

#include <stdexcept>
#include <string>

namespace terrane {

/// Base of all errors. what() reads "where: problem" and, indented on further lines, the next move.
class Error : public std::runtime_error {
 public:
  /// where: "job.toml:14: survey.stations", "forward: density"; next: how the user can solve it.
  Error(std::string where, std::string problem, std::string next = {});

  const std::string& where() const noexcept { return where_; }
  const std::string& problem() const noexcept { return problem_; }
  const std::string& next() const noexcept { return next_; }

 private:
  std::string where_, problem_, next_;
};

/// A file, a key or a value that the user gave cannot be used.
class InputError : public Error {
  using Error::Error;
};

/// Arrays that belong together differ in length or shape.
class ShapeError : public Error {
  using Error::Error;
};

/// A file cannot be opened, read to its end, written or renamed.
class FileError : public Error {
  using Error::Error;
};

/// The run would need more memory than there is; thrown before it starts.
class MemoryError : public Error {
  using Error::Error;
};

/// This build or this machine does not support what was asked for.
class UnsupportedError : public Error {
  using Error::Error;
};

/// The user interrupted the run (Ctrl-C); nothing was written.
class Cancelled : public Error {
 public:
  Cancelled() : Error("run", "interrupted; nothing was written") {}
};

}  // namespace terrane
