// Page-locked host memory: GPUs copy to and from it without the CPU.
#pragma once

#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

namespace detail {
/// Throw MemoryError.
void* allocate_pinned(Device device, std::size_t bytes);
void release_pinned(Device device, void* memory) noexcept;
}  // namespace detail

/// Host memory for upload_async() and download_async(): pinned (page-locked) for GPUs, ordinary for other
/// devices. Allocation takes milliseconds: keep the buffer.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  /// The memory is not initialised.
  PinnedBuffer(Device device, std::size_t size)
      : device_(device),
        size_(size),
        data_(static_cast<T*>(detail::allocate_pinned(device, size * sizeof(T)))) {}
  ~PinnedBuffer() { detail::release_pinned(device_, data_); }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : device_(other.device_),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::span<T> span() noexcept { return {data_, size_}; }
  std::span<const T> span() const noexcept { return {data_, size_}; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  Device device_{Device::Kind::cpu, -1};
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace terrane
