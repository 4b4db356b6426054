#include "terrane/io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <lzma.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/base/number.hpp"

namespace terrane::io {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 20;

[[noreturn]] void fail_write(const std::string& path, std::string_view doing, int error) {
  std::string next;
  if (error == ENOSPC || error == EDQUOT)
    next = "Free some space or write to another disk; nothing was left behind.";
  else if (error == ENOENT) next = "Create the folder first.";
  else if (error == EACCES || error == EROFS || error == EPERM)
    next = "Choose a folder that you may write to.";
  throw FileError(path, fmt::format("{}: {}", doing, std::strerror(error)), next);
}

/// The path to which a symbolic link leads, so that the link itself is kept when the file is replaced.
std::string resolved(const std::string& path) {
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) {
    const auto target = fs::canonical(path, ignored);
    if (!ignored) return target.string();
  }
  return path;
}

bool is_special(const std::string& path) {
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// The beginning ".name." of temporary names ".name.<pid>.<n>.tmp" for a target. Long names are shortened,
/// because file systems limit the length of names.
std::string temporary_start(const fs::path& target) {
  constexpr std::size_t most = 200;
  return "." + target.filename().string().substr(0, most) + ".";
}

/// Temporary files of this process that have not been renamed yet.
struct Unfinished {
  std::mutex lock;
  std::vector<std::pair<std::string, std::string>> files;  ///< (temporary, target)

  void add(const std::string& temporary, const std::string& target) {
    const std::lock_guard guard(lock);
    files.emplace_back(temporary, target);
  }
  void remove(const std::string& temporary) {
    const std::lock_guard guard(lock);
    std::erase_if(files, [&](const auto& file) { return file.first == temporary; });
  }
};

Unfinished& unfinished() {
  static auto* files = new Unfinished;  // never destroyed, because threads may outlive main()
  return *files;
}

/// Creates ".name.<pid>.<n>.tmp" beside the target; returns its descriptor.
int create_temporary(const std::string& path, const std::string& target, std::string& temporary) {
  std::error_code ignored;
  if (fs::is_directory(target, ignored))
    throw FileError(path, "is a folder", "Give the name of a file in it.");
  const fs::path p(target);
  if (p.filename().empty()) throw FileError(path, "is not the name of a file");
  for (unsigned n = 0;; ++n) {
    temporary = (p.parent_path() / fmt::format("{}{}.{}.tmp", temporary_start(p), ::getpid(), n)).string();
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      unfinished().add(temporary, target);
      struct stat old {};
      if (::stat(target.c_str(), &old) == 0 && ::fchmod(descriptor, old.st_mode & 07777) != 0) {
        // If fchmod() fails, the file keeps the default permissions.
      }
      return descriptor;
    }
    if (errno != EEXIST) {
      const int error = errno;
      temporary.clear();
      fail_write(path, "cannot be written", error);
    }
  }
}

void drop_temporary(const std::string& temporary) {
  ::unlink(temporary.c_str());
  unfinished().remove(temporary);
}

/// Renames a file whose bytes are on disk. Without name_on_disk a power failure may bring back the whole old
/// file under this name, or none; a sync of the folder takes as long as that of a file of some hundred
/// megabytes.
void rename_into_place(const std::string& path, const std::string& temporary, const std::string& target,
                       bool name_on_disk) {
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail_write(path, "cannot take its name", errno);
  unfinished().remove(temporary);
  remove_leftovers(target);
  if (!name_on_disk) return;
  auto folder = fs::path(target).parent_path();
  if (folder.empty()) folder = ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace

namespace {

/// Whether this file was left by a killed process: no process has the number in its name, and no process
/// (possibly on another machine with the same file system) holds a lock on the file.
bool is_leftover(const fs::path& file, std::string_view start) {
  const auto name = file.filename().string();
  constexpr std::string_view end = ".tmp";
  if (!name.starts_with(start) || !name.ends_with(end) || name.size() < start.size() + end.size())
    return false;
  const auto numbers = std::string_view(name).substr(start.size(), name.size() - start.size() - end.size());
  const auto dot = numbers.find('.');
  const auto all_digits = [](std::string_view text) {
    return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
  };
  if (dot == numbers.npos || !all_digits(numbers.substr(0, dot)) || !all_digits(numbers.substr(dot + 1)))
    return false;
  std::int64_t process = 0;
  if (!parse_integer(numbers.substr(0, dot), process) || process < 1) return false;
  if (::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH) return false;
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid())
    return false;
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  ::close(descriptor);
  return free;
}

}  // namespace

