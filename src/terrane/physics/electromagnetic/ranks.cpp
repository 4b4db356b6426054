#include "terrane/physics/electromagnetic/ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/simulation/describe.hpp"
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
  if (share_it == 1) return problem.field_memory();
  constexpr double of_cycles = 3 * 80, of_messages = 4 * 2 * 8, of_whole_levels = 4 * (80 + 2 * 8),
                   of_halos = 40.0 * (1 << 21);  // bytes: of a cell, of a cell, of a point, of all
  // Points; through NCCL only where all ranks share one field over several machines: a split Comm has none.
  const double most_on_every_rank = fields == 1 && ranks > on_node ? 1 << 22 : 1 << 19;
  const auto& mesh = problem.mesh;
  const auto whole = index_box(static_cast<Index>(mesh.n_up()), static_cast<Index>(mesh.n_north()),
                               static_cast<Index>(mesh.n_east()));
  double most = 0, around = 0;
  for (const auto& part : cut(whole, share_it).parts) {
    const auto points = static_cast<double>(part.count());
    most = std::max(most, points);
    around = std::max(around, static_cast<double>(overlap(part.grown(3), whole).count()) - points);
  }
  const auto cells = static_cast<double>(mesh.size());
  return problem.field_memory() * most / cells + 4.0 / 3 * around * (of_cycles + of_messages) +
         std::min(cells, most_on_every_rank) * of_whole_levels + of_halos;
}

Sharing share_ranks(const Problem& problem, int ranks, int on_node, double bytes, double device_bytes) {
  const bool on_gpus = device_bytes > 0;
  const auto fits = [&](int fields) {
    if (on_gpus)
      return part_of_field(problem, fields, ranks, on_node) <= device_bytes &&
             problem.host_memory(on_node) <= bytes;
    return problem.memory(static_cast<double>(fields) * on_node / ranks, on_node) <= bytes;
  };
  return terrane::share_ranks({.count = problem.solves(),
                               .ranks = ranks,
                               .ranks_per_field = problem.parameters.ranks_per_field,
                               .on_gpus = on_gpus,
                               .unknowns = 3 * static_cast<double>(problem.mesh.size()),
                               .worth_sharing = worth_sharing,
                               .fits = fits});
}

Sharing share_ranks(const Problem& problem, const Runtime& runtime) {
  const int ranks = runtime.comm ? runtime.comm->size() : 1,
            here = runtime.comm ? runtime.comm->on_node().count : 1;
  return share_ranks(problem, ranks, here, static_cast<double>(memory_budget(runtime).bytes),
                     free_of_gpu(runtime));
}

double memory_needed(const Problem& problem, const Runtime& runtime) {
  const double ranks = runtime.comm ? runtime.comm->size() : 1,
               here = runtime.comm ? runtime.comm->on_node().count : 1;
  if (free_of_gpu(runtime) > 0) return problem.host_memory(here);
  return problem.memory(share_ranks(problem, runtime).fields_at_once * here / ranks, here);
}

void require_memory(const Problem& problem, const Runtime& runtime, const std::string& what) {
  memory_budget(runtime).require("run", what, memory_needed(problem, runtime));
  const double gpu = free_of_gpu(runtime);
  const int ranks = runtime.comm ? runtime.comm->size() : 1,
            here = runtime.comm ? runtime.comm->on_node().count : 1;
  if (gpu > 0)
    MemoryBudget{static_cast<std::size_t>(gpu)}.require(
        "run", what + " on the GPU of a rank",
        part_of_field(problem, share_ranks(problem, runtime).fields_at_once, ranks, here));
}

Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device) {
  Alone alone;
  Comm& comm = runtime.comm ? *runtime.comm : alone;
  device = device_of_rank(runtime.device, comm);
  problem.check();
  const int at_once = share_ranks(problem, runtime).fields_at_once;
  try {
    if (comm.size() > 1) {
      call(comm, "electromagnetic");
      Packet packet;
      put(packet, problem);
      packet.put(device_for_ranks(runtime.device, comm));
      packet.put(runtime.threads);
      packet.put(at_once);
      packet.broadcast(comm);
    }
    Stream stream(device, false, runtime.threads);
    return forward(problem, stream, runtime.progress, &comm, at_once);
  } catch (const Cancelled&) {
    throw;
  } catch (const MemoryError&) {  // all ranks have agreed on it
    throw;
  } catch (const std::exception& error) {
    if (comm.size() == 1) throw;
    throw OutOfStep("rank 0", error.what());
  }
}

void serve(Comm& comm) {
  Packet packet;
  packet.broadcast(comm);
  const auto problem = get_problem(packet);
  const auto device = device_of_rank(packet.get<Device>(), comm);
  Stream stream(device, false, packet.get<int>());
  const int at_once = packet.get<int>();
  try {
    forward(problem, stream, nullptr, &comm, at_once);
  } catch (const Cancelled&) {
  } catch (const MemoryError&) {  // rank 0 tells the user
  } catch (const std::exception& error) {
    throw OutOfStep("rank " + std::to_string(comm.rank()), error.what());
  }
}

}  // namespace terrane::electromagnetic
