// Finished shots of a run over ranks, one file each, beside the checkpoint and until that has them. Every
// rank keeps its own at once, so a run that lost a rank, or was killed, does only those shots again that were
// being computed. A file that is damaged or of another run counts as none.
#pragma once

#include <optional>

#include "terrane/job/checkpoint.hpp"
#include "terrane/physics/acoustic/settings.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::acoustic {

/// Of one shot.
struct ShotResult {
  std::vector<float> gather;
  Images images;
  bool kept = false;         ///< it was computed by an earlier run
  std::string why_not_kept;  ///< what ShotFiles::keep() said

  template <class Self, class Field>
  static void fields(Self& r, Field& field) {
    field("gather", r.gather, carried("result"));
    field("images", r.images, carried("result"));
    field("kept", r.kept, carried("result"));
    field("why_not_kept", r.why_not_kept, carried("result"));
  }
};

/// The folder that a file is in, or is to be made in.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// What a run writes beside its results while it lasts, at most.
struct DiskUse {
  double shot = 0;        ///< bytes of a finished shot that is kept by itself
  double shots = 0;       ///< of all ranks, that lie there at once
  double seconds = 0;     ///< with fewer of a rank's work a shot is not kept
  double checkpoint = 0;  ///< bytes; an old one goes when a new one is whole; 0: none is written
  double film = 0;        ///< of snapshots, on their way and in a file of results, beside that
  double bytes() const { return shots * shot + 2 * checkpoint + film; }
};
/// seconds: that a shot takes a rank; 0: the fewest with which it is kept.
DiskUse disk_use(const Problem& problem, const Settings& settings, const CheckpointSettings& checkpoint,
                 int ranks, double seconds = 0);
/// Whether the disk of the checkpoint has room for that, with what an earlier part of the run has put there.
bool has_room(const CheckpointSettings& checkpoint, const DiskUse& use);
/// Throws FileError: it has not.
void expect_room(const CheckpointSettings& checkpoint, const DiskUse& use);

/// All that determines the bits of shots.
Fingerprint fingerprint(const Problem& problem, const Settings& settings);

class ShotFiles {
 public:
  /// Nothing is kept where there are no checkpoints, or one rank alone.
  ShotFiles(const CheckpointSettings& checkpoint, const Problem& problem, const Settings& settings,
            int ranks);
  /// Rank 0, before the others begin: makes the folder. They keep shots only where they see it, so disks that
  /// are not shared get no files that nobody removes.
  static void make_folder(const CheckpointSettings& checkpoint, int ranks);
  static void remove_empty_folder(const CheckpointSettings& checkpoint);
  /// What an earlier run kept of a shot, where this one goes on from it.
  std::optional<ShotResult> find(std::size_t shot);
  /// For the user, where the first shot in the folder is damaged or of another run; else empty.
  std::string misfit();
  /// seconds: that the shot took. Those of which CheckpointSettings::round takes many are left to the
  /// checkpoint, and so are all of a run too short for one, and those that take long to write. After an
  /// error, or where the disk has no room to spare, nothing is kept any more, the files of this rank go, and
  /// the user is to be told what it returns.
  std::string keep(std::size_t shot, const ShotResult& result, double seconds);
  /// The checkpoint has all shots before this one.
  static void remove_before(const CheckpointSettings& checkpoint, std::size_t shot);

 private:
  std::filesystem::path file_of(std::size_t shot) const;
  const Fingerprint& of();
  std::optional<ShotResult> read(std::size_t shot);
  void write(std::size_t shot, const ShotResult& result);

  CheckpointSettings checkpoint_;
  const Problem& problem_;
  const Settings& settings_;
  int ranks_;
  bool keeps_;
  std::vector<std::filesystem::path> written_;
  Fingerprint of_;  ///< made when it is wanted: hashes of large models take a while
};

}  // namespace terrane::acoustic
