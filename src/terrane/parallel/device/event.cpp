#include "terrane/parallel/device/event.hpp"

#include "terrane/parallel/device/cuda.hpp"

namespace terrane {

namespace cuda = detail::cuda;

Event::Event(Device device, bool timed) : device_(device) {
  if (device.kind == Device::Kind::cuda) handle_ = cuda::make_event(device.index, timed);
}

Event::~Event() {
  if (handle_) cuda::drop_event(device_.index, handle_);
}

void Event::record(Stream& stream) {
  recording_.reset();
  if (stream.recording_) recording_ = stream.recording_->weak_from_this();
  if (handle_) return cuda::record_event(device_.index, handle_, stream.handle());
  stream.do_on_host([this] { at_ = std::chrono::steady_clock::now(); });
}

bool Event::done() const { return !handle_ || cuda::event_done(device_.index, handle_); }

void Event::wait() const {
  if (handle_) cuda::wait_for_event(device_.index, handle_);
}

double Event::seconds_since(const Event& earlier) const {
  if (handle_) return cuda::seconds_between(earlier.handle_, handle_);
  return std::chrono::duration<double>(at_ - earlier.at_).count();
}

void Stream::wait_for(const Event& event) {
  if (const auto recording = event.recording_.lock(); recording && !recording_) recording->take(*this);
  if (handle_ && event.handle_) cuda::stream_waits(device_.index, handle_, event.handle_);
}

namespace detail {

void Recording::take(Stream& stream) {
  streams.push_back(&stream);
  stream.recording_ = this;
}

Recording::~Recording() {
  for (Stream* stream : streams) stream->recording_ = nullptr;
}

}  // namespace detail

}  // namespace terrane
