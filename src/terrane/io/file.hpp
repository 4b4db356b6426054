// Files as bytes: written completely or not at all; read by line and token.
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

/// A temporary file in the folder of `path`, for libraries that open files themselves (netCDF, HDF5).
/// commit() renames the file to `path`; without it, the destructor removes the file.
class PendingPath {
 public:
  /// Throws FileError if the folder does not exist or cannot be written to.
  explicit PendingPath(std::string path);
  PendingPath(const PendingPath&) = delete;
  PendingPath& operator=(const PendingPath&) = delete;
  ~PendingPath();

  const std::string& path() const noexcept { return path_; }            ///< the final name
  const std::string& temporary() const noexcept { return temporary_; }  ///< the name to write to
  /// Reserves disk space, if the file system can, without changing the length of the file; for libraries that
  /// crash when a disk fills up. Throws FileError if there is not enough space.
  void reserve(std::size_t bytes);
  /// Writes the file to disk (fsync), unless it is longer than 64 MiB, frees reserved space that is not
  /// needed, and renames the file. Throws FileError.
  void commit();

 private:
  std::string path_, target_, temporary_;
  bool reserved_ = false, committed_ = false;
};

/// A file that appears complete or not at all. Every write is checked: a full disk is a FileError with the
/// path. If the name is not that of an ordinary file (/dev/stdout, a pipe), writes to it directly.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  const std::string& path() const noexcept { return path_; }
  void write(std::string_view bytes);
  void write_bytes(const void* data, std::size_t bytes) { write({static_cast<const char*>(data), bytes}); }
  /// Flushes the buffer, calls fsync, closes and renames the file.  name_on_disk: whether the new name, too,
  /// is on disk when this returns, for files after which others are removed
  void commit(bool name_on_disk = false);

 private:
  void flush();
  std::string path_, target_, temporary_, buffer_;
  int descriptor_ = -1;
};

/// Removes the temporary files ".name.PID.N.tmp" in the folder of `path` that processes of this user left
/// when they were killed. Called whenever a finished file is renamed.
void remove_leftovers(const std::string& path) noexcept;

/// unfinished_files: the names of files that this process is writing now. remove_unfinished: removes their
/// temporary files; for a process that is about to exit without unwinding.
std::vector<std::string> unfinished_files();
void remove_unfinished() noexcept;

/// Throws FileError if a name contains a zero byte, where the system would cut it.
void check_name(const std::string& path);

/// The bytes of a file; gzip and xz are recognised by their first bytes and decompressed.  memory: maximum
/// number of bytes; 0: the free memory. Throws FileError (missing, unreadable, a device, truncated or
/// damaged), MemoryError.
std::string read_bytes(const std::string& path, std::size_t memory = 0);

/// The first bytes of a file, decompressed; at most `count`. Throws FileError.
std::string read_head(const std::string& path, std::size_t count);

/// Parses the whole text as a number: "1e-3", "1.5D+03", "+7", "nan"; false if it is none.
bool parse_number(std::string_view text, double& value) noexcept;
bool parse_integer(std::string_view text, std::int64_t& value) noexcept;

/// Text for a message: at most `most` bytes, with control characters replaced.
std::string shown(std::string_view text, std::size_t most = 40);

/// The product of `counts`. Throws InputError with the location `where` if it is too large for an array.
std::size_t checked_product(std::string_view where, std::span<const std::int64_t> counts);

/// Reads text by line or token and keeps the line number for messages. Lines may end with LF, CRLF or CR; a
/// byte-order mark is skipped; bytes that are not UTF-8 are read as Latin-1.
class TextReader {
 public:
  /// name: for messages; text: the whole text; memory: maximum number of bytes for the text and what is read
  /// from it; 0: the free memory.
  TextReader(std::string name, std::string text, std::size_t memory = 0);
  static TextReader open(const std::string& path, std::size_t memory = 0);

  const std::string& name() const noexcept { return name_; }
  /// Number of the line of the last line() or token(), counted from 1.
  std::size_t line_number() const noexcept { return line_; }
  std::string where() const;

  /// Sets the character that begins a comment: from now on token() skips the rest of its line.
  void set_comment(char start) noexcept { comment_ = start; }

  /// The next line without its end; false at the end of the text.
  bool line(std::string_view& out);
  /// The next word between blanks or line ends; false at the end of the text.
  bool token(std::string_view& out);
  /// The rest of the current line, without comment and surrounding blanks.
  std::string_view rest_of_line();

  /// The next token as a number or count; `what` describes it in messages ("easting of station 3").
  double number(std::string_view what, bool allow_nan = false);
  std::int64_t integer(std::string_view what, std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// `count` numbers. run_lengths: "60*20", also with blanks, means sixty times 20. The memory used depends
  /// on the length of the file, not on counts stated in it.
  std::vector<double> numbers(std::size_t count, std::string_view what, bool run_lengths = false,
                              bool allow_nan = false);
  /// Throws InputError if anything but blanks and comments follows.
  void expect_end(std::string_view after);

  [[noreturn]] void fail(const std::string& problem, const std::string& next = {}) const;

  /// A position in the text to which the reader can return.
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
  /// Number of line ends after the current position.
  std::size_t lines_left() const noexcept;
  /// Throws MemoryError if this number of values does not fit into memory beside the text.
  void expect_memory(std::size_t values) const { ReadBudget(budget_).take(where(), values); }

 private:
  /// Joins "4", "*", "100" to one word.
  std::string with_its_star(std::string_view word);
  double parsed(std::string_view token, std::string_view what, bool allow_nan) const;
  std::string name_, text_;
  ReadBudget budget_;  // memory that may be used besides the text
  std::size_t at_ = 0, line_ = 0, next_line_ = 1;
  char comment_ = '\0';
};

}  // namespace terrane::io
