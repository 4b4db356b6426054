// Memory on a device, views of it, and the order in which work on it is done.
//
// A Buffer owns memory on one device and can be moved, not copied. A View does not own memory. Data are
// transferred only by explicit calls of upload() or download().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "terrane/parallel/arrays/view.hpp"
#include "terrane/parallel/device/debug_memory.hpp"
#include "terrane/parallel/device/device.hpp"

namespace terrane {

class Event;
class Stream;

namespace detail {

/// Work that a Graph records on the CPU or the debug device, and the streams on which it was begun.
struct Recording : std::enable_shared_from_this<Recording> {
  std::vector<std::function<void()>> work;
  std::vector<Stream*> streams;
  Recording() = default;
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  void take(Stream& stream);
};

}  // namespace detail

/// A queue of work on one device, done in order. Calls begin work on a GPU and return; wait() waits for it.
/// Errors of earlier work are thrown by later calls, as Error.
class Stream {
 public:
  /// device: resolved. urgent: its work takes precedence over that of other streams. threads: number of CPU
  /// threads that do its work if the device is the CPU or the debug device; 0: all.
  explicit Stream(Device device, bool urgent = false, int threads = 0);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Device device() const noexcept { return device_; }
  int threads() const noexcept { return threads_; }
  void wait();
  /// Work begun on this stream after this call waits until the event (of any device) has been reached. The
  /// host does not wait.
  void wait_for(const Event& event);
  /// The cudaStream_t of a GPU.
  void* handle() const noexcept { return handle_; }

  /// For launchers, on the CPU and on the debug device: does `work` now, or, while a Graph is recorded,
  /// records it. So `work` must own all that it uses.
  template <class Work>
  void do_on_host(const Work& work) {
    if (handle_) not_for_gpus();
    if (recording_) return recording_->work.push_back(work);
    const detail::DebugAccess access(device_.kind == Device::Kind::debug);
    work();
  }

 private:
  friend class Event;
  friend class Graph;
  friend struct detail::Recording;
  [[noreturn]] static void not_for_gpus();
  Device device_;
  int threads_;
  void* handle_ = nullptr;
  detail::Recording* recording_ = nullptr;  // the recording of the Graph that is being made; null: none
};

namespace detail {

/// Throws a MemoryError that states the bytes wanted and the bytes free.
void* allocate(Device device, std::size_t bytes);
void release(Device device, void* memory) noexcept;
void upload(Stream& stream, const void* from, void* to, std::size_t bytes, bool wait = true);
void download(Stream& stream, const void* from, void* to, std::size_t bytes, bool wait = true);
void copy(Stream& stream, Device source, const void* from, Device target, void* to, std::size_t bytes);
void fill_zero(Stream& stream, void* memory, std::size_t bytes);
void check_holds(std::size_t size, Index wanted);

}  // namespace detail

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// Memory that is not initialised. Throws MemoryError.
  Buffer(Device device, std::size_t size)
      : device_(device), size_(size), data_(static_cast<T*>(detail::allocate(device, size * sizeof(T)))) {}
  /// A copy of data on the host.
  Buffer(Stream& stream, std::span<const T> from) : Buffer(stream.device(), from.size()) {
    upload(stream, from);
  }
  ~Buffer() { detail::release(device_, data_); }
  Buffer(Buffer&& other) noexcept
      : device_(other.device_),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  Device device() const noexcept { return device_; }
  std::size_t size() const noexcept { return size_; }
  View<T> view() noexcept { return {data_, size_}; }
  View<const T> view() const noexcept { return {data_, size_}; }
  /// A view of the buffer as an array over the indices of the box. Throws ShapeError when the buffer holds
  /// fewer elements.
  template <int N>
  View<T, N> view(const IndexBox<N>& box) {
    detail::check_holds(size_, box.count());
    return {data_, box};
  }
  template <int N>
  View<const T, N> view(const IndexBox<N>& box) const {
    detail::check_holds(size_, box.count());
    return {data_, box};
  }

  /// Copies from the host to the elements from `first` on. When this returns, the host may change its copy.
  void upload(Stream& stream, std::span<const T> from, std::size_t first = 0) {
    detail::upload(stream, from.data(), data_ + first, from.size_bytes());
  }
  /// Copies to the host. Returns when the copy is done.
  void download(Stream& stream, std::span<T> to, std::size_t first = 0) const {
    detail::download(stream, data_ + first, to.data(), to.size_bytes());
  }
  /// Copy as upload() and download() do, but return without waiting for the copy. The host's memory, of a
  /// PinnedBuffer, must not be changed until the stream has done the copy.
  void upload_async(Stream& stream, std::span<const T> from, std::size_t first = 0) {
    detail::upload(stream, from.data(), data_ + first, from.size_bytes(), false);
  }
  void download_async(Stream& stream, std::span<T> to, std::size_t first = 0) const {
    detail::download(stream, data_ + first, to.data(), to.size_bytes(), false);
  }
  /// Copies from another buffer of this kind of device without waiting; directly from GPU to GPU if these can
  /// access each other's memory (reach_peers()). stream: of either device.
  void copy_from(Stream& stream, const Buffer& from, std::size_t from_first, std::size_t count,
                 std::size_t first = 0) {
    detail::copy(stream, from.device_, from.data_ + from_first, device_, data_ + first, count * sizeof(T));
  }
  void fill_zero(Stream& stream) { detail::fill_zero(stream, data_, size_ * sizeof(T)); }

 private:
  Device device_{Device::Kind::cpu, -1};
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

template <class T>
Buffer(Stream&, std::span<const T>) -> Buffer<T>;
template <class T>
Buffer(Stream&, const std::vector<T>&) -> Buffer<T>;

/// Makes a buffer at least `size` elements large; if it grows, its contents are lost.
template <class T>
void enlarge(Stream& stream, Buffer<T>& buffer, std::size_t size) {
  if (buffer.size() >= size) return;
  buffer = {};  // frees the memory before more is allocated
  buffer = Buffer<T>(stream.device(), size);
}

}  // namespace terrane
