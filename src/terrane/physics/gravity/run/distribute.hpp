// A planned sum on all ranks of a run, kept safe on the way.
//
// Rank 0 has read the problem and planned; the others hold nothing yet and wait in serve(). By stations,
// every rank gets all prisms and stations, makes the same summation and does its share of the parts. By
// prisms, the prisms in compact order are cut into chunks, which depend on their number alone; a rank gets
// the prisms of its chunks and does all parts with them, and the sums over chunks are added in a fixed tree.
// Work goes in rounds: after each, all ranks agree whether any failed, and rank 0 may write a checkpoint. No
// bit depends on how many ranks there are, nor on how many rounds it took.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::gravity {

/// The partition asked for, or when that is automatic what fits: by stations, if `memory` bytes per node hold
/// the plan once for each of its ranks; else by prisms, which only the direct sum can. Throws MemoryError.
Partition choose_partition(const MethodPlan& plan, const Runtime& runtime, std::size_t memory);

/// "3 ranks by stations, each cpu (avx512, 16 threads)"; the device alone when there is one rank.
std::string describe(const std::string& device, Partition partition, const Runtime& runtime);

struct Distributed {
  PartSums sums;                             ///< values [channels][stations], contacts ordered by station
  std::vector<std::string> notes, warnings;  ///< about checkpoints
};

/// Rank 0: the sums of the plan; plan.parameters.partition is not automatic. Throws, on every rank, what any
/// rank throws; Cancelled; InputError: a checkpoint of another problem; OutOfStep.
/// beside: or none: done by another thread of rank 0, from when the sums begin; what it throws is thrown.
Distributed distribute(const MethodPlan& plan, const Runtime& runtime, Progress& progress,
                       const std::function<void()>& beside = {});

/// The other ranks: their side of one distribute(), whose errors rank 0 reports. Throws OutOfStep.
void serve(Comm& comm);

}  // namespace terrane::gravity
