#include "terrane/parallel/device/graph.hpp"

#include "terrane/base/error.hpp"
#include "terrane/parallel/device/cuda.hpp"

namespace terrane {

namespace cuda = detail::cuda;

Graph::Graph(Stream& stream, const std::function<void()>& work) : device_(stream.device()) {
  if (stream.recording_) throw Error("graph", "the stream is being recorded already");
  const auto recording = std::make_shared<detail::Recording>();
  recording->take(stream);
  if (device_.kind != Device::Kind::cuda) {
    work();  // the streams leave the recording when it ends, whether by an error or not
    work_ = std::move(recording->work);
    return;
  }
  cuda::begin_capture(device_.index, stream.handle());
  try {
    work();
  } catch (...) {
    cuda::drop_capture(device_.index, stream.handle());
    throw;
  }
  handle_ = cuda::end_capture(device_.index, stream.handle());
}

Graph::~Graph() {
  if (handle_) cuda::drop_graph(device_.index, handle_);
}

void Graph::launch(Stream& stream) {
  if (!(stream.device() == device_))
    throw Error("graph", "was recorded on " + to_string(device_) + ", not on " + to_string(stream.device()));
  if (handle_) return cuda::launch_graph(device_.index, handle_, stream.handle());
  stream.do_on_host([this] {
    for (const auto& work : work_) work();
  });
}

}  // namespace terrane
