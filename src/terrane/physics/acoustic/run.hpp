// A run over all shots, on all ranks: gathers of modelling, of Born modelling, images of reverse-time
// migration, or Jᵀ of gathers.
//
// Shots are shared among ranks in rounds (simulation/rounds.hpp), or, where there are fewer shots than ranks
// or snapshots are taken, all ranks take each shot together, the grid cut among them. The same bits either
// way. Checkpoints are written between shots; until then ranks write finished shots one by one
// (shot_files.hpp).
#pragma once

#include "terrane/physics/acoustic/settings.hpp"
#include "terrane/simulation/pictures.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::acoustic {

/// The results of a run, on rank 0.
struct Outcome {
  std::vector<std::vector<float>> gathers;  ///< [shots][steps, receivers], Pa; what a migration migrated
  Images images;                            ///< of a migration, sums over shots
  Pictures pictures;                        ///< snapshots, each [nodes that are shown], Pa
  std::size_t first_shot = 0;  ///< the first shot that a resumed run did not find in the checkpoint
  std::size_t shots_kept = 0;  ///< number of later shots read from files of the run before
  std::string why_not_kept;    ///< the first message of ShotFiles::keep()
  std::vector<std::string> notes, warnings;
};

/// Memory and disk, bytes, that a rank may use.
struct Room {
  double device = 0, host = 0, disk = 0;
  double share = 1;          ///< fraction of a shot's nodes that are kept in this room
  double share_of_host = 1;  ///< fraction of a shot's nodes whose waves the host of this room keeps
};

/// A strategy of keeping the source's waves: the place of its records, its cost on a rank, and whether the
/// rank has room for it.
struct KeepingChoice {
  KeepingCost cost;
  KeptIn place = KeptIn::memory;
  double seconds = 0;  ///< rough time of a shot
  bool fits = false;
};
/// All strategies that the medium of the problem allows.
std::vector<KeepingChoice> keeping_choices(Settings settings, const Problem& problem, const Device& device,
                                           const Room& room);
/// Replaces `automatic` in the settings of a migration: by the quickest exact strategy for which there is
/// room, else by boundary (store in a medium with an axis). Chooses a disk, or a host without room, only
/// where the settings ask for it.
std::vector<KeepingChoice> choose_keeping(Settings& settings, const Problem& problem, const Device& device,
                                          const Room& room);
/// The largest fraction of the grid's nodes, with its halo, that one of `ranks` which take a shot together
/// has. Throws InputError: too many ranks.
double largest_share(const Problem& problem, int ranks);
/// Working memory of a shot on a device that has this share of its nodes.
double bytes_of_shot(const Problem& problem, const Settings& settings, const Device& device,
                     double share = 1);
/// Memory on the host: the images summed over shots, the images of one shot, and its source's waves where
/// they are kept there. share: fraction of the shot's nodes whose waves are kept there
double bytes_on_host(const Problem& problem, const Settings& settings, const Device& device,
                     double share = 1);
/// Memory of snapshots on the host: one snapshot while it is gathered from all ranks; and, unless a file
/// takes them (Pictures), all of them twice.
double bytes_of_snapshots(const Problem& problem, const Settings& settings, bool on_disk);
/// Throws FileError: the disk of the folder settings.scratch has no room for this many bytes of waves. whose:
/// the owner of the waves in the message, such as "a shot" or "2 ranks of a machine".
void expect_on_disk(const Settings& settings, double bytes, const std::string& whose);

/// The cut of the grid among the ranks that take a shot together; not cut where ranks take shots of their
/// own. Throws InputError: too many ranks.
Cartesian<3> cut_of(const Problem& problem, const Settings& settings, int ranks);

/// Whether each rank gets only the medium of its own nodes: yes if ranks take each shot together, except with
/// random walls, or with particle velocities recorded in a medium whose density or axis varies.
Dealt dealt_among(const Problem& problem, const Settings& settings, int ranks);

/// Runs all shots; called on rank 0, while the other ranks call serve(). problem: settled; settings.keeping:
/// not automatic. Throws InputError, MemoryError, Cancelled.
Outcome run_shots(const Problem& problem, const Settings& settings, const Runtime& runtime);
void serve(Comm& comm);

}  // namespace terrane::acoustic
