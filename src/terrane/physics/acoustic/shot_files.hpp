// Files of finished shots of a run on several ranks, one file for each shot, in the checkpoint's folder. They
// exist until a checkpoint contains the shots. Every rank writes each of its shots when it is finished: a run
// that lost a rank, or was killed, repeats only the shots that were being computed. A file that is damaged or
// belongs to another run is ignored.
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
  bool kept = false;         ///< whether the shot was read from a file of an earlier run
  std::string why_not_kept;  ///< reason why the shot's file could not be written (ShotFiles::keep())

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

/// Upper limits of what a run writes to disk in addition to its results.
struct DiskUse {
  double shot = 0;     ///< bytes of the file of a finished shot
  double shots = 0;    ///< number of files of finished shots that exist at one time, of all ranks together
  double seconds = 0;  ///< a shot that was computed in less time than this gets no file
  /// Bytes of the checkpoint, whose old file is removed once the new one is complete; 0: no checkpoint.
  double checkpoint = 0;
  double film = 0;  ///< bytes of snapshots: in a temporary file, and in a file of results
  double bytes() const { return shots * shot + 2 * checkpoint + film; }
};
/// seconds: time of a shot on a rank; 0: the shortest time for which a shot gets a file.
DiskUse disk_use(const Problem& problem, const Settings& settings, const CheckpointSettings& checkpoint,
                 int ranks, double seconds = 0);
/// Whether the disk of the checkpoint has enough free space for `use`; the space of files that an earlier
/// part of the run left there counts as free.
bool has_room(const CheckpointSettings& checkpoint, const DiskUse& use);
/// Throws FileError if has_room() is false.
void expect_room(const CheckpointSettings& checkpoint, const DiskUse& use);

/// A hash of all input that determines the results of shots, to the last bit.
Fingerprint fingerprint(const Problem& problem, const Settings& settings);

class ShotFiles {
 public:
  /// Files are written only if the run writes checkpoints and has more than one rank.
  ShotFiles(const CheckpointSettings& checkpoint, const Problem& problem, const Settings& settings,
            int ranks);
  /// Makes the folder; called by rank 0 before the other ranks begin. The others write files only if this
  /// folder exists for them: so no files are left on disks that rank 0 does not share and could not clean.
  static void make_folder(const CheckpointSettings& checkpoint, int ranks);
  static void remove_empty_folder(const CheckpointSettings& checkpoint);
  /// The shot's result from its file, if this run resumes an earlier one that wrote it.
  std::optional<ShotResult> find(std::size_t shot);
  /// A message for the user if the first file in the folder is damaged or belongs to another run; else empty.
  std::string misfit();
  /// Writes the file of a shot, which took `seconds`. Writes none if the shot took less time than a round
  /// (CheckpointSettings::round), if the run is too short for a checkpoint, or if writing would take long
  /// compared with computing. After an error, or if the disk has too little free space, this rank removes its
  /// files, writes no more, and returns a message for the user.
  std::string keep(std::size_t shot, const ShotResult& result, double seconds);
  /// Removes the files of all shots before this one, which the checkpoint now contains.
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