void remove_leftovers(const std::string& path) noexcept {
  try {
    std::error_code ignored;
    const fs::path file(path);
    const auto folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
    const auto start = temporary_start(file);
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (is_leftover(entry.path(), start)) left.push_back(entry.path());
    for (const auto& entry : left) fs::remove(entry, ignored);
  } catch (...) {
    // A file that cannot be removed is kept.
  }
}

std::vector<std::string> unfinished_files() {
  const std::lock_guard guard(unfinished().lock);
  std::vector<std::string> targets;
  for (const auto& [temporary, target] : unfinished().files) targets.push_back(target);
  return targets;
}

void remove_unfinished() noexcept {
  const std::lock_guard guard(unfinished().lock);
  for (const auto& [temporary, target] : unfinished().files) ::unlink(temporary.c_str());
}

void check_name(const std::string& path) {
  if (const auto zero = path.find('\0'); zero != std::string::npos)
    throw FileError(path, fmt::format("has a zero byte in its name, after \"{}\"", path.substr(0, zero)),
                    "Names of files have none.");
}

PendingPath::PendingPath(std::string path) : path_(std::move(path)), target_(resolved(path_)) {
  check_name(path_);
  if (is_special(target_)) throw FileError(path_, "is not an ordinary file", "Give the name of a file.");
  ::close(create_temporary(path_, target_, temporary_));
}

PendingPath::~PendingPath() {
  if (!committed_ && !temporary_.empty()) drop_temporary(temporary_);
}

void PendingPath::reserve(std::size_t bytes) {
#ifdef __linux__
  const int descriptor = ::open(temporary_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail_write(path_, "cannot be written", errno);
  const int taken = ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
  const int error = errno;
  ::close(descriptor);
  if (taken == 0) reserved_ = true;
  else if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    fail_write(path_, fmt::format("its {:.3g} GB cannot be written", static_cast<double>(bytes) / 1e9),
               error);
#else
  static_cast<void>(bytes);
#endif
}

void PendingPath::commit() {
  const int descriptor = ::open(temporary_.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) fail_write(path_, "cannot be finished", errno);
  struct stat now {};
  if (reserved_ && ::fstat(descriptor, &now) == 0 && ::ftruncate(descriptor, now.st_size) != 0) {
    // The file is complete; only the reserved space beyond its end is not freed.
  }
  // A large file would take as long again to reach the disk as to be written. The system brings it there
  // within half a minute; if its power fails before, readers see that the file is too short.
  constexpr off_t most_synced = off_t{1} << 26;
  const bool waits = ::fstat(descriptor, &now) != 0 || now.st_size <= most_synced;
  const int synced = waits ? ::fsync(descriptor) : 0;
  const int error = errno;
  ::close(descriptor);
  if (synced != 0) fail_write(path_, "cannot be written to disk", error);
  rename_into_place(path_, temporary_, target_, false);
  committed_ = true;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(resolved(path_)) {
  check_name(path_);
  if (is_special(target_)) {
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_write(path_, "cannot be written", errno);
  } else {
    descriptor_ = create_temporary(path_, target_, temporary_);
    ::flock(descriptor_, LOCK_EX | LOCK_NB);  // the lock tells remove_leftovers() of other processes that the
                                              // file is being written
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) drop_temporary(temporary_);
}

void AtomicFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > buffer_size) flush();
  buffer_.append(bytes);
  if (buffer_.size() > buffer_size) flush();
}

