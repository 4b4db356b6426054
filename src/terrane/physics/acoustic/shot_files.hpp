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
  bool kept = false;  ///< it was computed by an earlier run

  void put_into(Packet& packet) const;
  static ShotResult from(Packet& packet);
};

/// All that determines the bits of shots.
Fingerprint fingerprint(const Problem& problem, const Settings& settings);

class ShotFiles {
 public:
  /// Nothing is kept where there are no checkpoints.
  ShotFiles(const CheckpointSettings& checkpoint, const Problem& problem, const Settings& settings,
            int ranks);
  /// What an earlier run kept of a shot, where this one goes on from it.
  std::optional<ShotResult> find(std::size_t shot);
  /// seconds: that the shot took. Those of which CheckpointSettings::round takes many are left to the
  /// checkpoint, and so are all of a run too short for one. After an error nothing is kept any more.
  void keep(std::size_t shot, const ShotResult& result, double seconds);
  /// The checkpoint has all shots before this one.
  static void remove_before(const CheckpointSettings& checkpoint, std::size_t shot);

 private:
  std::filesystem::path file_of(std::size_t shot) const;
  const Fingerprint& of();

  CheckpointSettings checkpoint_;
  const Problem& problem_;
  const Settings& settings_;
  double shots_a_rank_;
  Fingerprint of_;  ///< made when it is wanted: hashes of large models take a while
};

}  // namespace terrane::acoustic
