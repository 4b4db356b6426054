// A run over all shots, on all ranks. It computes gathers by modelling or Born modelling, images by
// reverse-time migration, or Jᵀ times gathers.
//
// Shots are shared among ranks in rounds (simulation/rounds.hpp). If there are fewer shots than ranks, or if
// there are snapshots, all ranks compute each shot together, the grid cut among them. Results are bitwise
// identical either way. Checkpoints are written between shots; in addition ranks write each finished shot to
// a file until a checkpoint contains it (shot_files.hpp).
#pragma once

#include "terrane/physics/acoustic/settings.hpp"
#include "terrane/simulation/pictures.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::acoustic {

/// The results of a run, on rank 0.
struct Outcome {
  std::vector<std::vector<float>> gathers;  ///< [shots][steps, receivers], Pa; of a migration: its input
  Images images;                            ///< images of a migration, summed over shots
  Pictures pictures;                        ///< snapshots of the pressure, each [shown nodes], Pa
  std::size_t first_shot = 0;  ///< the first shot that a resumed run did not find in the checkpoint
  std::size_t shots_kept = 0;  ///< number of shots from first_shot on that were read from shot files
  std::string why_not_kept;    ///< why shot files could not be written; first message of ShotFiles::keep()
  std::vector<std::string> notes, warnings;
};

/// Memory and disk, bytes, that a rank may use.
struct Room {
  double device = 0, host = 0, disk = 0;
  double share = 1;          ///< fraction of a shot's nodes whose waves are stored in this memory and disk
  double share_of_host = 1;  ///< fraction of a shot's nodes whose waves are stored in `host`
};

/// A strategy of keeping the source's waves: where its records are stored, its cost on a rank, and whether
/// they fit into the rank's memory or disk.
struct KeepingChoice {
  KeepingCost cost;
  KeptIn place = KeptIn::memory;
  double seconds = 0;  ///< rough estimate of the time of one shot
  bool fits = false;
};
/// All strategies that the medium of the problem allows.
std::vector<KeepingChoice> keeping_choices(Settings settings, const Problem& problem, const Device& device,
                                           const Room& room);
/// Replaces `automatic` in the settings of a migration by the fastest exact strategy whose records fit; if
/// none fits, by boundary; if that does not fit either, by checkpoints (if the settings say where records are
/// stored: boundary). Records are stored on a disk only if the settings ask for it.
std::vector<KeepingChoice> choose_keeping(Settings& settings, const Problem& problem, const Device& device,
                                          const Room& room);
/// The grid cut among `ranks` that compute a shot together: the largest fraction of the grid's nodes, halo
/// included, in the memory of one rank. Throws InputError: too many ranks.
double largest_share(const Problem& problem, int ranks);
/// Working memory, bytes, of a shot on a device that computes this fraction of the shot's nodes.
double bytes_of_shot(const Problem& problem, const Settings& settings, const Device& device,
                     double share = 1);
/// Memory on the host: the images summed over shots, the images of one shot, and the source's waves if they
/// are stored on the host. share: fraction of the shot's nodes whose waves this host stores
double bytes_on_host(const Problem& problem, const Settings& settings, const Device& device,
                     double share = 1);
/// Memory of snapshots on the host: one snapshot while it is gathered from all ranks; and, unless snapshots
/// are written to a file at once (Pictures), all of them twice.
double bytes_of_snapshots(const Problem& problem, const Settings& settings, bool on_disk);
/// Throws FileError if the disk of the folder settings.scratch has less free space than `bytes`, for waves.
/// whose: the owner of the waves in the message, such as "a shot" or "2 ranks of a machine".
void expect_on_disk(const Settings& settings, double bytes, const std::string& whose);

/// The cut of the grid among the ranks that compute a shot together; a single part if each rank computes
/// shots of its own. Throws InputError: too many ranks.
Cartesian<3> cut_of(const Problem& problem, const Settings& settings, int ranks);

/// Whether each rank gets only the medium of its own nodes: yes if all ranks compute each shot together. The
/// exceptions are random walls, and particle velocities recorded in a medium whose density or axis of
/// symmetry varies: for these every rank gets the whole medium.
Dealt dealt_among(const Problem& problem, const Settings& settings, int ranks);

/// Runs all shots; called on rank 0, while the other ranks call serve(). problem: settled; settings.keeping:
/// not automatic. Throws InputError, MemoryError, Cancelled.
Outcome run_shots(const Problem& problem, const Settings& settings, const Runtime& runtime);
void serve(Comm& comm);

}  // namespace terrane::acoustic