void AtomicFile::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const auto written = ::write(descriptor_, left.data(), left.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail_write(path_, "cannot be written", errno);
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

void AtomicFile::commit(bool name_on_disk) {
  flush();
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail_write(path_, "cannot be written to disk", errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail_write(path_, "cannot be closed", errno);
  if (temporary_.empty()) return;
  rename_into_place(path_, temporary_, target_, name_on_disk);
  temporary_.clear();
}

// --- reading bytes
// -------------------------------------------------------------------------------------------

namespace {

/// Up to `limit` bytes of the file, without decompression.
std::string raw_bytes(const std::string& path, std::size_t limit) {
  check_name(path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    const int error = errno;
    throw FileError(path, fmt::format("cannot be opened: {}", std::strerror(error)),
                    error == ENOENT ? "Check the name; relative names start from the current folder." : "");
  }
  struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
    throw FileError(path, "is a folder", "Give the name of a file in it.");
  if (S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(descriptor) == 0))
    throw FileError(path, "is a device", "Give the name of a file.");  // /dev/zero, for example, has no end
  std::string bytes;
  if (S_ISREG(status.st_mode)) bytes.reserve(std::min(limit, static_cast<std::size_t>(status.st_size)));
  std::array<char, std::size_t{1} << 16> block;
  while (bytes.size() < limit) {
    const auto got = ::read(descriptor, block.data(), std::min(block.size(), limit - bytes.size()));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw FileError(path, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    if (got == 0) break;
    bytes.append(block.data(), static_cast<std::size_t>(got));
  }
  return bytes;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }
bool is_xz(std::string_view bytes) {
  return bytes.starts_with(
      std::string_view("\xFD"
                       "7zXZ\0",
                       6));
}

[[noreturn]] void fail_unpack(const std::string& path, std::string_view kind, bool truncated) {
  throw FileError(path, fmt::format("is {} {} file", truncated ? "a truncated" : "a damaged", kind),
                  "Fetch or copy the file again.");
}

std::string unpack_gzip(const std::string& path, std::string_view packed, std::size_t limit) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw MemoryError(path, "no memory to unpack the file");
  struct Closer {
    z_stream* stream;
    ~Closer() { inflateEnd(stream); }
  } closer{&stream};
  std::string out;
  std::array<char, std::size_t{1} << 16> block;
  while (out.size() < limit) {
    if (stream.avail_in == 0 && !packed.empty()) {
      const auto part = std::min(packed.size(), std::size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      stream.avail_in = static_cast<uInt>(part);
      packed.remove_prefix(part);
    }
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    out.append(block.data(), block.size() - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0 && packed.empty()) return out;
      // Another gzip member may follow; zeros or other bytes after the last one are ignored, as gzip does.
      if (stream.avail_in < 2 || stream.next_in[0] != 0x1f || stream.next_in[1] != 0x8b) return out;
      if (inflateReset(&stream) != Z_OK) fail_unpack(path, "gzip", false);
    } else if (status == Z_BUF_ERROR) {
      fail_unpack(path, "gzip", true);
    } else if (status != Z_OK) {
      fail_unpack(path, "gzip", false);
    }
  }
  return out;
}

std::string unpack_xz(const std::string& path, std::string_view packed, std::size_t limit) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, std::uint64_t{1} << 30, LZMA_CONCATENATED) != LZMA_OK)
    throw MemoryError(path, "no memory to unpack the file");
  struct Closer {
    lzma_stream* stream;
    ~Closer() { lzma_end(stream); }
  } closer{&stream};
  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  std::string out;
  std::array<char, std::size_t{1} << 16> block;
  while (out.size() < limit) {
    stream.next_out = reinterpret_cast<std::uint8_t*>(block.data());
    stream.avail_out = block.size();
    const auto status = lzma_code(&stream, LZMA_FINISH);
    out.append(block.data(), block.size() - stream.avail_out);
    if (status == LZMA_STREAM_END) return out;
    if (status != LZMA_OK) fail_unpack(path, "xz", status == LZMA_BUF_ERROR);
  }
  return out;
}

