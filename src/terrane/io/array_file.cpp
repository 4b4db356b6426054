#include "terrane/io/array_file.hpp"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <stdexcept>
#include <type_traits>

#include "terrane/base/error.hpp"

namespace terrane::io {

namespace {

static_assert(std::endian::native == std::endian::little, "the layout is that of memory");
static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));

constexpr std::size_t head_size = 24, most_name = 1 << 10, most_rank = 8, block_size = 1 << 20;
constexpr char head_text[head_size + 1] = "\x89terrane arrays 2\r\n\x1a\n\0\0\0";
constexpr std::uint32_t note_kind = 1, array_kind = 2, piece_kind = 3, end_kind = 4;

template <class T>
constexpr ArrayType type_of = ArrayType::float64;
template <>
constexpr ArrayType type_of<float> = ArrayType::float32;
template <>
constexpr ArrayType type_of<std::int64_t> = ArrayType::int64;
template <>
constexpr ArrayType type_of<unsigned char> = ArrayType::byte;

/// Bytes per value; 0 for an unknown type.
std::size_t width_of(ArrayType type) {
  switch (type) {
    case ArrayType::float64:
    case ArrayType::int64:
      return 8;
    case ArrayType::float32:
      return 4;
    case ArrayType::byte:
      return 1;
  }
  return 0;
}

template <class T>
std::span<const std::byte> bytes_of_value(const T& value) {
  static_assert(std::is_scalar_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t before) {
  return lzma_crc64(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), before);
}

// --- writing
// -------------------------------------------------------------------------------------------------

ArrayFileWriter::ArrayFileWriter(std::string path) : file_(std::move(path)) {
  put(bytes_of(std::string_view(head_text, head_size)));
}

ArrayFileWriter::~ArrayFileWriter() = default;

void ArrayFileWriter::put(std::span<const std::byte> bytes) {
  checksum_ = checksum(bytes, checksum_);
  file_.write_bytes(bytes.data(), bytes.size());
}

void ArrayFileWriter::record(std::uint32_t kind, std::string_view name, std::span<const std::byte> body) {
  if (name.size() > most_name) throw std::logic_error("the name of an array is too long");
  put(bytes_of_value(kind));
  put(bytes_of_value(static_cast<std::uint32_t>(name.size())));
  put(bytes_of_value(static_cast<std::uint64_t>(body.size())));
  put(bytes_of(name));
  put(body);
  file_.write_bytes(&checksum_, sizeof checksum_);
  ++records_;
}

void ArrayFileWriter::note(std::string_view name, std::string_view text) {
  record(note_kind, name, bytes_of(text));
}

void ArrayFileWriter::define(std::string_view name, ArrayType type, std::span<const std::size_t> shape) {
  if (shape.size() > most_rank) throw std::logic_error("an array has too many dimensions");
  std::vector<std::byte> body;
  const auto add = [&](std::span<const std::byte> bytes) {
    body.insert(body.end(), bytes.begin(), bytes.end());
  };
  add(bytes_of_value(type));
  add(bytes_of_value(static_cast<std::uint32_t>(shape.size())));
  add(std::as_bytes(shape));
  record(array_kind, name, body);
}

template <class T>
void ArrayFileWriter::define(std::string_view name, std::span<const std::size_t> shape) {
  define(name, type_of<T>, shape);
}

template <class T>
void ArrayFileWriter::piece(std::string_view name, std::span<const T> values) {
  record(piece_kind, name, std::as_bytes(values));
}

template <class T>
void ArrayFileWriter::list(std::string_view name, std::span<const T> values) {
  const std::size_t size = values.size();
  define<T>(name, {&size, 1});
  if (size > 0) piece(name, values);
}

void ArrayFileWriter::finish() {
  const std::uint64_t before = records_;
  record(end_kind, "", bytes_of_value(before));
  file_.commit(true);
}

// --- reading
// -------------------------------------------------------------------------------------------------

struct ArrayFileReader::Head {
  std::uint32_t kind = 0, name_bytes = 0;
  std::uint64_t body_bytes = 0;
};

ArrayFileReader::ArrayFileReader(const std::string& path) : name_(path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw FileError(path, "is not an ordinary file", "Give the name of a file.");
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary | std::ios::ate);
  if (!*file)
    throw FileError(
        path, fmt::format("cannot be opened: {}", std::strerror(errno)),
        errno == ENOENT ? "Check the name; relative names start from the current folder." : std::string());
  size_ = static_cast<std::uint64_t>(file->tellg());
  file->seekg(0);
  in_ = std::move(file);
  scan();
}

