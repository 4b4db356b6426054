#include "terrane/io/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

/// Calls move(bytes done) until all bytes are transferred; returns 0 or the error number.
template <class Move>
int move_all(std::size_t bytes, const Move& move) {
  for (std::size_t done = 0; done < bytes;) {
    const auto moved = move(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EIO;
    done += static_cast<std::size_t>(moved);
  }
  return 0;
}

/// Reserves disk space; returns whether there is too little. File systems that cannot reserve space report a
/// full disk only on writing.
bool take_room(int file, std::size_t bytes) {
#ifdef __linux__
  int taken = 0;
  do taken = bytes > 0 ? ::fallocate(file, 0, 0, static_cast<off_t>(bytes)) : 0;
  while (taken != 0 && errno == EINTR);
  return taken == 0 || (errno != ENOSPC && errno != EDQUOT && errno != EFBIG);
#else
  return true;
#endif
}

std::string free_beside(const std::string& path) {
  std::error_code failed;
  const auto space = std::filesystem::space(std::filesystem::absolute(path, failed).parent_path(), failed);
  return failed ? "less" : bytes_text(static_cast<double>(space.available));
}

}  // namespace

Spool::Spool(const std::string& path, std::size_t frames, std::size_t bytes_of_frame, Words words)
    : path_(path), bytes_of_frame_(bytes_of_frame), words_(std::move(words)) {
  const PendingPath named(path);  // the destructor of `named` removes the name; the open file remains usable
  file_ = ::open(named.temporary().c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0) throw FileError(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  const std::size_t bytes = frames * bytes_of_frame;
  if (take_room(file_, bytes)) return;
  const std::string why = std::strerror(errno), there = free_beside(path);
  ::close(file_);
  throw FileError(path,
                  fmt::format("{} take {}, {} are free: {}", words_.what,
                              bytes_text(static_cast<double>(bytes)), there, why),
                  words_.next);
}

Spool::~Spool() { ::close(file_); }

void Spool::put(std::size_t frame, std::span<const std::byte> bytes) {
  const int error = move_all(bytes.size(), [&](std::size_t done) {
    return ::pwrite(file_, bytes.data() + done, bytes.size() - done,
                    static_cast<off_t>(frame * bytes_of_frame_ + done));
  });
  if (error != 0)
    throw FileError(path_, fmt::format("writing {}: {}", words_.what, std::strerror(error)), words_.next);
}

void Spool::get(std::size_t frame, std::span<std::byte> bytes) const {
  const int error = move_all(bytes.size(), [&](std::size_t done) {
    return ::pread(file_, bytes.data() + done, bytes.size() - done,
                   static_cast<off_t>(frame * bytes_of_frame_ + done));
  });
  if (error != 0)
    throw FileError(path_, fmt::format("reading {}: {}", words_.what, std::strerror(error)), words_.next);
}

}  // namespace terrane::io
