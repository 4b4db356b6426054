// Files with texts and named arrays, protected by checksums: the format of files that only Terrane reads.
//
// Layout, little-endian:
//   head      24 bytes: "\x89" "terrane arrays 2\r\n\x1a\n\0\0\0"
//   record    kind u32 · bytes of the name u32 · bytes of the body u64 · name · body · checksum u64
//   kinds     1 note: the body is its text · 2 array: type u32, rank u32, shape u64[rank] · 3 piece: the next
//             values of the array of that name · 4 end: number of records before it, u64
//   checksum  CRC-64 (ECMA-182, reflected) of all bytes of the file before it except other checksums
// Nothing follows the end record. The checksum detects every change of one or two bits, every burst of up to
// 64 bits, and all but one in 2^64 of other changes; a record that is lost, doubled or moved changes the
// checksums of all later ones. It detects damage, not forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

enum class ArrayType : std::uint32_t { float64 = 1, float32 = 2, int64 = 3, byte = 4 };

/// CRC-64 of `bytes`; `before` is the checksum of all bytes before them.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t before = 0);

/// Writes a file that appears complete or not at all (AtomicFile), without holding its contents in memory as
/// a whole. T: double, float, std::int64_t, unsigned char.
class ArrayFileWriter {
 public:
  /// Throws FileError, as do all members.
  explicit ArrayFileWriter(std::string path);
  ~ArrayFileWriter();
  ArrayFileWriter(const ArrayFileWriter&) = delete;
  ArrayFileWriter& operator=(const ArrayFileWriter&) = delete;

  void note(std::string_view name, std::string_view text);
  /// Announces an array whose values are then written by piece(), in order.
  template <class T>
  void define(std::string_view name, std::span<const std::size_t> shape);
  template <class T>
  void piece(std::string_view name, std::span<const T> values);
  /// Writes a one-dimensional array.
  template <class T>
  void list(std::string_view name, std::span<const T> values);
  void finish();

 private:
  void define(std::string_view name, ArrayType type, std::span<const std::size_t> shape);
  void record(std::uint32_t kind, std::string_view name, std::span<const std::byte> body);
  void put(std::span<const std::byte> bytes);

  AtomicFile file_;
  std::uint64_t checksum_ = 0, records_ = 0;
};

/// Reads an array file. Sizes stated in the file are compared with the length of the file before memory is
/// allocated.
class ArrayFileReader {
 public:
  struct Array {
    ArrayType type{};
    std::vector<std::size_t> shape;
    std::size_t size = 0;  ///< number of values
  };

  /// Reads the whole file and checks its checksums. Throws FileError (missing or damaged, with the reason),
  /// InputError (another kind of file).
  explicit ArrayFileReader(const std::string& path);
  /// Reads from memory: `bytes` are the content of the file `name`.
  ArrayFileReader(std::string name, std::string bytes);
  ArrayFileReader(ArrayFileReader&&) noexcept;
  ArrayFileReader& operator=(ArrayFileReader&&) noexcept;
  ~ArrayFileReader();

  const std::string& name() const noexcept { return name_; }
  const Attributes& notes() const noexcept { return notes_; }
  const std::map<std::string, Array, std::less<>>& arrays() const noexcept { return arrays_; }
  /// Reads values first, first + 1, ... of an array until `values` is full; the array must have type T and
  /// enough values (std::logic_error). Throws FileError if the file has changed since it was opened.
  template <class T>
  void read(std::string_view name, std::size_t first, std::span<T> values);

 private:
  struct Piece {
    std::uint64_t at;          // position of the piece's first value in the file, bytes
    std::size_t first, count;  // index of the piece's first value in the array, and number of values
    std::uint64_t before;      // checksum of the file up to the piece's first value
    std::uint64_t after;       // checksum of the file up to the piece's last value
  };
  struct Head;

  void scan();
  void take(const Head& head, const std::string& name, std::uint64_t before);
  void define(const std::string& name, std::span<const std::byte> body);
  void take_piece(const Head& head, const std::string& name, std::uint64_t before);
  void read(const Array& array, const std::vector<Piece>& pieces, std::size_t width, std::size_t first,
            std::span<std::byte> values);
  void get(std::span<std::byte> bytes);
  [[noreturn]] void damaged(const std::string& how) const;

  std::string name_;
  std::unique_ptr<std::istream> in_;
  std::uint64_t size_ = 0, at_ = 0, checksum_ = 0;
  Attributes notes_;
  std::map<std::string, Array, std::less<>> arrays_;
  std::map<std::string, std::vector<Piece>, std::less<>> pieces_;
};

}  // namespace terrane::io
