#include "terrane/parallel/partition/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace terrane {

template <class T>
Exchange<T>::Exchange(Stream& stream, std::vector<Parcel> out, std::vector<Parcel> in, Index most, Comm& comm)
    : comm_(comm.split(0, comm.rank())),
      stream_(stream.device(), true, stream.threads()),
      out_(std::move(out)),
      in_(std::move(in)),
      ready_(stream.device()),
      packed_(stream.device()),
      filled_(stream.device()),
      waited_for_(stream.device()) {
  const auto device = stream.device();
  auto direct = comm.direct(device);
  link_ = std::move(direct.link);
  why_not_ = std::move(direct.why_not);
  through_host_ =
      device.has_own_memory() && !link_ && !(device.kind == Device::Kind::cuda && comm.takes_gpu_memory());
  for (const auto& parcel : out_) out_count_ += parcel.count;
  for (const auto& parcel : in_) in_count_ += parcel.count;
  const auto leaving = static_cast<std::size_t>(out_count_ * most),
             arriving = static_cast<std::size_t>(in_count_ * most);
  packed_out_ = Buffer<T>(device, leaving);
  packed_in_ = Buffer<T>(device, arriving);
  if (through_host_) {
    host_out_ = PinnedBuffer<T>(device, leaving);
    host_in_ = PinnedBuffer<T>(device, arriving);
  }
  if (!link_) return;
  // A link allocates resources at its first messages of a size, which cannot be recorded in a Graph: so send
  // once now.
  packed_out_.fill_zero(stream_);
  link_->exchange(stream_, pieces(out_, most, packed_out_.view().data),
                  pieces(in_, most, packed_in_.view().data));
  wait(stream_);
}

template <class T>
std::vector<DirectLink::Piece> Exchange<T>::pieces(const std::vector<Parcel>& parcels, Index times,
                                                   T* packed) const {
  std::vector<DirectLink::Piece> all;
  for (const auto& parcel : parcels)
    if (parcel.count > 0)
      all.push_back({parcel.rank, reinterpret_cast<std::byte*>(packed + parcel.first * times),
                     static_cast<std::size_t>(parcel.count * times) * sizeof(T)});
  return all;
}

template <class T>
void Exchange<T>::begin(Stream& stream, Index times, const Move& pack) {
  if (!link_) {
    filled_.wait();  // waits until the previous exchange's values have been copied out of the receiving
                     // arrays
    T* const to = through_host_ ? host_in_.data() : packed_in_.view().data;
    for (const Parcel& parcel : in_) {
      const std::span bytes(to + parcel.first * times, static_cast<std::size_t>(parcel.count * times));
      messages_.push_back(comm_->irecv(std::as_writable_bytes(bytes), parcel.rank, parcel.tag));
    }
  }
  ready_.record(stream);
  stream_.wait_for(ready_);
  pack(stream_, packed_out_.view().data);
  if (link_)
    return link_->exchange(stream_, pieces(out_, times, packed_out_.view().data),
                           pieces(in_, times, packed_in_.view().data));
  if (through_host_)
    packed_out_.download_async(stream_, host_out_.span().first(static_cast<std::size_t>(out_count_ * times)));
  packed_.record(stream_);
  if (packed_.done()) send(times);  // sends at once if the CPU did the packing
}

template <class T>
void Exchange<T>::send(Index times) {
  const T* const from = through_host_ ? host_out_.data() : packed_out_.view().data;
  for (const Parcel& parcel : out_) {
    const std::span bytes(from + parcel.first * times, static_cast<std::size_t>(parcel.count * times));
    messages_.push_back(comm_->isend(std::as_bytes(bytes), parcel.rank, parcel.tag));
  }
}

template <class T>
void Exchange<T>::end(Stream& stream, Index times, const Move& unpack) {
  if (!link_) {
    if (messages_.size() == in_.size()) {
      packed_.wait();
      send(times);
    }
    wait_all(messages_);
    messages_.clear();
    if (through_host_)
      packed_in_.upload_async(stream_, host_in_.span().first(static_cast<std::size_t>(in_count_ * times)));
  }
  unpack(stream_, packed_in_.view().data);
  filled_.record(stream_);
  stream.wait_for(filled_);
}

template <class T>
std::string Exchange<T>::transport() const {
  if (link_) return "go from device to device by " + link_->name();
  if (stream_.device().kind != Device::Kind::cuda && why_not_.empty()) return {};
  if (!through_host_) return "go from device to device by MPI";
  return "go through the host" + (why_not_.empty() ? "" : ": " + why_not_);
}

template <class T>
void Exchange<T>::wait(Stream& stream) {
  if (!link_) return stream.wait();
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds awake(1);
  constexpr std::chrono::microseconds nap(20);
  waited_for_.record(stream);
  for (const auto begin = Clock::now(); !waited_for_.done();) {
    if (Clock::now() - begin < awake) continue;
    link_->check();
    std::this_thread::sleep_for(nap);
  }
  stream.wait();  // waits, so that errors of the stream's work are thrown here
}

template class Exchange<float>;
template class Exchange<double>;

}  // namespace terrane
