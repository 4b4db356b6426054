// A run over all shots, on all ranks: gathers of modelling, of Born modelling, or images of reverse-time
// migration.
//
// Shots are shared among ranks in rounds (simulation/rounds.hpp), or, where there are fewer shots than ranks,
// all ranks take each shot together, the grid cut among them. The same bits either way. A checkpoint stands
// between shots.
#pragma once

#include "terrane/physics/acoustic/image/engine.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::acoustic {

enum class Task { modelling, born, migration };

struct Settings {
  Task task = Task::modelling;
  bool twofold = false;  ///< double precision
  Keeping keeping = Keeping::automatic;
  Index lags = 0;  ///< of migration: cells to either side by which waves are shifted along easting
  /// Of Born: m − m of the problem's rock, s²/m², [nodes]. Of migration: the same, of the rock that the data
  /// are made of here; empty where data are given.
  std::vector<double> change;
  /// Of migration: what was recorded, [shots][steps, receivers]; empty where they are made here.
  std::vector<std::vector<double>> data;

  std::size_t images_at_lags() const {
    return task == Task::migration && lags > 0 ? static_cast<std::size_t>(2 * lags + 1) : 0;
  }
  void put_into(Packet& packet) const;
  static Settings from(Packet& packet);
};

/// What rank 0 has in the end.
struct Outcome {
  std::vector<std::vector<float>> gathers;  ///< [shots][steps, receivers], Pa; of a migration those it took
  Images images;                            ///< of a migration, sums over shots
  std::size_t first_shot = 0;               ///< where a resumed run went on
  std::vector<std::string> notes, warnings;
};

/// The way of keeping that a migration's settings stand for: storing where the memory suffices, else
/// checkpoints.  bytes: that a rank may take, on the device and on the host.
Keeping keeping_for(const Settings& settings, const Problem& problem, const Device& device,
                    double device_bytes, double host_bytes);
/// Working memory of a shot on one rank, on the device.
double bytes_of_shot(const Problem& problem, const Settings& settings, const Device& device);
/// Of images on the host: the sums over shots, and those of one shot.
double bytes_of_images(const Problem& problem, const Settings& settings);

/// On rank 0; the others serve(). problem: settled; settings.keeping: not automatic. Throws InputError,
/// MemoryError, Cancelled.
Outcome run_shots(const Problem& problem, const Settings& settings, const Runtime& runtime);
void serve(Comm& comm);

}  // namespace terrane::acoustic
