// Files of finished shots of a run on several ranks, one for each shot, beside the checkpoint and until that
// has them. Every rank writes its own shots when they are finished: so a run that lost a rank, or was killed,
// repeats only the shots that were being computed. A file that is damaged or of another run is ignored.
#pragma once

#include <optional>

#include "terrane/job/checkpoint.hpp"
#include "terrane/physics/acoustic/settings.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::acoustic {

/// The result of one shot.
struct ShotResult {
  std::vector<float> gather;
  Images images;
  bool kept = false;         ///< the shot was read from a file of an earlier run
  std::string why_not_kept;  ///< the message of ShotFiles::keep()

  template <class Self, class Field>
  static void fields(Self& r, Field& field) {
    field("gather", r.gather, carried("result"));
    field("images", r.images, carried("result"));
    field("kept", r.kept, carried("result"));
    field("why_not_kept", r.why_not_kept, carried("result"));
  }
};

/// The folder of a file, which need not exist yet.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// The most that a run writes to disk beside its results.
struct DiskUse {
  double shot = 0;     ///< bytes of the file of a finished shot
  double shots = 0;    ///< the number of such files, of all ranks, at one time
  double seconds = 0;  ///< a shot that took a rank less than this gets no file
  /// Bytes of the checkpoint, whose old file is removed when the new one is whole; 0: none.
  double checkpoint = 0;
  double film = 0;  ///< bytes of snapshots: in a temporary file, and in a file of results
  double bytes() const { return shots * shot + 2 * checkpoint + film; }
};
/// seconds: time of a shot on a rank; 0: the shortest with which a shot gets a file.
DiskUse disk_use(const Problem& problem, const Settings& settings, const CheckpointSettings& checkpoint,
                 int ranks, double seconds = 0);
/// Whether the disk of the checkpoint has room for `use`; the files that an earlier part of the run left
/// there count as room.
bool has_room(const CheckpointSettings& checkpoint, const DiskUse& use);
/// Throws FileError where has_room() is false.
void expect_room(const CheckpointSettings& checkpoint, const DiskUse& use);

/// All that determines the bits of shots.
Fingerprint fingerprint(const Problem& problem, const Settings& settings);

class ShotFiles {
 public:
  /// Nothing is kept where there are no checkpoints, or one rank alone.
  ShotFiles(const CheckpointSettings& checkpoint, const Problem& problem, const Settings& settings,
            int ranks);
  /// Makes the folder; called by rank 0 before the other ranks begin. They write files only if they see this
  /// folder: so none are left on disks that are not shared, where rank 0 could not remove them.
  static void make_folder(const CheckpointSettings& checkpoint, int ranks);
  static void remove_empty_folder(const CheckpointSettings& checkpoint);
  /// The shot's result from its file, if this run resumes an earlier one that wrote it.
  std::optional<ShotResult> find(std::size_t shot);
  /// A message for the user if the first file in the folder is damaged or of another run; else empty.
  std::string misfit();
  /// Writes the file of a shot, which took `seconds`. Writes none if the shot took less time than a round
  /// (CheckpointSettings::round), if the run is too short for a checkpoint, or if writing would take long
  /// beside computing. After an error, or where the disk has no room to spare, this rank removes its files,
  /// writes no more, and returns a message for the user.
  std::string keep(std::size_t shot, const ShotResult& result, double seconds);
  /// Removes the files of all shots before this one, which the checkpoint has.
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
  Fingerprint of_;  ///< computed at its first use: hashing a large model takes a while
};

}  // namespace terrane::acoustic
