#include "terrane/parallel/comm/direct_link.hpp"

#include <cstring>
#include <vector>

#include "terrane/parallel/device/buffer.hpp"

namespace terrane {

GpuGroup::GpuId DebugLink::gpu() const {
  GpuId id{};
  const int rank = comm_->rank();
  std::memcpy(id.data(), &rank, sizeof rank);
  return id;
}

void DebugLink::exchange(Stream& stream, std::span<const Piece> out, std::span<const Piece> in) {
  stream.do_on_host([comm = comm_, leaving = std::vector<Piece>(out.begin(), out.end()),
                     arriving = std::vector<Piece>(in.begin(), in.end())] {
    std::vector<Message> messages;
    for (const auto& piece : arriving)
      messages.push_back(comm->irecv(std::span(piece.data, piece.bytes), piece.rank, 0));
    for (const auto& piece : leaving)
      messages.push_back(comm->isend(std::span<const std::byte>(piece.data, piece.bytes), piece.rank, 0));
    wait_all(messages);
  });
}

}  // namespace terrane