std::string unpack(const std::string& path, std::string raw, std::size_t limit) {
  if (is_gzip(raw)) return unpack_gzip(path, raw, limit);
  if (is_xz(raw)) return unpack_xz(path, raw, limit);
  return raw;
}

}  // namespace

std::string read_bytes(const std::string& path, std::size_t memory) {
  // To detect longer content, `most` + 1 bytes are read; this sum must not overflow.
  const std::size_t most = std::min(ReadBudget(memory).left(), std::numeric_limits<std::size_t>::max() - 1);
  const auto within = [&](std::string bytes, const char* how) {
    if (bytes.size() > most)
      throw MemoryError(
          path, fmt::format("{} more than {}", how, bytes_text(static_cast<double>(most))),
          "That is all that reading may take here: cut out a part of the file, or allow more memory.");
    return bytes;
  };
  try {
    auto raw = within(raw_bytes(path, most + 1), "is");
    const bool packed = is_gzip(raw) || is_xz(raw);
    if (!packed) return raw;
    auto plain = within(unpack(path, std::move(raw), most + 1), "unpacks to");
    if (is_gzip(plain) || is_xz(plain))
      throw FileError(path, "is packed twice", "Unpack it once (gunzip, unxz), and read what comes out.");
    return plain;
  } catch (const std::bad_alloc&) {
    throw MemoryError(path, "does not fit into memory");
  } catch (const std::length_error&) {
    throw MemoryError(path, "does not fit into memory");
  }
}

std::string read_head(const std::string& path, std::size_t count) {
  check_name(path);
  std::error_code ignored;
  if (fs::is_fifo(path, ignored))
    throw FileError(path, "is a pipe, whose first bytes cannot be read twice",
                    "Write it to a file first, or name the format.");
  // 64 KiB of compressed data contain any head asked for; the compressed stream may be cut off.
  auto raw = raw_bytes(path, std::max(count, std::size_t{1} << 16));
  try {
    raw = unpack(path, raw, count);
  } catch (const FileError&) {
    raw.clear();
  }
  if (raw.size() > count) raw.resize(count);
  return raw;
}

// --- numbers
// ---------------------------------------------------------------------------------------------------

bool parse_number(std::string_view text, double& value) noexcept {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) return false;
  }
  std::array<char, 64> copy;
  if (const auto d = text.find_first_of("dD"); d != std::string_view::npos) {  // Fortran's notation: 1.5D+03
    if (text.size() > copy.size()) return false;
    std::copy(text.begin(), text.end(), copy.begin());
    copy[d] = 'e';
    text = {copy.data(), text.size()};
  }
  const auto [end, error] = read_number(text, value);
  if (end != text.data() + text.size() || text.empty()) return false;
  if (error == std::errc::result_out_of_range) {
    const auto e = text.find_first_of("eE");
    const bool tiny = e != std::string_view::npos && text.substr(e + 1).starts_with('-');
    if (!tiny) return false;
    value = 0;
    return true;
  }
  return error == std::errc{};
}

bool parse_integer(std::string_view text, std::int64_t& value) noexcept {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return true;
  double real = 0;  // some programs write counts as 8.0000000e+00
  if (!parse_number(text, real) || !(std::abs(real) < 9e15) || real != std::floor(real)) return false;
  value = static_cast<std::int64_t>(real);
  return true;
}

std::size_t checked_product(std::string_view where, std::span<const std::int64_t> counts) {
  constexpr auto most =
      static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(double);
  std::uint64_t product = 1;
  for (const auto n : counts) {
    if (n < 0) throw InputError(std::string(where), fmt::format("a size of {} is negative", n));
    if (n != 0 && product > most / static_cast<std::uint64_t>(n))
      throw InputError(std::string(where),
                       fmt::format("a size of {} is beyond what memory can hold", fmt::join(counts, " x ")),
                       "Check the counts.");
    product *= static_cast<std::uint64_t>(n);
  }
  return static_cast<std::size_t>(product);
}

