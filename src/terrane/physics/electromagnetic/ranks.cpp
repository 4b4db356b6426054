#include "terrane/physics/electromagnetic/ranks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane::electromagnetic {

void put(Packet& packet, const Problem& problem) {
  for (const auto* faces : {&problem.mesh.easting(), &problem.mesh.northing(), &problem.mesh.up()})
    packet.put(*faces);
  for (const auto& sigma : problem.conductivity) packet.put(sigma);
  for (const auto& sigma : problem.quadrature) packet.put(sigma);
  packet.put(problem.chargeability);
  packet.put(problem.charge_time);
  packet.put(problem.charge_exponent);
  packet.put(problem.contrasts);
  packet.put(problem.sources.size());
  for (const auto& source : problem.sources) {
    packet.put(source.kind);
    packet.put(source.points);
    packet.put(source.moment);
    packet.put(source.current);
  }
  packet.put(problem.first_source);
  packet.put(problem.frequencies);
  packet.put(problem.receivers);
  packet.put(problem.components);
  packet.put(problem.electric_volume);
  packet.put(problem.magnetic_volume);
  packet.put(problem.edge_volume);
  packet.put(problem.parameters);
}

Problem get_problem(Packet& packet) {
  Problem problem;
  const auto easting = packet.get_vector<double>(), northing = packet.get_vector<double>(),
             up = packet.get_vector<double>();
  problem.mesh = TensorMesh(easting, northing, up);
  for (auto& sigma : problem.conductivity) sigma = packet.get_vector<double>();
  for (auto& sigma : problem.quadrature) sigma = packet.get_vector<double>();
  for (auto* values : {&problem.chargeability, &problem.charge_time, &problem.charge_exponent})
    *values = packet.get_vector<double>();
  problem.contrasts = packet.get_vector<double>();
  problem.sources.resize(packet.get<std::size_t>());
  for (auto& source : problem.sources) {
    source.kind = packet.get<Source::Kind>();
    source.points = packet.get_vector<Vector3>();
    source.moment = packet.get<Vector3>();
    source.current = packet.get<double>();
  }
  problem.first_source = packet.get<std::size_t>();
  problem.frequencies = packet.get_vector<double>();
  problem.receivers = packet.get_vector<Vector3>();
  problem.components = packet.get_vector<Component>();
  problem.electric_volume = packet.get<bool>();
  problem.magnetic_volume = packet.get<bool>();
  problem.edge_volume = packet.get<bool>();
  problem.parameters = packet.get<Parameters>();
  return problem;
}

namespace {

/// Two H200 are 1.1 times as fast as one with six million unknowns (benchmarks/records, ranks_solves).
constexpr double worth_sharing = 8e6;

}  // namespace

double part_of_field(const Problem& problem, int fields, int ranks, int on_node) {
  const int share_it = ranks / fields;
  if (share_it == 1) return problem.field_memory(true);
  constexpr double of_cycles = 3 * 80, of_messages = 4 * 2 * 8, of_whole_levels = 4 * (80 + 2 * 8),
                   of_halos = 40.0 * (1 << 21),  // bytes: of a cell, of a cell, of a point, of all
      of_own_levels = 27;  // of a cell: the potential's levels, which shared components have no place for
  // Points; through NCCL only where all ranks share one field over several machines: a split Comm has none.
  const double most_on_every_rank = fields == 1 && ranks > on_node ? 1 << 22 : 1 << 19;
  const auto whole = problem.cells();
  double most = 0, around = 0;
  for (const auto& part : cut(whole, share_it).parts) {
    const auto points = static_cast<double>(part.count());
    most = std::max(most, points);
    around = std::max(around, static_cast<double>(overlap(part.grown(3), whole).count()) - points);
  }
  const auto cells = static_cast<double>(problem.mesh.size());
  return problem.field_memory(true) * most / cells + of_own_levels * most +
         4.0 / 3 * around * (of_cycles + of_messages) +
         std::min(cells, most_on_every_rank) * of_whole_levels + of_halos;
}

SolvesToShare solves_of(const Problem& problem) {
  const auto of_machine = [&problem](int fields, const RanksOfRun& ranks) {
    if (ranks.on_gpus()) return problem.host_memory(ranks.on_node);
    const int share_it = (ranks.all + fields - 1) / fields;  // of the largest group
    return problem.field_memory_on_ranks(share_it) * fields * ranks.on_node / ranks.all +
           problem.host_memory(ranks.on_node);
  };
  const auto of_gpu = [&problem](int fields, const RanksOfRun& ranks) {
    return part_of_field(problem, fields, ranks.all, ranks.on_node);
  };
  return {.count = problem.solves(),
          .ranks_per_field = problem.parameters.ranks_per_field,
          .unknowns = 3 * static_cast<double>(problem.mesh.size()),
          .worth_sharing = worth_sharing,
          .of_machine = of_machine,
          .of_gpu = of_gpu};
}

Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  device = device_of_rank(runtime.device, comm);
  problem.check();
  const int at_once = share_ranks(solves_of(problem), ranks_of(runtime)).fields_at_once;
  if (comm.size() > 1) {
    Packet packet;
    put(packet, problem);
    packet.put(device_for_ranks(runtime.device, comm));
    packet.put(runtime.threads);
    packet.put(at_once);
    call(comm, "electromagnetic", std::move(packet));
  }
  std::optional<Stream> stream;
  together(comm, [&] { stream.emplace(device, false, runtime.threads); });
  return forward(problem, *stream, runtime.progress, &comm, at_once, runtime.checkpoint);
}

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  serve_in_step(comm, [&] {
    std::optional<Stream> stream;
    Problem problem;
    int at_once = 0;
    together(comm, [&] {
      problem = get_problem(packet);
      const auto device = device_of_rank(packet.get<Device>(), comm);
      stream.emplace(device, false, packet.get<int>());
      at_once = packet.get<int>();
    });
    forward(problem, *stream, nullptr, &comm, at_once);
  });
}

}  // namespace terrane::electromagnetic
