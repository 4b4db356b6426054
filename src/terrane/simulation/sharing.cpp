#include "terrane/simulation/sharing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "terrane/simulation/serve.hpp"

namespace terrane {

Sharing share_ranks(const SolvesToShare& solves) {
  const int ranks = solves.ranks,
            most =
                static_cast<int>(std::clamp<std::size_t>(solves.count, 1, static_cast<std::size_t>(ranks)));
  if (const int asked = solves.ranks_per_field; asked > 0)
    return {std::clamp(ranks / asked, 1, most), "as asked for"};
  int fields = most;
  while (fields > 1 && !solves.fits(fields)) --fields;
  if (fields < most)
    return {fields,
            solves.on_gpus ? "the memory of the GPUs takes no more of them" : "memory takes no more of them"};
  if (fields == ranks) return {fields, "no messages are needed"};
  if (solves.on_gpus && solves.fits(ranks)) {
    // A group of one would keep the others waiting.
    if (ranks / fields < 2) return {ranks, "there are fewer solves than ranks, but not half as many"};
    if (solves.unknowns < solves.worth_sharing)
      return {ranks,
              fmt::format("there are fewer solves than ranks; but {:.2g} million unknowns are as quick on "
                          "one GPU, so some ranks have nothing to do",
                          1e-6 * solves.unknowns)};
  }
  return {fields, "there are fewer solves than ranks"};
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