// --- text
// --------------------------------------------------------------------------------------------------------

namespace {

bool is_utf8(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    const std::size_t more = c < 0x80                ? 0
                             : c >= 0xC2 && c < 0xE0 ? 1
                             : c >= 0xE0 && c < 0xF0 ? 2
                             : c >= 0xF0 && c < 0xF5 ? 3
                                                     : 9;
    if (more == 9 || i + more >= s.size() + (more == 0)) return false;
    for (std::size_t k = 1; k <= more; ++k)
      if ((static_cast<unsigned char>(s[i + k]) & 0xC0) != 0x80) return false;
    i += more + 1;
  }
  return true;
}

std::string from_latin1(std::string_view s) {
  std::string out;
  out.reserve(s.size() + s.size() / 8);
  for (const char ch : s) {
    const auto c = static_cast<unsigned char>(ch);
    if (c < 0x80) {
      out += ch;
    } else {
      out += static_cast<char>(0xC0 | (c >> 6));
      out += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  return out;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
bool is_newline(char c) { return c == '\n' || c == '\r'; }

}  // namespace

std::string shown(std::string_view token, std::size_t most) {
  std::string out;
  for (const char c : token.substr(0, most))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return token.size() > most ? out + "..." : out;
}

TextReader::TextReader(std::string name, std::string text, std::size_t memory)
    : name_(std::move(name)), text_(std::move(text)), budget_(memory) {
  budget_.take(name_, text_.size(), 1);
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    throw InputError(name_, "is UTF-16 text", "Save it as UTF-8.");
  if (const auto zero = text_.find('\0'); zero != std::string::npos)
    throw InputError(name_, fmt::format("is no text: byte {} is zero", zero + 1),
                     "It may be packed, or a file of numbers that are not written out.");
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  if (!is_utf8(text_)) text_ = from_latin1(std::string_view(text_).substr(at_)), at_ = 0;
}

TextReader TextReader::open(const std::string& path, std::size_t memory) {
  return {path, read_bytes(path, memory), memory};
}

std::size_t TextReader::lines_left() const noexcept {
  const auto text = std::string_view(text_).substr(at_);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n') +
                                  std::count(text.begin(), text.end(), '\r'));
}

std::string TextReader::where() const { return line_ == 0 ? name_ : fmt::format("{}:{}", name_, line_); }

void TextReader::fail(const std::string& problem, const std::string& next) const {
  throw InputError(where(), problem, next);
}

bool TextReader::line(std::string_view& out) {
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  const std::string_view text = text_;
  const auto end = std::min(text.find_first_of("\r\n", at_), text.size());
  out = text.substr(at_, end - at_);
  at_ = end;
  if (at_ < text.size()) {
    if (text[at_] == '\r' && at_ + 1 < text.size() && text[at_ + 1] == '\n') ++at_;
    ++at_;
    ++next_line_;
  }
  return true;
}

bool TextReader::token(std::string_view& out) {
  const std::string_view text = text_;
  const auto is_comment = [&](char c) { return comment_ != '\0' && c == comment_; };
  for (;; ++at_) {
    if (at_ >= text.size()) return false;
    const char c = text[at_];
    if (is_comment(c)) {
      at_ = std::min(text.find_first_of("\r\n", at_), text.size());
      if (at_ >= text.size()) return false;
    }
    if (is_newline(text[at_])) {
      if (text[at_] == '\r' && at_ + 1 < text.size() && text[at_ + 1] == '\n') ++at_;
      ++next_line_;
    } else if (!is_blank(text[at_])) {
      break;
    }
  }
  line_ = next_line_;
  const auto begin = at_;
  while (at_ < text.size() && !is_blank(text[at_]) && !is_newline(text[at_]) && !is_comment(text[at_])) ++at_;
  out = text.substr(begin, at_ - begin);
  return true;
}

std::string_view TextReader::rest_of_line() {
  std::string_view rest;
  if (!line(rest)) return {};
  if (comment_ != '\0') rest = rest.substr(0, rest.find(comment_));
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
  return rest;
}

double TextReader::parsed(std::string_view word, std::string_view what, bool allow_nan) const {
  double value = 0;
  if (!parse_number(word, value))
    fail(fmt::format("\"{}\" stands where {} belongs", shown(word), what),
         word.find(',') != std::string_view::npos ? "Numbers are parted by blanks and have a decimal point."
                                                  : "Give a number.");
  if (std::isinf(value) || (std::isnan(value) && !allow_nan))
    fail(fmt::format("\"{}\" stands where {} belongs", shown(word), what), "Give a finite number.");
  return value;
}

double TextReader::number(std::string_view what, bool allow_nan) {
  std::string_view word;
  if (!token(word)) fail(fmt::format("the file ends where {} belongs", what), "It may be truncated.");
  return parsed(word, what, allow_nan);
}

std::int64_t TextReader::integer(std::string_view what, std::int64_t least, std::int64_t most) {
  std::string_view word;
  if (!token(word)) fail(fmt::format("the file ends where {} belongs", what), "It may be truncated.");
  std::int64_t value = 0;
  if (!parse_integer(word, value))
    fail(fmt::format("\"{}\" stands where {} belongs", shown(word), what), "Give a whole number.");
  if (value < least || value > most) {
    if (most == std::numeric_limits<std::int64_t>::max())
      fail(fmt::format("{} is {}", what, value), fmt::format("It must be {} or more.", least));
    fail(fmt::format("{} is {}", what, value), fmt::format("Allowed: {} to {}.", least, most));
  }
  return value;
}

std::string TextReader::with_its_star(std::string_view word) {
  std::string whole(word);
  for (;;) {
    const auto before = mark();
    std::string_view more;
    if (whole.ends_with('*') ? !token(more) : !(token(more) && more.starts_with('*'))) {
      rewind(before);
      return whole;
    }
    whole += more;
    if (!whole.ends_with('*')) return whole;
  }
}

std::vector<double> TextReader::numbers(std::size_t count, std::string_view what, bool run_lengths,
                                        bool allow_nan) {
  std::vector<double> out;
  expect_memory(std::min(count, bytes_left() / 2 + 1));
  out.reserve(std::min(count, bytes_left() / 2 + 1));
  std::string_view word;
  while (out.size() < count) {
    if (!token(word))
      fail(fmt::format("the file ends after {} of {} values: {}", out.size(), count, what),
           "It may be truncated, or the counts at its top are wrong.");
    const auto run = run_lengths ? with_its_star(word) : std::string();
    if (run_lengths) word = run;
    const auto star = run_lengths ? word.find('*') : std::string_view::npos;
    if (star == std::string_view::npos) {
      out.push_back(parsed(word, what, allow_nan));
      continue;
    }
    std::int64_t times = 0;
    if (!parse_integer(word.substr(0, star), times) || times < 1)
      fail(fmt::format("\"{}\" is not a run of equal values", shown(word)),
           "Write COUNT*VALUE, such as 60*20.");
    if (static_cast<std::uint64_t>(times) > count - out.size())
      fail(fmt::format("\"{}\" goes beyond the {} values expected ({} were there before): {}", shown(word),
                       count, out.size(), what),
           "Check the counts at the top of the file.");
    expect_memory(out.size() + static_cast<std::size_t>(
                                   times));  // expanded repetitions such as 60*20 may need much memory
    out.insert(out.end(), static_cast<std::size_t>(times), parsed(word.substr(star + 1), what, allow_nan));
  }
  return out;
}

void TextReader::expect_end(std::string_view after) {
  std::string_view word;
  if (token(word))
    fail(fmt::format("\"{}\" stands after {}", shown(word), after),
         "Check the counts at the top of the file.");
}

}  // namespace terrane::io
