#include "terrane/physics/electric/ranks.hpp"

#include <algorithm>
#include <optional>

#include "terrane/job/fields.hpp"
#include "terrane/simulation/on_ranks.hpp"

namespace terrane::electric {

namespace {

/// Number of unknowns above which two GPUs share a mesh: two H200 are 1.3 times as fast as one with 16
/// million nodes, and as fast as one with two million (benchmarks/records, ranks_solves_cuts).
constexpr double worth_sharing = 8e6;

/// Bytes of multigrid levels with few points, of lists for their sweeps, and of buffers of threads.
constexpr double small_arrays = 2.5e6;

}  // namespace

double Load::memory(double fields, double ranks) const {
  return fields * (bytes_needed(nodes, complex, false, coarser) + small_arrays) +
         std::max(0.0, ranks - fields) * bytes_of_helper(nodes, complex) + ranks * bytes_of_rank;
}

double Load::part_of_gpu(int fields, int ranks) const {
  const int share_it = ranks / fields;
  if (share_it == 1) return bytes_needed(nodes, complex, true);
  // 15 % more for the halo, and for coarse levels, which every rank stores entirely; and 40 pieces of 2 MiB
  // for halos that other ranks map.
  return 1.15 * bytes_needed(nodes / share_it, complex, true) + 40.0 * (1 << 21);
}

SolvesToShare solves_of(const Load& load, double at_rank_0) {
  // A single rank sends no results to another rank.
  const auto of_machine = [load](int fields, const RanksOfRun& ranks) {
    const double here = ranks.on_node, of_these = fields * here / ranks.all;
    return load.memory(ranks.on_gpus() ? 0 : of_these, here) +
           (ranks.all > 1 ? load.handed_over(of_these) : 0);
  };
  return {
      .count = load.solves,
      .ranks_per_field = load.ranks_per_field,
      .unknowns = load.nodes,
      .worth_sharing = worth_sharing,
      .at_rank_0 = at_rank_0,
      .of_machine = of_machine,
      .of_gpu = [load](int fields, const RanksOfRun& ranks) { return load.part_of_gpu(fields, ranks.all); }};
}

namespace {

/// The input that the other ranks need.
struct Task {
  TensorMesh mesh;
  Medium medium;
  Electrodes electrodes;
  Parameters parameters;
  int at_once = 0;
};

/// Called on every rank.
DirectCurrentData compute(const TensorMesh& mesh, const Medium& medium, const Electrodes& electrodes,
                          const Parameters& parameters, int at_once, const RankPlace& place,
                          DirectCurrentReport* report, Progress* progress) {
  std::optional<Stream> stream;
  together(place.comm, [&] { stream.emplace(place.device, false, place.threads); });
  return direct_current(mesh, medium, electrodes, parameters, *stream, report, progress, &place.comm,
                        at_once);
}

}  // namespace

DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Medium& medium,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report, Device& device,
                                          int at_once) {
  const auto put = [&](Packet& packet) {
    put_value(mesh, packet), put_fields(medium, packet), put_fields(parameters, packet);
    packet.put(electrodes.place), packet.put(electrodes.arrays), packet.put(at_once);
  };
  return lead_ranks("electric", runtime, put, [&](const RankPlace& place) {
    device = place.device;
    return compute(mesh, medium, electrodes, parameters, at_once, place, &report, runtime.progress);
  });
}

void serve(Comm& comm) {
  const auto take = [](Packet& packet) {
    Task task;
    get_value(task.mesh, packet);
    task.medium = get_fields<Medium>(packet);
    task.parameters = get_fields<Parameters>(packet);
    get_value(task.electrodes.place, packet), get_value(task.electrodes.arrays, packet);
    get_value(task.at_once, packet);
    return task;
  };
  follow_ranks(comm, take, [](const Task& task, const RankPlace& place) {
    compute(task.mesh, task.medium, task.electrodes, task.parameters, task.at_once, place, nullptr, nullptr);
  });
}

}  // namespace terrane::electric
