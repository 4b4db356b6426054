// The work of a time step, recorded once and launched many times by one call each: a GPU goes from kernel
// to kernel without waiting for the host.
#pragma once

#include <functional>

#include "terrane/parallel/device/event.hpp"

namespace terrane {

/// A graph can record kernels, fill_zero(), upload_async(), download_async(), copies between devices and
/// events. It records them on its own stream and on other streams that wait for events of its stream; its
/// stream must wait for an event of each other stream before the recording ends. Memory, views and events
/// used by the work must outlive the graph; host memory is read at each launch. Calls that make the host wait
/// cannot be recorded: upload(), download(), wait(), messages of a Comm.
class Graph {
 public:
  /// Records the work that `work` begins on the stream, without executing it.
  Graph(Stream& stream, const std::function<void()>& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Begins all recorded work on a stream of the same device, in the recorded order.
  void launch(Stream& stream);

 private:
  Device device_;
  void* handle_ = nullptr;
  std::vector<std::function<void()>> work_;  // recorded work, on the CPU and the debug device
};

}  // namespace terrane
