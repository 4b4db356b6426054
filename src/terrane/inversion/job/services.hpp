// Work for the ranks other than 0 of an inversion. Rank 0 starts it by call(comm, "inversion") and a packet
// that begins with the name of a service.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::inversion {

/// A kind of work that a physics gives to the ranks other than 0: making their shares of an operator, or
/// anything else. Its functions read the rest of the packet.
struct Service {
  using Share = std::function<std::shared_ptr<const solve::PartedOperator>(Packet packet, Comm& comm)>;
  using Work = std::function<void(Packet packet, Comm& comm)>;

  std::string name;
  /// Makes this rank's share of an operator; the rank then computes its share of products. Null if a rank
  /// fails; rank 0 then throws the error. If this function is empty, the service is `work`.
  Share share = {};
  /// Does some work and returns when it is done.
  Work work = {};
  /// For work that workers do as commands, one per packet: returns the function that runs the commands for
  /// one group of workers. Empty: commands call `work`.
  std::function<Work()> commands = {};
};

/// On the other ranks: runs the service that rank 0 names.
void serve(const std::vector<Service>& services, Comm& comm);

/// On rank 0: tells the other ranks to read a packet that begins with the name of a service, and to run that
/// service. workers: not null if the ranks are already workers
void call_for_work(Comm& comm, const std::shared_ptr<solve::Workers>& workers);
/// On rank 0: tells the other ranks to make their shares of an operator from the packet. workers: the ranks
/// as workers; if null, it is created
void call_for_shares(Comm& comm, std::shared_ptr<solve::Workers>& workers, Packet packet);
/// On rank 0: makes the other ranks workers until the returned object is destroyed.
std::shared_ptr<solve::Workers> call_workers(Comm& comm);

}  // namespace terrane::inversion
