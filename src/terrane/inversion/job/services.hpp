// Work that rank 0 of an inversion gives to the other ranks. Rank 0 starts the work by call(comm,
// "inversion") and a packet that begins with the name of a service.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::inversion {

/// A kind of work that a physics gives to the ranks other than 0: making their parts of an operator, or any
/// other work. The functions of a service read the rest of the packet.
struct Service {
  using Share = std::function<std::shared_ptr<const solve::PartedOperator>(Packet packet, Comm& comm)>;
  using Work = std::function<void(Packet packet, Comm& comm)>;

  std::string name;
  /// Makes this rank's part of an operator; afterwards the rank computes its part of each product with the
  /// operator. Returns null if a rank fails; rank 0 then throws the error. If this function is empty, the
  /// service calls `work`.
  Share share = {};
  /// Does some work and returns when it is done.
  Work work = {};
  /// For work that workers do as commands, one per packet: returns the function that runs the commands for
  /// one group of workers. Empty: commands call `work`.
  std::function<Work()> commands = {};
};

/// To be called on ranks other than 0: runs the service that rank 0 names.
void serve(const std::vector<Service>& services, Comm& comm);

/// To be called on rank 0: makes the other ranks read a packet that begins with the name of a service, and
/// run that service. workers: not null if the other ranks already are workers (solve::Workers)
void call_for_work(Comm& comm, const std::shared_ptr<solve::Workers>& workers);
/// To be called on rank 0: makes the other ranks build their parts of an operator from the packet. workers:
/// the other ranks as workers; created if null
void call_for_shares(Comm& comm, std::shared_ptr<solve::Workers>& workers, Packet packet);
/// To be called on rank 0: makes the other ranks workers (solve::Workers) until the returned object is
/// destroyed.
std::shared_ptr<solve::Workers> call_workers(Comm& comm);

}  // namespace terrane::inversion
