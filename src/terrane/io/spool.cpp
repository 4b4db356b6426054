#include "terrane/io/spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

/// Calls move(bytes done) until all are moved.
template <class Move>
void move_all(const std::string& path, std::size_t bytes, const Move& move) {
  for (std::size_t done = 0; done < bytes;) {
    const auto moved = move(done);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0)
      throw FileError(path, fmt::format("what belongs into it cannot be kept on disk meanwhile: {}",
                                        moved < 0 ? std::strerror(errno) : "the file ends"));
    done += static_cast<std::size_t>(moved);
  }
}

}  // namespace

Spool::Spool(const std::string& path, std::size_t frames, std::size_t numbers)
    : path_(path), numbers_(numbers) {
  PendingPath named(path);  // which removes the name when it goes; the open file stays
  named.reserve(frames * numbers * sizeof(float));
  file_ = ::open(named.temporary().c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0) throw FileError(path, fmt::format("cannot be written: {}", std::strerror(errno)));
}

Spool::~Spool() {
  if (file_ >= 0) ::close(file_);
}

void Spool::put(std::size_t frame, std::span<const float> values) {
  const auto bytes = std::as_bytes(values);
  const auto at = frame * numbers_ * sizeof(float);
  move_all(path_, bytes.size(), [&](std::size_t done) {
    return ::pwrite(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
  });
}

void Spool::get(std::size_t frame, std::span<float> values) const {
  const auto bytes = std::as_writable_bytes(values);
  const auto at = frame * numbers_ * sizeof(float);
  move_all(path_, bytes.size(), [&](std::size_t done) {
    return ::pread(file_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
  });
}

}  // namespace terrane::io
