// What a run over all shots is to do, beside the problem.
#pragma once

#include "terrane/physics/acoustic/image/engine.hpp"

namespace terrane::acoustic {

/// adjoint: Jᵀ of the data, which are gathers: a migration without corrections, and without images.
enum class Task { modelling, born, migration, adjoint };

struct Settings {
  Task task = Task::modelling;
  bool twofold = false;  ///< double precision
  Keeping keeping = Keeping::automatic;
  KeptIn kept_in = KeptIn::automatic;  ///< of ways that keep records
  std::string scratch;                 ///< folder of records on disk; empty: that of the system
  Index lags = 0;  ///< of migration: cells to either side by which waves are shifted along easting
  /// Of Born: m − m of the problem's rock, s²/m², [nodes]. Of migration: the same, of the rock that the data
  /// are made of here; empty where data are given.
  std::vector<double> change;
  /// Of migration: what was recorded, [shots][steps, receivers]; empty where they are made here. Of adjoint.
  std::vector<std::vector<double>> data;

  Snapshots snapshots;  ///< settled; of modelling and Born modelling: the wave that receivers hear

  /// Whether each rank takes shots of its own: where there are enough, and no snapshots. Else all ranks take
  /// each shot together, the grid cut among them.
  bool shots_of_their_own(std::size_t shots, int ranks) const {
    return ranks == 1 || (!snapshots.any() && shots >= static_cast<std::size_t>(ranks));
  }
  /// Whether waves run back from the receivers.
  bool runs_back() const { return task == Task::migration || task == Task::adjoint; }

  std::size_t images_at_lags() const {
    return task == Task::migration && lags > 0 ? static_cast<std::size_t>(2 * lags + 1) : 0;
  }
  void put_into(Packet& packet) const;
  static Settings from(Packet& packet);
};

}  // namespace terrane::acoustic
