// Computes a planned sum on all ranks of a run, and saves checkpoints.
//
// Rank 0 has read the problem and planned; the others have no data yet and wait in serve(). In a partition by
// stations, every rank receives all prisms and stations, prepares the same summation and computes its share
// of the parts. In a partition by prisms, the prisms in compact order are cut into chunks, which depend on
// their number alone; a rank receives the prisms of its chunks and computes all parts with them, and the sums
// over chunks are added in a fixed tree. The work is done in rounds: after each, all ranks agree whether any
// failed, and rank 0 may write a checkpoint. The result is bitwise the same for any number of ranks and
// rounds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::gravity {

/// Chooses how ranks share the sum, if the job leaves the choice to the program: by stations, if `memory`
/// bytes per node suffice for the plan once per rank of the node; else by prisms, which only the direct sum
/// supports. A partition that the job requests is returned unchanged. Throws MemoryError.
Partition choose_partition(const MethodPlan& plan, const Runtime& runtime, std::size_t memory);

/// "3 ranks by stations, each cpu (avx512, 16 threads)"; only the device if there is one rank.
std::string describe(const std::string& device, Partition partition, const Runtime& runtime);

struct Distributed {
  PartSums sums;                             ///< values [channels][stations], contacts ordered by station
  std::vector<std::string> notes, warnings;  ///< notes and warnings about checkpoints
};

/// On rank 0: computes the sums of the plan; plan.parameters.partition is not automatic. An error of any rank
/// is thrown on every rank. Throws Cancelled; InputError: a checkpoint of another problem; OutOfStep.
/// beside: empty, or a function that another thread of rank 0 runs while the sums are computed; its errors
/// are thrown here.
Distributed distribute(const MethodPlan& plan, const Runtime& runtime, Progress& progress,
                       const std::function<void()>& beside = {});

/// On the other ranks: computes their share of one distribute(); rank 0 reports its errors. Throws OutOfStep.
void serve(Comm& comm);

}  // namespace terrane::gravity
