// What rank 0 asks of the other ranks of an inversion: call(comm, "inversion"), then a packet that begins
// with the name of a service.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/solve/matrices/parted.hpp"

namespace terrane::inversion {

/// What the other ranks do for a physics, with the rest of the packet: they share an operator, or do other
/// work.
struct Service {
  using Share = std::function<std::shared_ptr<const solve::PartedOperator>(Packet packet, Comm& comm)>;
  using Work = std::function<void(Packet packet, Comm& comm)>;

  std::string name;
  /// Makes this rank's share of an operator, whose products it computes from then on; nothing when a rank
  /// fails, which rank 0 throws. Empty: `work`.
  Share share = {};
  /// Until it is done.
  Work work = {};
  /// The same as commands of workers, packet by packet: makes what does those of the same workers. Empty:
  /// `work`.
  std::function<Work()> commands = {};
};

/// The other ranks: the service that rank 0 names.
void serve(const std::vector<Service>& services, Comm& comm);

/// Rank 0: the others are to work next, and then read a packet that begins with the name of a service.
/// workers: null, or that which they may be in
void call_for_work(Comm& comm, const std::shared_ptr<solve::Workers>& workers);
/// Rank 0: the others are to make their shares of an operator, as the packet says.  workers: that they may be
/// in; made where there is none
void call_for_shares(Comm& comm, std::shared_ptr<solve::Workers>& workers, Packet packet);
/// Rank 0: the ranks as workers, who stay until the object is gone.
std::shared_ptr<solve::Workers> call_workers(Comm& comm);

}  // namespace terrane::inversion
