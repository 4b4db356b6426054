#include "terrane/simulation/checkpoint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "terrane/base/version.hpp"

namespace terrane {

namespace {

/// The name of the entry that says that the array contains NaN or infinities.
std::string not_finite_in(std::string_view name) { return fmt::format("not finite in {}", name); }

constexpr std::string_view parts_name = "parts done", next_move = "Remove it, and run without --resume.";
constexpr std::size_t most_shown = 200;

template <class T>
constexpr io::ArrayType type_of = io::ArrayType::float64;
template <>
constexpr io::ArrayType type_of<float> = io::ArrayType::float32;
template <>
constexpr io::ArrayType type_of<std::int64_t> = io::ArrayType::int64;
template <>
constexpr io::ArrayType type_of<unsigned char> = io::ArrayType::byte;

std::string_view name_of(io::ArrayType type) {
  switch (type) {
    case io::ArrayType::float64:
      return "float64";
    case io::ArrayType::float32:
      return "float32";
    case io::ArrayType::int64:
      return "int64";
    case io::ArrayType::byte:
      return "byte";
  }
  return "nothing";
}

/// Opens a checkpoint; adds advice about checkpoints to errors.
template <class... Arguments>
io::ArrayFileReader opened(Arguments... arguments) {
  try {
    return io::ArrayFileReader(arguments...);
  } catch (const InputError& error) {
    throw FileError(error.where(), "is no checkpoint, or its first bytes are damaged",
                    std::string(next_move));
  } catch (const FileError& error) {
    throw FileError(error.where(), error.problem(), std::string(next_move));
  }
}

/// Makes sure that the file's folder is there: it may have been removed since the run began.
std::string in_folder(const std::filesystem::path& file) {
  std::error_code failed;  // ignored: opening the file will report the error
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), failed);
  return file.string();
}

}  // namespace

std::string hash(std::span<const std::span<const double>> columns) {
  // FNV-1a by words. Each step is a bijection, so a difference never vanishes again.
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const auto& column : columns) {
    h = (h ^ column.size()) * 0x100000001b3U;
    for (const double value : column) {
      h = (h ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3U;
      h ^= h >> 29;
    }
  }
  return fmt::format("{:016x}", h);
}

Determinant this_program() { return {"version", fmt::format("{} ({})", version(), commit())}; }

CheckpointWriter::CheckpointWriter(const std::filesystem::path& file, const Fingerprint& of,
                                   std::size_t parts)
    : out_(in_folder(file)) {
  for (const auto& [what, value, is_hash] : of) out_.note(what, value);
  const auto done = static_cast<std::int64_t>(parts);
  list(parts_name, std::span<const std::int64_t>(&done, 1));
}

void CheckpointWriter::finish() {
  for (const auto& name : not_finite_) out_.note(not_finite_in(name), "yes");
  out_.finish();
}

std::string no_checkpoint(const std::filesystem::path& file) {
  return fmt::format("there is no checkpoint {}: the run starts afresh", file.string());
}

std::string CheckpointReader::note_of(const Fingerprint& of, std::size_t all, std::string_view parts) const {
  expect(of);
  expect_parts(all);
  return fmt::format("resumed from {}, with {} of {} {} done", in_.name(), parts_, all, parts);
}

std::optional<CheckpointReader> CheckpointReader::open(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  return CheckpointReader(opened(file.string()));
}

CheckpointReader CheckpointReader::from_bytes(std::string name, std::string bytes) {
  return CheckpointReader(opened(std::move(name), std::move(bytes)));
}

CheckpointReader::CheckpointReader(io::ArrayFileReader file) : in_(std::move(file)) {
  const auto done = array<std::int64_t>(parts_name, {1})[0];
  if (done < 0) throw damaged(fmt::format("{} parts are done", done));
  parts_ = static_cast<std::size_t>(done);
}

FileError CheckpointReader::damaged(const std::string& how) const {
  return {in_.name(), "is damaged: " + how, std::string(next_move)};
}

