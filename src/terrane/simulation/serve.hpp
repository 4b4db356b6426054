// The ranks of a run: rank 0 reads, decides and writes; the others wait here for work.
#pragma once

#include <functional>
#include <string_view>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane {

/// On every rank except 0: does the work that rank 0 asks for, until rank 0 dismisses the rank. Throws
/// OutOfStep, after which the caller must abort.
void serve(const Registry& registry, Comm& comm);

/// On rank 0: makes the others start Physics::serve of this physics.
void call(Comm& comm, std::string_view physics);

/// On rank 0: makes the others start Physics::serve of this physics, and sends them `packet`, which they
/// receive by Packet::broadcast().
void call(Comm& comm, std::string_view physics, Packet packet);

/// On rank 0, before it reads large input: tells the other ranks which device the job asks for. If the device
/// may be a GPU and each rank has a GPU of its own, the ranks initialise their GPUs meanwhile.
void foretell(Comm& comm, Device wanted);

/// On any rank: runs its part of some work. Errors on which all ranks agreed (together(), Groups::in_step())
/// and Cancelled are rethrown unchanged. Any other error is known to this rank alone, while the others would
/// wait: it becomes OutOfStep.
void keep_in_step(Comm& comm, const std::function<void()>& work);

/// On a rank other than 0: runs its part of some work as keep_in_step() does, but returns false after an
/// error of all ranks, which rank 0 reports to the user.
bool serve_in_step(Comm& comm, const std::function<void()>& work);

/// On rank 0: makes serve() return on the others.
void dismiss(Comm& comm);

/// The device of this rank: the ranks of a node divide the devices that `wanted` means; the rank's index on
/// the node selects one of them.
Device device_of_rank(Device wanted, const Comm& comm);

/// On rank 0: the argument of device_of_rank() to send to the others: the kind of device that `wanted` means
/// on rank 0, and the number of the GPU if `wanted` has one.
Device device_for_ranks(Device wanted, const Comm& comm);

}  // namespace terrane
