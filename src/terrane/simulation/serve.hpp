// The ranks of a run: rank 0 reads, decides and writes; the others wait here for work.
#pragma once

#include <functional>
#include <string_view>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane {

/// Every rank but 0: does what rank 0 asks for, until rank 0 dismisses it. Throws OutOfStep: the caller
/// aborts.
void serve(const Registry& registry, Comm& comm);

/// Rank 0: makes the others start the work that `physics` declares for every rank (Physics::serve).
void call(Comm& comm, std::string_view physics);

/// Rank 0: the same, and sends them `packet`, which they take by Packet::broadcast().
void call(Comm& comm, std::string_view physics, Packet packet);

/// Rank 0, before long reading of input: tells the others which device a job asks for. They then initialise
/// their GPUs meanwhile, where the job may use them and each rank has one for itself.
void foretell(Comm& comm, Device wanted);

/// Any rank: runs its part of some work. An error on which all ranks agreed (together(), Groups::in_step()),
/// and Cancelled, is thrown as it is; any other is known to this rank alone, and the others would wait: it
/// becomes OutOfStep.
void keep_in_step(Comm& comm, const std::function<void()>& work);

/// A rank but 0: the same; false after an error of all ranks, which rank 0 tells the user.
bool serve_in_step(Comm& comm, const std::function<void()>& work);

/// Rank 0: dismisses the others.
void dismiss(Comm& comm);

/// The device of this rank: `wanted` as the ranks of its node share it, found by the rank's place there.
Device device_of_rank(Device wanted, const Comm& comm);

/// Rank 0: the device to send to the others, for device_of_rank(): the kind that `wanted` means on rank 0,
/// and the number of the GPU where `wanted` has one.
Device device_for_ranks(Device wanted, const Comm& comm);

}  // namespace terrane
