// Files as bytes: whole or not at all when written; by line and token when read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/memory.hpp"

namespace terrane::io {

/// Creates a temporary name beside `path`; commit() gives the file its name, the destructor removes what was
/// not committed. For libraries that open files themselves (netCDF, HDF5).
class PendingPath {
 public:
  /// Throws FileError when the folder does not exist or cannot be written.
  explicit PendingPath(std::string path);
  PendingPath(const PendingPath&) = delete;
  PendingPath& operator=(const PendingPath&) = delete;
  ~PendingPath();

  const std::string& path() const noexcept { return path_; }            ///< the name it will have
  const std::string& temporary() const noexcept { return temporary_; }  ///< the name to write to
  /// Reserves this much space on the disk, where the file system can; the file keeps its length. For
  /// libraries that crash when a disk fills up. Throws FileError when there is not so much space.
  void reserve(std::size_t bytes);
  /// Writes the file to disk (fsync), frees reserved space that it did not need, and renames it. Throws
  /// FileError.
  void commit();

 private:
  std::string path_, target_, temporary_;
  bool reserved_ = false, committed_ = false;
};

/// A file that appears complete or not at all. Every write is checked: a full disk is a FileError with the
/// path. A name that is not an ordinary file (/dev/stdout, a pipe) is written straight.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  const std::string& path() const noexcept { return path_; }
  void write(std::string_view bytes);
  void write_bytes(const void* data, std::size_t bytes) { write({static_cast<const char*>(data), bytes}); }
  /// Flushes, fsyncs, closes, renames.
  void commit();

 private:
  void flush();
  std::string path_, target_, temporary_, buffer_;
  int descriptor_ = -1;
};

/// Removes temporary files ".name.PID.N.tmp" beside `path` of this user's processes that no longer exist,
/// killed while they wrote. Called whenever a finished file is renamed to its name.
void remove_leftovers(const std::string& path) noexcept;

/// The names of files that this process is writing now; then removes them unfinished: for a process that is
/// about to end without unwinding.
std::vector<std::string> unfinished_files();
void remove_unfinished() noexcept;

/// Throws FileError when a name has a zero byte in it, at which the system would cut it.
void check_name(const std::string& path);

/// The bytes of a file; gzip and xz are recognised by their first bytes and unpacked.  memory: bytes that
/// this may take; 0: what the machine has left. Throws FileError (missing, unreadable, a device, truncated or
/// damaged), MemoryError.
std::string read_bytes(const std::string& path, std::size_t memory = 0);

/// The first bytes of a file, unpacked; at most `count`. Throws FileError.
std::string read_head(const std::string& path, std::size_t count);

/// "1e-3", "1.5D+03", "+7", "nan": the whole text as a number; false when it is none.
bool parse_number(std::string_view text, double& value) noexcept;
bool parse_integer(std::string_view text, std::int64_t& value) noexcept;

/// Text for a message: at most `most` bytes, control characters replaced.
std::string shown(std::string_view text, std::size_t most = 40);

/// a*b*c, or InputError at `where` when that is beyond what an array can hold.
std::size_t checked_product(std::string_view where, std::span<const std::int64_t> counts);

/// Text by line or by token, with the place of everything for messages. Line ends may be LF, CRLF or CR; a
/// byte-order mark is skipped; bytes that are not UTF-8 are taken as Latin-1.
class TextReader {
 public:
  /// name: for messages; text: the whole of it. memory: bytes that the text and what is read from it may
  /// take; 0: what the machine has left.
  TextReader(std::string name, std::string text, std::size_t memory = 0);
  static TextReader open(const std::string& path, std::size_t memory = 0);

  const std::string& name() const noexcept { return name_; }
  /// Number of the line that the last line() or token() came from, counted from 1.
  std::size_t line_number() const noexcept { return line_; }
  std::string where() const;

  /// From here on, token() skips what follows this character up to the end of the line.
  void set_comment(char start) noexcept { comment_ = start; }

  /// The next line without its end; false at the end of the text.
  bool line(std::string_view& out);
  /// The next word between blanks, over line ends; false at the end of the text.
  bool token(std::string_view& out);
  /// The rest of the current line, without comment and outer blanks.
  std::string_view rest_of_line();

  /// The next token as a number or count; `what` names it in messages ("easting of station 3").
  double number(std::string_view what, bool allow_nan = false);
  std::int64_t integer(std::string_view what, std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// `count` numbers; "60*20", also with blanks, stands for sixty times 20 where run lengths are allowed.
  /// Memory grows with what is in the file, not with what its counts claim.
  std::vector<double> numbers(std::size_t count, std::string_view what, bool run_lengths = false,
                              bool allow_nan = false);
  /// Throws InputError when anything but blanks and comments is left.
  void expect_end(std::string_view after);

  [[noreturn]] void fail(const std::string& problem, const std::string& next = {}) const;

  /// A place in the text to which the reader can return.
  struct Mark {
    std::size_t at, line, next_line;
  };
  Mark mark() const noexcept { return {at_, line_, next_line_}; }
  void rewind(const Mark& mark) noexcept {
    at_ = mark.at;
    line_ = mark.line;
    next_line_ = mark.next_line;
  }

  std::size_t bytes_left() const noexcept { return text_.size() - at_; }
  /// The number of line ends from here on.
  std::size_t lines_left() const noexcept;
  /// Throws MemoryError when this number of values does not fit beside the text.
  void expect_memory(std::size_t values) const { ReadBudget(budget_).take(where(), values); }

 private:
  /// "4", "*", "100" as one word.
  std::string with_its_star(std::string_view word);
  double parsed(std::string_view token, std::string_view what, bool allow_nan) const;
  std::string name_, text_;
  ReadBudget budget_;  // beside the text
  std::size_t at_ = 0, line_ = 0, next_line_ = 1;
  char comment_ = '\0';
};

}  // namespace terrane::io
