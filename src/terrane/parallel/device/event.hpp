// A point in the work of a stream, which other streams and the host can wait for.
#pragma once

#include <chrono>
#include <memory>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

/// On the CPU and the debug device work is done when the call that begins it returns, so nobody needs to
/// wait. But events tell a Graph that is being recorded which streams belong to it, as on a GPU.
class Event {
 public:
  /// timed: allows seconds_since(), at the cost of slightly slower recording.
  explicit Event(Device device, bool timed = false);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// The event is reached when the stream has done all work begun before this call.
  void record(Stream& stream);
  /// Whether the event has been reached; true before record().
  bool done() const;
  /// Makes the host wait until the event has been reached.
  void wait() const;
  /// Seconds between two timed events of one device, both reached.
  double seconds_since(const Event& earlier) const;

 private:
  friend class Stream;
  Device device_;
  void* handle_ = nullptr;
  std::weak_ptr<detail::Recording> recording_;  // the recording of the Graph that recorded the stream when
                                                // record() was called; null: none
  std::chrono::steady_clock::time_point at_;
};

}  // namespace terrane
