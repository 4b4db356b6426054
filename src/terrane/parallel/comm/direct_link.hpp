// Messages from the memory of one rank's device into that of another rank's, as work of a stream: the host
// neither waits nor copies, and a Graph can record them. comm_nccl.hpp has the link between GPUs; for the
// debug device this file has a substitute.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "terrane/parallel/comm/comm.hpp"

namespace terrane {

class Stream;

/// One rank's end of a group of GPUs.
class GpuGroup {
 public:
  using GpuId = std::array<std::byte, 16>;
  using GroupId = std::array<std::byte, 128>;

  /// Collective, after join(); waits only a limited time for ranks that do not call it.
  virtual ~GpuGroup() = default;
  /// "NCCL 2.28.3"
  virtual std::string name() const = 0;
  /// An identifier that no other GPU of any node has.
  virtual GpuId gpu() const = 0;
  /// On rank 0: the key that all ranks pass to join().
  virtual GroupId make_group() = 0;
  /// Collective: joins this rank to the group.
  virtual void join(const GroupId& group, int rank, int ranks) = 0;
};

class DirectLink : public GpuGroup {
 public:
  /// A message, in memory of the device.
  struct Piece {
    int rank;  ///< the rank that receives or sends the message
    std::byte* data;
    std::size_t bytes;
  };
  /// Collective among the ranks that have pieces for each other: begins to send and to receive on the stream,
  /// after the work begun there before. Pieces from one rank to another arrive in the order of the lists.
  virtual void exchange(Stream& stream, std::span<const Piece> out, std::span<const Piece> in) = 0;
  /// Throws an Error when messages cannot arrive any more, and cancels those that are pending.
  virtual void check() {}
};

/// The substitute for debug devices: messages of a Comm between their memories.
class DebugLink final : public DirectLink {
 public:
  explicit DebugLink(std::unique_ptr<Comm> comm) : comm_(std::move(comm)) {}
  std::string name() const override { return "the debug device's stand-in"; }
  GpuId gpu() const override;
  GroupId make_group() override { return {}; }
  void join(const GroupId&, int, int) override {}
  void exchange(Stream& stream, std::span<const Piece> out, std::span<const Piece> in) override;

 private:
  std::shared_ptr<Comm> comm_;  // Comm of the messages; shared with work recorded in graphs
};

}  // namespace terrane