ArrayFileReader::ArrayFileReader(std::string name, std::string bytes)
    : name_(std::move(name)), size_(bytes.size()) {
  in_ = std::make_unique<std::istringstream>(std::move(bytes));
  scan();
}

ArrayFileReader::ArrayFileReader(ArrayFileReader&&) noexcept = default;
ArrayFileReader& ArrayFileReader::operator=(ArrayFileReader&&) noexcept = default;
ArrayFileReader::~ArrayFileReader() = default;

void ArrayFileReader::damaged(const std::string& how) const {
  throw FileError(name_, "is damaged: " + how, "Remove it; what it held must be computed anew.");
}

void ArrayFileReader::get(std::span<std::byte> bytes) {
  if (bytes.size() > size_ - at_) damaged("it ends early");
  in_->read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<std::size_t>(in_->gcount()) != bytes.size()) damaged("it cannot be read to its end");
  at_ += bytes.size();
}

void ArrayFileReader::scan() try {
  std::array<char, head_size> head{};
  if (size_ >= head_size) get(std::as_writable_bytes(std::span(head)));
  if (std::string_view(head.data(), head_size) != std::string_view(head_text, head_size))
    throw InputError(name_, "is no file of Terrane's own arrays, or its first bytes are damaged",
                     "Give the file that an interrupted run left.");
  checksum_ = checksum(std::as_bytes(std::span(head)));
  for (std::uint64_t records = 0;; ++records) {
    std::array<std::byte, 16> fixed;
    get(fixed);
    Head record;
    std::memcpy(&record.kind, fixed.data(), 4);
    std::memcpy(&record.name_bytes, fixed.data() + 4, 4);
    std::memcpy(&record.body_bytes, fixed.data() + 8, 8);
    if (record.name_bytes > most_name || record.body_bytes > size_ - at_)
      damaged("a record is larger than the file");
    std::string name(record.name_bytes, '\0');
    get(std::as_writable_bytes(std::span(name)));
    const auto before = checksum(std::as_bytes(std::span(name)), checksum(fixed, checksum_));
    if (record.kind == end_kind) {
      std::uint64_t told = 0, sum = 0;
      if (record.body_bytes != sizeof told || !name.empty()) damaged("its end is no end");
      get(std::as_writable_bytes(std::span(&told, 1)));
      get(std::as_writable_bytes(std::span(&sum, 1)));
      if (checksum(bytes_of_value(told), before) != sum) damaged("a checksum does not match");
      if (told != records || at_ != size_) damaged("something is missing or too much");
      break;
    }
    take(record, name, before);
  }
  for (const auto& [name, array] : arrays_) {
    const auto& pieces = pieces_[name];
    if ((pieces.empty() ? 0 : pieces.back().first + pieces.back().count) != array.size)
      damaged(fmt::format("\"{}\" is not whole", shown(name)));
  }
} catch (const std::bad_alloc&) {
  throw MemoryError(name_, "does not fit into memory");
}

void ArrayFileReader::take(const Head& head, const std::string& name, std::uint64_t before) {
  if (head.kind == piece_kind) return take_piece(head, name, before);
  std::string body(head.body_bytes, '\0');
  std::uint64_t sum = 0;
  get(std::as_writable_bytes(std::span(body)));
  get(std::as_writable_bytes(std::span(&sum, 1)));
  checksum_ = checksum(bytes_of(body), before);
  if (checksum_ != sum) damaged("a checksum does not match");
  if (head.kind == array_kind) return define(name, bytes_of(body));
  if (head.kind != note_kind) damaged(fmt::format("a record is of the unknown kind {}", head.kind));
  if (!notes_.emplace(name, std::move(body)).second)
    damaged(fmt::format("\"{}\" stands in it twice", shown(name)));
}

void ArrayFileReader::define(const std::string& name, std::span<const std::byte> body) {
  Array array;
  std::uint32_t rank = 0;
  if (body.size() < 8) damaged(fmt::format("\"{}\" has no shape", shown(name)));
  std::memcpy(&array.type, body.data(), 4);
  std::memcpy(&rank, body.data() + 4, 4);
  const auto width = width_of(array.type);
  if (width == 0 || rank > most_rank || body.size() != 8 + rank * sizeof(std::uint64_t))
    damaged(fmt::format("\"{}\" has no shape", shown(name)));
  array.shape.resize(rank);
  if (rank > 0) std::memcpy(array.shape.data(), body.data() + 8, rank * sizeof(std::uint64_t));
  // The values follow in the file, so they cannot take more bytes than the file has.
  array.size = 1;
  for (const auto n : array.shape) {
    if (n != 0 && array.size > size_ / width / n)
      damaged(fmt::format("\"{}\" is larger than the file", shown(name)));
    array.size *= n;
  }
  if (!arrays_.emplace(name, std::move(array)).second)
    damaged(fmt::format("\"{}\" stands in it twice", shown(name)));
}