std::string_view CheckpointReader::told(const std::string& what) const {
  const auto found = in_.notes().find(what);
  return found == in_.notes().end() ? std::string_view() : std::string_view(found->second);
}

void CheckpointReader::expect(const Fingerprint& of) const {
  for (const auto& [what, value, is_hash] : of) {
    const auto theirs = told(what);
    if (theirs.empty())
      throw FileError(in_.name(), fmt::format("is no checkpoint of this kind: it does not tell the {}", what),
                      std::string(next_move));
    if (theirs == value) continue;
    throw InputError("--resume",
                     is_hash ? fmt::format("{} was made for other {}", in_.name(), what)
                             : fmt::format("{} was made with {} {}; this run has {}", in_.name(), what,
                                           io::shown(theirs, most_shown), value),
                     "Run the job it was made for, or run without --resume to start afresh.");
  }
}

void CheckpointReader::expect_parts(std::size_t all) const {
  if (parts_ > all) throw damaged(fmt::format("{} of {} parts are done", parts_, all));
}

bool CheckpointReader::holds(std::string_view name) const {
  return in_.arrays().find(name) != in_.arrays().end();
}

std::size_t CheckpointReader::size(std::string_view name) const {
  const auto found = in_.arrays().find(name);
  if (found == in_.arrays().end()) throw damaged(fmt::format("it holds no \"{}\"", name));
  return found->second.size;
}

template <class T>
void CheckpointReader::expect_array(std::string_view name, std::span<const std::size_t> shape) const {
  const auto found = in_.arrays().find(name);
  if (found == in_.arrays().end()) throw damaged(fmt::format("it holds no \"{}\"", name));
  const auto& array = found->second;
  if (array.type != type_of<T>)
    throw damaged(
        fmt::format("\"{}\" is of type {}, not {}", name, name_of(array.type), name_of(type_of<T>)));
  if (!std::equal(array.shape.begin(), array.shape.end(), shape.begin(), shape.end()))
    throw damaged(fmt::format("\"{}\" has the shape [{}], not [{}]", name, fmt::join(array.shape, ", "),
                              fmt::join(shape, ", ")));
}

template <class T>
void CheckpointReader::read(std::string_view name, std::initializer_list<std::size_t> shape,
                            std::size_t first, std::span<T> values) {
  expect_array<T>(name, {shape.begin(), shape.size()});
  try {
    in_.read(name, first, values);
  } catch (const FileError& error) {
    throw FileError(error.where(), error.problem(), std::string(next_move));
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!told(not_finite_in(name)).empty()) return;
    for (std::size_t n = 0; n < values.size(); ++n)
      if (!std::isfinite(values[n]))
        throw damaged(fmt::format("\"{}\"[{}] is {}", name, first + n, values[n]));
  }
}

template <class T>
std::vector<T> CheckpointReader::array(std::string_view name, std::initializer_list<std::size_t> shape) {
  expect_array<T>(name, {shape.begin(), shape.size()});  // the shape is checked before memory is allocated
  std::vector<T> values(size(name));
  read(name, shape, 0, std::span(values));
  return values;
}

// Explicit instances for all types of values.
template std::vector<double> CheckpointReader::array(std::string_view, std::initializer_list<std::size_t>);
template std::vector<float> CheckpointReader::array(std::string_view, std::initializer_list<std::size_t>);
template std::vector<std::int64_t> CheckpointReader::array(std::string_view,
                                                           std::initializer_list<std::size_t>);
template std::vector<unsigned char> CheckpointReader::array(std::string_view,
                                                            std::initializer_list<std::size_t>);
template void CheckpointReader::read(std::string_view, std::initializer_list<std::size_t>, std::size_t,
                                     std::span<double>);
template void CheckpointReader::read(std::string_view, std::initializer_list<std::size_t>, std::size_t,
                                     std::span<float>);
template void CheckpointReader::read(std::string_view, std::initializer_list<std::size_t>, std::size_t,
                                     std::span<std::int64_t>);
template void CheckpointReader::read(std::string_view, std::initializer_list<std::size_t>, std::size_t,
                                     std::span<unsigned char>);

}  // namespace terrane
