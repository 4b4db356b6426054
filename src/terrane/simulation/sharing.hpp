// How the ranks of a run share solves of one mesh: each solve by a rank, which needs no messages, or by a
// group of ranks, each with a part of the mesh; and the memory that they need. Results have the same bits
// either way.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "terrane/simulation/runtime.hpp"

namespace terrane {

struct Sharing {
  int fields_at_once = 1;  ///< groups of ranks, each with a field of its own where there are as many solves
  std::string reason;      ///< for people
};

/// The ranks of a run, and the memory that they may take.
struct RanksOfRun {
  int all = 1, on_node = 1;  ///< on_node: number of these on the machine of rank 0
  double bytes = 0;          ///< of its memory
  double device_bytes = 0;   ///< bytes of each rank's GPU; 0: fields are in the memory of CPUs

  bool on_gpus() const { return device_bytes > 0; }
};

RanksOfRun ranks_of(const Runtime& runtime);

/// The solves that ranks share, and the memory that they need.
struct SolvesToShare {
  std::size_t count = 1;
  int ranks_per_field = 0;   ///< least number that was asked for; 0: the best is chosen
  double unknowns = 0;       ///< of a solve
  double worth_sharing = 0;  ///< number of unknowns above which several GPUs are quicker than one
  double at_rank_0 = 0;      ///< bytes on rank 0 for the results of all solves
  /// Bytes of host memory that a machine with on_node of the ranks needs, beside at_rank_0, with so many
  /// fields at once.
  std::function<double(int fields, const RanksOfRun& ranks)> of_machine;
  /// Bytes that each rank of the smallest group needs on its GPU.
  std::function<double(int fields, const RanksOfRun& ranks)> of_gpu;
};

/// As many fields at once as solves, ranks and memory allow; but some GPUs stay idle where a field is as
/// quick on one as on several.
Sharing share_ranks(const SolvesToShare& solves, const RanksOfRun& ranks);

/// Bytes of host memory that the ranks of this machine need.
double memory_needed(const SolvesToShare& solves, const RanksOfRun& ranks);

/// Throws MemoryError: `what` takes more than there is, here or on the GPU of a rank.
void require_memory(const SolvesToShare& solves, const Runtime& runtime, const std::string& what);

/// Bytes that a rank may take of its GPU: its share of what is free; 0 on CPUs.
double free_of_gpu(const Runtime& runtime);

/// "1 of 2 for one field: no messages are needed"
std::string text_of(const Sharing& sharing, int ranks, const std::string& where = {});

}  // namespace terrane