void ArrayFileReader::take_piece(const Head& head, const std::string& name, std::uint64_t before) {
  const auto array = arrays_.find(name);
  if (array == arrays_.end()) damaged(fmt::format("values of \"{}\" come before its shape", shown(name)));
  auto& pieces = pieces_[name];
  const std::size_t width = width_of(array->second.type), count = head.body_bytes / width,
                    first = pieces.empty() ? 0 : pieces.back().first + pieces.back().count;
  if (head.body_bytes % width != 0 || count > array->second.size - first)
    damaged(fmt::format("\"{}\" has too many values", shown(name)));
  const auto at = at_;
  checksum_ = before;
  std::vector<std::byte> block(std::min<std::size_t>(block_size, head.body_bytes));
  for (std::uint64_t left = head.body_bytes; left > 0;) {
    const auto some = std::span(block).first(std::min<std::size_t>(block.size(), left));
    get(some);
    checksum_ = checksum(some, checksum_);
    left -= some.size();
  }
  std::uint64_t sum = 0;
  get(std::as_writable_bytes(std::span(&sum, 1)));
  if (checksum_ != sum) damaged(fmt::format("a checksum in \"{}\" does not match", shown(name)));
  pieces.push_back({at, first, count, before, checksum_});
}

void ArrayFileReader::read(const Array& array, const std::vector<Piece>& pieces, std::size_t width,
                           std::size_t first, std::span<std::byte> values) {
  const std::size_t last = first + values.size() / width;
  if (first > array.size || last > array.size) throw std::logic_error("an array has no such values");
  std::vector<std::byte> block;
  for (const auto& piece : pieces) {
    if (piece.first >= last || piece.first + piece.count <= first) continue;
    in_->clear();
    in_->seekg(static_cast<std::streamoff>(piece.at));
    at_ = piece.at;
    auto sum = piece.before;
    for (std::size_t n = piece.first; n < piece.first + piece.count;) {
      const std::size_t count = std::min(block_size / width, piece.first + piece.count - n);
      block.resize(count * width);
      get(block);
      sum = checksum(block, sum);
      const auto begin = std::max(n, first), end = std::min(n + count, last);
      if (begin < end)
        std::copy_n(block.begin() + static_cast<std::ptrdiff_t>((begin - n) * width), (end - begin) * width,
                    values.begin() + static_cast<std::ptrdiff_t>((begin - first) * width));
      n += count;
    }
    if (sum != piece.after) damaged("it changed while it was read");
  }
}

template <class T>
void ArrayFileReader::read(std::string_view name, std::size_t first, std::span<T> values) {
  const auto array = arrays_.find(name);
  if (array == arrays_.end() || array->second.type != type_of<T>)
    throw std::logic_error(fmt::format("there is no array \"{}\" of this type", name));
  const auto pieces = pieces_.find(name);
  if (pieces == pieces_.end()) return;
  read(array->second, pieces->second, sizeof(T), first, std::as_writable_bytes(values));
}

// Instances for each type of values.
template void ArrayFileWriter::define<double>(std::string_view, std::span<const std::size_t>);
template void ArrayFileWriter::define<float>(std::string_view, std::span<const std::size_t>);
template void ArrayFileWriter::define<std::int64_t>(std::string_view, std::span<const std::size_t>);
template void ArrayFileWriter::define<unsigned char>(std::string_view, std::span<const std::size_t>);
template void ArrayFileWriter::piece(std::string_view, std::span<const double>);
template void ArrayFileWriter::piece(std::string_view, std::span<const float>);
template void ArrayFileWriter::piece(std::string_view, std::span<const std::int64_t>);
template void ArrayFileWriter::piece(std::string_view, std::span<const unsigned char>);
template void ArrayFileWriter::list(std::string_view, std::span<const double>);
template void ArrayFileWriter::list(std::string_view, std::span<const float>);
template void ArrayFileWriter::list(std::string_view, std::span<const std::int64_t>);
template void ArrayFileWriter::list(std::string_view, std::span<const unsigned char>);
template void ArrayFileReader::read(std::string_view, std::size_t, std::span<double>);
template void ArrayFileReader::read(std::string_view, std::size_t, std::span<float>);
template void ArrayFileReader::read(std::string_view, std::size_t, std::span<std::int64_t>);
template void ArrayFileReader::read(std::string_view, std::size_t, std::span<unsigned char>);

}  // namespace terrane::io
