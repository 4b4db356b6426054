// Sends a planned sum to the other ranks: the task, prisms and stations.
//
// In a partition by stations, every rank receives all prisms and stations; in one by prisms, the prisms in
// compact order are cut into chunks, which depend on their number alone, and a rank receives those of its
// chunks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "terrane/parallel/partition/ranges.hpp"
#include "terrane/physics/gravity/run/planner.hpp"
#include "terrane/physics/gravity/views.hpp"
#include "terrane/simulation/rounds.hpp"

namespace terrane::gravity {

/// Prisms that own their arrays.
struct OwnedPrisms {
  std::vector<double> column[7];

  Prisms view(Range range) const;
  Prisms view() const { return view({0, column[0].size()}); }
};

/// Prisms in compact order, cut into chunks.
class Chunks {
 public:
  explicit Chunks(std::size_t prisms);
  std::size_t count() const noexcept { return count_; }
  /// The range of prisms of one chunk, or of consecutive chunks.
  Range prisms(std::size_t chunk) const { return balanced_range(prisms_, count_, chunk); }
  Range prisms(const Range& chunks) const;
  /// The chunks of a rank.
  Range of(const Comm& comm, int rank) const;

 private:
  std::size_t prisms_, count_;
};

/// The part of the problem that a rank needs for its share of the sums.
struct Share {
  Parameters parameters;   ///< parameters with the device of this rank
  std::size_t prisms = 0;  ///< number of all prisms
  std::vector<double> station[3];
  std::shared_ptr<const OwnedPrisms> own;  ///< all prisms; if by_prisms(), those of this rank's chunks
  std::string note;                        ///< how the prisms were sent to the ranks, for the user

  bool by_prisms() const noexcept { return parameters.partition == Partition::prisms; }
  Stations stations() const { return {station[0], station[1], station[2]}; }
};

/// On rank 0: sends the task and their shares to the other ranks. The share returned has no stations, because
/// rank 0 has them already; in a partition by stations, `own` is null for the same reason. Collective.
Share spread(InStep& ranks, const MethodPlan& plan);
/// On the other ranks: receives the rank's share. Collective.
Share receive_share(InStep& ranks);

/// Resizes the columns, each on a thread of its own, because the first access to new memory is slow.
void make_columns(std::span<std::vector<double>> columns, std::size_t size, int threads);

}  // namespace terrane::gravity
