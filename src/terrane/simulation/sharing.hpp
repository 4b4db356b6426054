// How the ranks of a run share solves of one mesh: each solve by a rank, which needs no messages, or by a
// group of ranks, each with a part of the mesh. Results have the same bits either way.
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

/// What decides it.
struct SolvesToShare {
  std::size_t count = 1;
  int ranks = 1;
  int ranks_per_field = 0;  ///< as asked for, at least; 0: as is best
  bool on_gpus = false;
  double unknowns = 0;       ///< of a solve
  double worth_sharing = 0;  ///< unknowns from which on several GPUs are quicker than one
  /// Whether the memory takes so many fields at once.
  std::function<bool(int fields)> fits;
};

/// As many fields at once as there are solves and ranks and memory; but GPUs have nothing to do where a field
/// is as quick on one as on several.
Sharing share_ranks(const SolvesToShare& solves);

/// What a rank may take of its GPU: its share of what is free; 0 on CPUs.
double free_of_gpu(const Runtime& runtime);

/// "1 of 2 for one field: no messages are needed"
std::string text_of(const Sharing& sharing, int ranks, const std::string& where = {});

}  // namespace terrane
