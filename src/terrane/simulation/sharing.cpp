#include "terrane/simulation/sharing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/simulation/describe.hpp"
#include "terrane/simulation/serve.hpp"

namespace terrane {

RanksOfRun ranks_of(const Runtime& runtime) {
  return {.all = runtime.comm ? runtime.comm->size() : 1,
          .on_node = runtime.comm ? runtime.comm->on_node().count : 1,
          .bytes = static_cast<double>(memory_budget(runtime).bytes),
          .device_bytes = free_of_gpu(runtime)};
}

Sharing share_ranks(const SolvesToShare& solves, const RanksOfRun& ranks) {
  const int most =
      static_cast<int>(std::clamp<std::size_t>(solves.count, 1, static_cast<std::size_t>(ranks.all)));
  const auto fits_gpus = [&](int fields) {
    return !ranks.on_gpus() || solves.of_gpu(fields, ranks) <= ranks.device_bytes;
  };
  const auto fits = [&](int fields) {
    return fits_gpus(fields) && solves.of_machine(fields, ranks) <= ranks.bytes - solves.at_rank_0;
  };
  if (const int asked = solves.ranks_per_field; asked > 0)
    return {std::clamp(ranks.all / asked, 1, most), "as asked for"};
  int fields = most;
  while (fields > 1 && !fits(fields)) --fields;
  if (fields < most)
    return {fields, !fits_gpus(fields + 1) ? "the memory of the GPUs takes no more of them"
                    : ranks.on_gpus()      ? "the memory of the machine takes no more of them"
                                           : "memory takes no more of them"};
  if (fields == ranks.all) return {fields, "no messages are needed"};
  if (ranks.on_gpus() && fits(ranks.all)) {
    // Some groups would have only one rank, and the larger groups would wait for them.
    if (ranks.all / fields < 2) return {ranks.all, "there are fewer solves than ranks, but not half as many"};
    if (solves.unknowns < solves.worth_sharing)
      return {ranks.all,
              fmt::format("there are fewer solves than ranks; but {:.2g} million unknowns are as quick on "
                          "one GPU, so some ranks have nothing to do",
                          1e-6 * solves.unknowns)};
  }
  return {fields, "there are fewer solves than ranks"};
}

double memory_needed(const SolvesToShare& solves, const RanksOfRun& ranks) {
  return solves.of_machine(share_ranks(solves, ranks).fields_at_once, ranks) + solves.at_rank_0;
}

void require_memory(const SolvesToShare& solves, const Runtime& runtime, const std::string& what) {
  const auto ranks = ranks_of(runtime);
  memory_budget(runtime).require("run", what, memory_needed(solves, ranks));
  if (ranks.on_gpus())
    MemoryBudget{static_cast<std::size_t>(ranks.device_bytes)}.require(
        "run", what + " on the GPU of a rank",
        solves.of_gpu(share_ranks(solves, ranks).fields_at_once, ranks));
}

double free_of_gpu(const Runtime& runtime) {
  Alone alone;
  const auto device = device_of_rank(runtime.device, runtime.comm ? *runtime.comm : alone);
  if (device.kind != Device::Kind::cuda) return 0;
  return 0.95 * static_cast<double>(device_memory(device).free);
}

std::string text_of(const Sharing& sharing, int ranks, const std::string& where) {
  const int each = ranks / sharing.fields_at_once;
  const auto some =
      ranks % sharing.fields_at_once == 0 ? fmt::format("{}", each) : fmt::format("{} or {}", each, each + 1);
  return fmt::format("{} of {} for one field{}: {}", some, ranks, where, sharing.reason);
}

}  // namespace terrane
