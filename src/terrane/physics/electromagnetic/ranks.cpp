#include "terrane/physics/electromagnetic/ranks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/simulation/on_ranks.hpp"

namespace terrane::electromagnetic {

namespace {

/// Number of unknowns above which two GPUs share a field: with six million, two H200 are 1.1 times as fast as
/// one (benchmarks/records, ranks_solves).
constexpr double worth_sharing = 8e6;

}  // namespace

double part_of_field(const Problem& problem, int fields, int ranks, int on_node) {
  const int share_it = ranks / fields;
  if (share_it == 1) return problem.field_memory(true);
  constexpr double of_cycles = 3 * 80, of_messages = 4 * 2 * 8, of_whole_levels = 4 * (80 + 2 * 8),
                   of_halos = 40.0 * (1 << 21),  // bytes per point; of_halos: bytes in total
      // Bytes per cell for levels of the potential, which cannot use the memory of the components on shared
      // grids.
      of_own_levels = 27;
  // Largest number of points of a level that every rank stores entirely. It is larger with NCCL, which is
  // used only if all ranks share one field over several machines: a Comm that was split has no NCCL.
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
    const int share_it = (ranks.all + fields - 1) / fields;  // number of ranks in the largest group
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

namespace {

/// Called on every rank.
Outcome compute(const Problem& problem, const RankPlace& place, int at_once, Progress* progress,
                const CheckpointSettings& checkpoint) {
  std::optional<Stream> stream;
  together(place.comm, [&] { stream.emplace(place.device, false, place.threads); });
  return forward(problem, *stream, progress, &place.comm, at_once, checkpoint);
}

}  // namespace

Outcome forward_on_ranks(const Problem& problem, const Runtime& runtime, Device& device) {
  problem.check();
  const int at_once = share_ranks(solves_of(problem), ranks_of(runtime)).fields_at_once;
  const auto put = [&](Packet& packet) {
    put_fields(problem, packet);
    packet.put(at_once);
  };
  return lead_ranks("electromagnetic", runtime, put, [&](const RankPlace& place) {
    device = place.device;
    return compute(problem, place, at_once, runtime.progress, runtime.checkpoint);
  });
}

void serve(Comm& comm) {
  const auto take = [](Packet& packet) {
    auto problem = get_fields<Problem>(packet);
    return std::pair(std::move(problem), packet.get<int>());
  };
  follow_ranks(comm, take, [](const auto& task, const RankPlace& place) {
    compute(task.first, place, task.second, nullptr, {});
  });
}

}  // namespace terrane::electromagnetic
