// Files with the progress of a long run, so that it can be resumed. A problem is divided into fixed parts;
// the file contains the number of consecutive parts that are done, and the arrays that a physics needs to
// continue.
//
// It also contains the fingerprint: everything that determines the bits of those arrays. A checkpoint with
// another fingerprint is refused, with a message that says what differs. So is a damaged one: checksums cover
// every byte of the file (io/array_file.hpp), and types, sizes and ranges are checked as well, because a
// checkpoint may come from anywhere. Values are trusted: continue only from your own checkpoints. NaN and
// infinities are accepted only in arrays for which the file says that they had some when written.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "terrane/base/error.hpp"
#include "terrane/io/array_file.hpp"

namespace terrane {

/// One setting or input that determines the bits of results: "accuracy" "1e-12"; for data, a hash of these.
struct Determinant {
  std::string what, value;
  bool is_hash = false;  ///< true: a message says "for other prisms", not the two hashes
};
using Fingerprint = std::vector<Determinant>;

/// A hash of 64 bits of the values, as 16 digits. A change of one value always changes the hash.
std::string hash(std::span<const std::span<const double>> columns);
inline std::string hash(std::initializer_list<std::span<const double>> columns) {
  return hash(std::span<const std::span<const double>>(columns.begin(), columns.size()));
}
/// Program, version and commit: the first entry of every fingerprint.
Determinant this_program();

class CheckpointWriter {
 public:
  /// parts: number of parts that are done, from the first on. finish() replaces the file as a whole; without
  /// it the file is unchanged. Throws FileError, as do all members.
  CheckpointWriter(const std::filesystem::path& file, const Fingerprint& of, std::size_t parts);

  /// Writes a complete list.  T: double, float, std::int64_t, unsigned char
  template <class T>
  void list(std::string_view name, std::span<const T> values) {
    look_at(name, values);
    out_.list(name, values);
  }
  /// Declares an array whose values are written afterwards in pieces, in order.
  template <class T>
  void define(std::string_view name, std::initializer_list<std::size_t> shape) {
    out_.define<T>(name, {shape.begin(), shape.size()});
  }
  template <class T>
  void piece(std::string_view name, std::span<const T> values) {
    look_at(name, values);
    out_.piece(name, values);
  }
  void finish();

 private:
  /// Remembers the names of arrays that contain NaN or infinities.
  template <class T>
  void look_at(std::string_view name, std::span<const T> values) {
    if constexpr (std::is_floating_point_v<T>)
      if (!std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); }))
        not_finite_.emplace(name);
  }

  io::ArrayFileWriter out_;
  std::set<std::string, std::less<>> not_finite_;
};

/// The warning of a run that was to resume from a file that does not exist.
std::string no_checkpoint(const std::filesystem::path& file);

class CheckpointReader {
 public:
  /// Opens the checkpoint for a run that resumes, and adds a note on how many of its `all` parts ("steps")
  /// are done. If there is no such file, returns nothing and adds a warning. Throws InputError (the file
  /// belongs to another problem), FileError.
  template <class Told>
  static std::optional<CheckpointReader> resume(const std::filesystem::path& file, const Fingerprint& of,
                                                std::size_t all, std::string_view parts, Told& told) {
    auto in = open(file);
    if (in) told.notes.push_back(in->note_of(of, all, parts));
    else told.warnings.push_back(no_checkpoint(file));
    return in;
  }
  /// Opens a checkpoint; returns nothing if there is no such file. Throws FileError if it is damaged or no
  /// checkpoint.
  static std::optional<CheckpointReader> open(const std::filesystem::path& file);
  /// Reads a checkpoint from bytes in memory; name: name of the file, for messages.
  static CheckpointReader from_bytes(std::string name, std::string bytes);

  /// The value of one item of the fingerprint in the checkpoint; empty if it has no such item.
  std::string_view told(const std::string& what) const;
  /// Throws InputError if the checkpoint was made for another problem; the message states the first
  /// difference.
  void expect(const Fingerprint& of) const;
  std::size_t parts() const noexcept { return parts_; }
  /// Throws FileError if more parts are done than there are.
  void expect_parts(std::size_t all) const;

  /// Whether the file has a list or an array of this name (holds), and the number of its values (size).
  bool holds(std::string_view name) const;
  std::size_t size(std::string_view name) const;
  /// All values of an array of this shape. Throws FileError if the array is missing, has another type or
  /// shape, or contains NaN or infinities that the file does not announce.
  template <class T>
  std::vector<T> array(std::string_view name, std::initializer_list<std::size_t> shape);
  /// Fills `values` from the array's values, starting at index `first`.
  template <class T>
  void read(std::string_view name, std::initializer_list<std::size_t> shape, std::size_t first,
            std::span<T> values);

  /// The error for a physics to throw if the values of its arrays are impossible.
  FileError damaged(const std::string& how) const;

 private:
  explicit CheckpointReader(io::ArrayFileReader file);
  std::string note_of(const Fingerprint& of, std::size_t all, std::string_view parts) const;
  template <class T>
  void expect_array(std::string_view name, std::span<const std::size_t> shape) const;

  io::ArrayFileReader in_;
  std::size_t parts_ = 0;
};

}  // namespace terrane
