// A point in the work of a stream, which other streams and the host can wait for.
#pragma once

#include <chrono>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// On the CPU and the debug device, whose work is done when it was begun, nobody waits; but a Graph that is
/// being recorded follows from stream to stream by events, as on a GPU.
class Event {
 public:
  /// timed: seconds_since() can be asked, and recording costs a little more.
  explicit Event(Device device, bool timed = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Is reached when the stream has done what was begun so far.
  void record(Stream& stream);
  /// Whether it has been reached; true before record().
  bool done() const;
  /// The host waits until it has been reached.
  void wait() const;
  /// Seconds between two timed events, both reached, of one device.
  double seconds_since(const Event& earlier) const;

 private:
  friend class Stream;
  Device device_;
  void* handle_ = nullptr;
  detail::Recording* recording_ = nullptr;  // that the stream was in when this was recorded
  std::chrono::steady_clock::time_point at_;
};

}  // namespace terrane
