// Transfers through the memory of the ranks' GPUs, whose links are much faster than messages between
// processes. They are used for direct messages, and for broadcasts of arrays so large that the time to start
// a link does not matter. Both need one GPU per rank. All other messages go through the Comm that a GpuComm
// is built on. comm_nccl.hpp implements the links.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "terrane/parallel/comm/direct_link.hpp"

namespace terrane {

/// A link for broadcasts. Arrays are sent in pieces through two buffers (slots) used alternately, so that one
/// is filled or emptied while the other is being sent.
class GpuLink : public GpuGroup {
 public:
  static constexpr int slots = 2;

  /// Size of a slot, bytes.
  virtual std::size_t piece() const = 0;
  /// Collective: begins to copy these bytes of `root` to all ranks. Other ranks pass as many bytes, which
  /// finish() writes.
  virtual void begin(int slot, std::span<std::byte> bytes, int root) = 0;
  /// When this returns, the bytes have arrived and the slot is free.
  virtual void finish(int slot, std::span<std::byte> bytes, int root) = 0;
};

enum class GpuLinkUse { never, when_worth_it, always };

/// Whether to use a link for broadcasts: "0": never, "1": always, null or empty: when it is faster. Direct
/// messages are used wherever possible, unless the text is "0". Throws an InputError that names `where`, the
/// origin of the text.
GpuLinkUse gpu_link_use_from_text(const char* text, const std::string& where);

/// A Comm that broadcasts large arrays through a GpuLink if one can be made, and through the Comm `below`
/// otherwise. It also provides direct messages between GPUs, and between debug devices.
class GpuComm final : public Comm {
 public:
  /// Makes this rank's end of the link, not yet joined to the others; it copies on `threads` threads. Throws
  /// if that fails.
  using MakeLink = std::function<std::unique_ptr<GpuLink>(Device device, int threads)>;
  using MakeDirect = std::function<std::unique_ptr<DirectLink>(Device device)>;

  /// use: all ranks use the value of rank 0. make, make_direct: empty if this build has no such links between
  /// GPUs.
  GpuComm(Comm& below, MakeLink make, GpuLinkUse use, MakeDirect make_direct = {})
      : below_(below), make_(std::move(make)), make_direct_(std::move(make_direct)), use_(use) {}

  int rank() const noexcept override { return below_.rank(); }
  int size() const noexcept override { return below_.size(); }
  Place on_node() const noexcept override { return below_.on_node(); }
  std::string prepare(Device device, std::size_t bytes, int threads) override;
  void release() override { link_.reset(); }
  void broadcast(std::span<std::byte> bytes, int root) override;
  int lowest(int value) override { return below_.lowest(value); }
  void send(std::span<const std::byte> bytes, int to) override { below_.send(bytes, to); }
  void receive(std::span<std::byte> bytes, int from) override { below_.receive(bytes, from); }
  Message isend(std::span<const std::byte> bytes, int to, int tag) override {
    return below_.isend(bytes, to, tag);
  }
  Message irecv(std::span<std::byte> bytes, int from, int tag) override {
    return below_.irecv(bytes, from, tag);
  }
  void gather_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    below_.gather_all(mine, all);
  }
  /// The first call makes the link; later calls for the same device return the same one.
  Direct direct(Device device) override;
  /// The split Comm uses the Comm below for everything.
  std::unique_ptr<Comm> split(int colour, int key) override { return below_.split(colour, key); }
  bool takes_gpu_memory() const noexcept override { return below_.takes_gpu_memory(); }
  void abort(int status) override { below_.abort(status); }

 private:
  GpuLinkUse agreed_use();
  template <class Link, class Make>
  std::unique_ptr<Link> start(const Make& make, std::string& failure);

  Comm& below_;
  MakeLink make_;
  MakeDirect make_direct_;
  GpuLinkUse use_;
  std::unique_ptr<GpuLink> link_;  // exists from prepare() to release(), on all ranks or on none
  std::string failure_;            // error of the last attempt to make the link; the same on all ranks
  std::optional<Device> direct_device_;
  Direct direct_;
};

}  // namespace terrane
