// How the ranks of a run divide several solves on one mesh, and the memory that they need: each solve is done
// by one rank, which needs no messages, or by a group of ranks, each with a part of the mesh. Results have
// the same bits either way.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "terrane/simulation/runtime.hpp"

namespace terrane {

struct Sharing {
  int fields_at_once = 1;  ///< number of groups of ranks; each solves for one field at a time
  std::string reason;      ///< reason for that number, for the report
};

/// The ranks of a run, and the memory that they may use.
struct RanksOfRun {
  int all = 1, on_node = 1;  ///< number of all ranks, and of ranks on the machine of rank 0
  double bytes = 0;          ///< memory of the machine of rank 0, bytes
  double device_bytes = 0;   ///< memory of each rank's GPU, bytes; 0: fields are on CPUs

  bool on_gpus() const { return device_bytes > 0; }
};

RanksOfRun ranks_of(const Runtime& runtime);

/// The solves that ranks divide, and the memory that they need.
struct SolvesToShare {
  std::size_t count = 1;
  int ranks_per_field = 0;   ///< least number of ranks per group asked for; 0: chosen here
  double unknowns = 0;       ///< number of unknowns of a solve
  double worth_sharing = 0;  ///< number of unknowns above which several GPUs are faster than one
  double at_rank_0 = 0;      ///< bytes on rank 0 for the results of all solves
  /// Bytes of host memory that a machine with on_node of the ranks needs, in addition to at_rank_0, if
  /// `fields` fields are computed at a time.
  std::function<double(int fields, const RanksOfRun& ranks)> of_machine;
  /// Bytes that each rank of the smallest group needs on its GPU.
  std::function<double(int fields, const RanksOfRun& ranks)> of_gpu;
};

/// Chooses as many fields at a time as solves, ranks and memory allow; but leaves some GPUs idle if a field
/// takes as long on one GPU as on several.
Sharing share_ranks(const SolvesToShare& solves, const RanksOfRun& ranks);

/// Bytes of host memory that the ranks of this machine need.
double memory_needed(const SolvesToShare& solves, const RanksOfRun& ranks);

/// Throws MemoryError if `what` needs more memory than this machine or the GPU of a rank has.
void require_memory(const SolvesToShare& solves, const Runtime& runtime, const std::string& what);

/// Bytes that a rank may use on its GPU: its share of the free memory; 0 on CPUs.
double free_of_gpu(const Runtime& runtime);

/// A text for the report: "1 of 2 for one field: no messages are needed".
std::string text_of(const Sharing& sharing, int ranks, const std::string& where = {});

}  // namespace terrane
