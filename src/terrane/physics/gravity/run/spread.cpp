#include "terrane/physics/gravity/run/spread.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/base/error.hpp"
#include "terrane/base/version.hpp"
#include "terrane/job/fields.hpp"
#include "terrane/mesh/order.hpp"
#include "terrane/parallel/simd/instruction_set.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tiles/tiles.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t most_prism_chunks =
    256;  // largest number of chunks of prisms; further ranks have nothing to do

/// What all ranks must know before they receive prisms and stations.
struct Task {
  std::string version, instruction_set, gpu;
  Parameters parameters;
  std::size_t prisms = 0, stations = 0;

  template <class Self, class Field>
  static void fields(Self& t, Field& field) {
    field("version", t.version, derived());
    field("instruction_set", t.instruction_set, derived());
    field("gpu", t.gpu, derived());
    field("parameters", t.parameters, in_same_table());
    field("prisms", t.prisms, derived());
    field("stations", t.stations, derived());
  }
};

/// Throws UnsupportedError if the last bits of this rank's results could differ from those of rank 0.
void check_same_program(const Task& task) {
  if (task.version != version_line())
    throw UnsupportedError("run", fmt::format("this is {}; rank 0 is {}", version_line(), task.version),
                           "Start the same program on every node.");
  if (task.instruction_set != instruction_set())
    throw UnsupportedError(
        "run",
        fmt::format("this CPU runs {}; that of rank 0 runs {}", instruction_set(), task.instruction_set),
        "Choose what all have: mpirun -x TERRANE_SIMD=avx2 ...");
}

/// This rank's device of the kind that rank 0 chose. Throws UnsupportedError.
Device own_device(const Task& task, const Comm& comm) {
  const Device device = device_of_rank(task.parameters.device, comm);
  if (device.kind == Device::Kind::cuda && device_name(device) != task.gpu)
    throw UnsupportedError("run",
                           fmt::format("the GPU is {}; that of rank 0 {}", device_name(device), task.gpu),
                           "Start ranks on GPUs of one kind, or write device = \"cpu\".");
  return device;
}

/// Bytes that every rank receives from rank 0 before the sums begin.
std::size_t bytes_for_all(std::size_t prisms, std::size_t stations, bool by_prisms) {
  return (3 * stations + (by_prisms ? 0 : 7 * prisms)) * sizeof(double);
}

/// Copies the selected prisms.
OwnedPrisms picked(const Prisms& prisms, std::span<const std::uint32_t> which, int threads) {
  OwnedPrisms own;
  const auto from = columns(prisms);
  for_each(from.size(), threads, [&](std::size_t c) {
    own.column[c].reserve(which.size());
    for (const auto n : which) own.column[c].push_back(from[c][n]);
  });
  return own;
}

/// On rank 0: sends to each rank the prisms of its chunks; returns those of rank 0.
std::shared_ptr<const OwnedPrisms> hand_out(Comm& comm, const Prisms& prisms,
                                            std::span<const std::uint32_t> order, int threads) {
  const Chunks chunks(prisms.size());
  const auto part = [&](int rank) {
    const auto range = chunks.prisms(chunks.of(comm, rank));
    return picked(prisms, order.subspan(range.first, range.size()), threads);
  };
  for (int rank = 1; rank < comm.size(); ++rank) {
    const auto own = part(rank);
    give_turn(comm, rank);
    for (const auto& column : own.column) comm.send(std::as_bytes(std::span(column)), rank);
  }
  return std::make_shared<const OwnedPrisms>(part(0));
}

/// On rank 0: makes the other ranks call serve() and sends them the task.
void send_task(Comm& comm, const MethodPlan& plan) {
  if (comm.size() == 1) return;
  Task task{version_line(),
            std::string(instruction_set()),
            plan.device.kind == Device::Kind::cuda ? device_name(plan.device) : "",
            plan.parameters,
            plan.summed.size(),
            plan.stations.size()};
  task.parameters.method = plan.method;
  Packet packet;
  put_fields(task, packet);
  call(comm, "gravity", std::move(packet));
}

}  // namespace

Prisms OwnedPrisms::view(Range range) const {
  const auto of = [&](int c) {
    return std::span<const double>(column[c]).subspan(range.first, range.size());
  };
  return {of(0), of(1), of(2), of(3), of(4), of(5), of(6)};
}

Chunks::Chunks(std::size_t prisms)
    : prisms_(prisms),
      count_(std::clamp<std::size_t>((prisms + tile_size - 1) / tile_size, 1, most_prism_chunks)) {}

Range Chunks::prisms(const Range& chunks) const {
  if (chunks.size() == 0) return {};
  return {prisms(chunks.first).first, prisms(chunks.last - 1).last};
}

Range Chunks::of(const Comm& comm, int rank) const {
  return balanced_range(count_, static_cast<std::size_t>(comm.size()), static_cast<std::size_t>(rank));
}

void make_columns(std::span<std::vector<double>> columns, std::size_t size, int threads) {
  for_each(columns.size(), threads, [&](std::size_t c) { columns[c].resize(size); });
}

Share spread(InStep& ranks, const MethodPlan& plan) {
  Comm& comm = ranks.comm();
  const auto& prisms = plan.summed;
  const int threads = plan.parameters.threads;
  Share share;
  share.parameters = plan.parameters;
  share.parameters.device = plan.device;
  share.prisms = prisms.size();
  send_task(comm, plan);
  std::vector<std::uint32_t> order;
  ranks.together([&] {  // allocated before the other ranks wait for prisms
    if (share.by_prisms()) order = compact_order(boxes(prisms), tile_size, threads);
  });
  share.note = comm.prepare(plan.device,
                            bytes_for_all(prisms.size(), plan.stations.size(), share.by_prisms()), threads);
  if (comm.size() > 1) {
    for (const auto& column : {plan.stations.easting, plan.stations.northing, plan.stations.up})
      broadcast_from_here(comm, std::as_bytes(column));
    if (!share.by_prisms())
      for (const auto& column : columns(prisms)) broadcast_from_here(comm, std::as_bytes(column));
  }
  comm.release();
  if (share.by_prisms()) share.own = hand_out(comm, prisms, order, threads);
  return share;
}

Share receive_share(InStep& ranks) {
  Comm& comm = ranks.comm();
  Packet packet;
  packet.broadcast(comm);
  const auto task = get_fields<Task>(packet);
  Share share;
  share.parameters = task.parameters;
  share.prisms = task.prisms;
  const int threads = task.parameters.threads;
  const auto prisms = std::make_shared<OwnedPrisms>();
  ranks.together([&] {
    check_same_program(task);
    share.parameters.device = own_device(task, comm);
    const Chunks chunks(task.prisms);
    make_columns(share.station, task.stations, threads);
    make_columns(prisms->column,
                 share.by_prisms() ? chunks.prisms(chunks.of(comm, comm.rank())).size() : task.prisms,
                 threads);
  });
  comm.prepare(share.parameters.device, bytes_for_all(task.prisms, task.stations, share.by_prisms()),
               threads);
  for (auto& column : share.station) comm.broadcast(std::as_writable_bytes(std::span(column)), 0);
  if (!share.by_prisms())
    for (auto& column : prisms->column) comm.broadcast(std::as_writable_bytes(std::span(column)), 0);
  comm.release();
  if (share.by_prisms()) {
    wait_for_turn(comm);
    for (auto& column : prisms->column) comm.receive(std::as_writable_bytes(std::span(column)), 0);
  }
  share.own = prisms;
  return share;
}

}  // namespace terrane::gravity
