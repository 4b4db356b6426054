// A run over all shots, on all ranks: gathers of modelling, of Born modelling, images of reverse-time
// migration, or Jᵀ of gathers.
//
// Shots are shared among ranks in rounds (simulation/rounds.hpp), or, where there are fewer shots than ranks
// or snapshots are taken, all ranks take each shot together, the grid cut among them. The same bits either
// way. A checkpoint stands
// between shots; until it is written, ranks keep their finished shots one by one (shot_files.hpp).
#pragma once

#include "terrane/physics/acoustic/settings.hpp"
#include "terrane/simulation/pictures.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::acoustic {

/// What rank 0 has in the end.
struct Outcome {
  std::vector<std::vector<float>> gathers;  ///< [shots][steps, receivers], Pa; of a migration those it took
  Images images;                            ///< of a migration, sums over shots
  Pictures pictures;                        ///< snapshots, each [nodes that are shown], Pa
  std::size_t first_shot = 0;               ///< where a resumed run went on
  std::size_t shots_kept = 0;               ///< of those after it that the run before had finished
  std::string why_not_kept;                 ///< what ShotFiles::keep() said first
  std::vector<std::string> notes, warnings;
};

/// Bytes that a rank may take.
struct Room {
  double device = 0, host = 0, disk = 0;
  double share = 1;  ///< of a shot's nodes that are in this room
};

/// A strategy of keeping the source's waves, where, what it costs on a rank, and whether a rank has room for
/// it.
struct KeepingChoice {
  KeepingCost cost;
  KeptIn place = KeptIn::memory;
  double seconds = 0;  ///< of a shot, roughly
  bool fits = false;
};
/// All that the medium of a problem allows.
std::vector<KeepingChoice> keeping_choices(const Settings& settings, const Problem& problem,
                                           const Device& device, const Room& room);
/// Sets what is automatic in the settings of a migration: the quickest exact strategy for which there is
/// room, else the boundary (of a medium with an axis: store); on a disk, or on the host without room there,
/// only where the settings say so.
std::vector<KeepingChoice> choose_keeping(Settings& settings, const Problem& problem, const Device& device,
                                          const Room& room);
/// The part of a grid's nodes that a rank has at most, with those around it that it reads, where so many take
/// a shot together. Throws InputError: they are too many.
double largest_share(const Problem& problem, int ranks);
/// Working memory of a shot on a device that has this share of its nodes.
double bytes_of_shot(const Problem& problem, const Settings& settings, const Device& device,
                     double share = 1);
/// On the host: the sums of images over shots, those of one shot, and what is kept there of its source's
/// waves.
double bytes_on_host(const Problem& problem, const Settings& settings, const Device& device);
/// On the host: of snapshots one, as it comes from all ranks; and where no file will take them (Pictures)
/// all, twice.
double bytes_of_snapshots(const Problem& problem, const Settings& settings, bool on_disk);
/// Throws FileError: the disk of the settings' scratch has no room for so many bytes of waves. whose: of
/// "a shot", "2 ranks of a machine".
void expect_on_disk(const Settings& settings, double bytes, const std::string& whose);

/// The grid of a shot among the ranks that take it together; whole where they take shots of their own. Throws
/// InputError: they are too many.
Cartesian<3> cut_of(const Problem& problem, const Settings& settings, int ranks);

/// Whether ranks get only the medium of their own nodes: where they take each shot together, but for random
/// walls, and velocities of particles in a medium whose density or axis varies.
Dealt dealt_among(const Problem& problem, const Settings& settings, int ranks);

/// On rank 0; the others serve(). problem: settled; settings.keeping: not automatic. Throws InputError,
/// MemoryError, Cancelled.
Outcome run_shots(const Problem& problem, const Settings& settings, const Runtime& runtime);
void serve(Comm& comm);

}  // namespace terrane::acoustic
