// The work that rank 0 asks of the other ranks of an inversion: call(comm, "inversion"), then a packet that
// begins with the name of a service.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::inversion {

/// The work of the other ranks for one physics, given the rest of the packet: they share an operator, or do
/// other work.
struct Service {
  using Share = std::function<std::shared_ptr<const solve::PartedOperator>(Packet packet, Comm& comm)>;
  using Work = std::function<void(Packet packet, Comm& comm)>;

  std::string name;
  /// Makes this rank's share of an operator, whose products it computes from then on; null when a rank fails,
  /// and rank 0 throws the error. Empty: there is `work`.
  Share share = {};
  /// Does the work and returns when it is done.
  Work work = {};
  /// The same work as commands of workers, packet by packet: returns the function that runs the commands of
  /// one group of workers. Empty: there is `work`.
  std::function<Work()> commands = {};
};

/// The other ranks: the service that rank 0 names.
void serve(const std::vector<Service>& services, Comm& comm);

/// Rank 0: tells the others to read a packet that begins with the name of a service, and to work. workers:
/// those that the ranks may already be; or null
void call_for_work(Comm& comm, const std::shared_ptr<solve::Workers>& workers);
/// Rank 0: tells the others to make their shares of an operator, from the packet.  workers: those that the
/// ranks may already be; made where there are none
void call_for_shares(Comm& comm, std::shared_ptr<solve::Workers>& workers, Packet packet);
/// Rank 0: makes the ranks workers, until the object is destroyed.
std::shared_ptr<solve::Workers> call_workers(Comm& comm);

}  // namespace terrane::inversion
