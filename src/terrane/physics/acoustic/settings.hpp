// Settings of a run over all shots: its task, and the method of computation.
#pragma once

#include <type_traits>

#include "terrane/base/shared.hpp"
#include "terrane/physics/acoustic/image/engine.hpp"

namespace terrane::acoustic {

/// adjoint: Jᵀ applied to the data (gathers): like a migration, but only its kernel (Images::kernel) is
/// computed, and the data are not corrected.
enum class Task { modelling, born, migration, adjoint };
inline constexpr std::array<std::string_view, 4> task_names{"modelling", "born", "migration", "adjoint"};
inline constexpr std::array<std::string_view, 2> precision_names{"single", "double"};

struct Settings {
  Task task = Task::modelling;
  bool double_precision = false;
  Keeping keeping = Keeping::automatic;
  KeptIn kept_in = KeptIn::automatic;  ///< where records are stored, if the strategy stores any
  std::string scratch;                 ///< folder of records on disk; empty: the system's temporary folder
  Index lags = 0;  ///< migration: largest shift of the waves along easting, cells to either side
  /// A change of m = 1/v² from the problem's medium, s²/m², [nodes]. Born modelling: the scatterers.
  /// Migration: the data are computed in the medium with this change; empty if `data` are given.
  Shared<std::vector<double>> change;
  /// The recorded gathers [shots][steps, receivers] of a migration, empty if the run computes them; or the
  /// gathers to which the task adjoint applies Jᵀ.
  Shared<std::vector<std::vector<double>>> data;

  Snapshots snapshots;  ///< snapshots of the wave that receivers record, in modelling and Born modelling;
                        ///< settled

  /// Whether each rank computes shots of its own: true if there are at least as many shots as ranks, and no
  /// snapshots. Else all ranks compute each shot together, the grid cut among them.
  bool shots_of_their_own(std::size_t shots, int ranks) const {
    return ranks == 1 || (!snapshots.any() && shots >= static_cast<std::size_t>(ranks));
  }
  /// Whether the task propagates waves backward in time from the receivers.
  bool runs_back() const { return task == Task::migration || task == Task::adjoint; }

  std::size_t images_at_lags() const {
    return task == Task::migration && lags > 0 ? static_cast<std::size_t>(2 * lags + 1) : 0;
  }

  /// Lists all members; job/fields.hpp says what the list is used for.
  template <class Self, class Field>
  static void fields(Self& s, Field& field) {
    field("kind", s.task, one_of(std::span(task_names).first(3)).bits_of(task_names),
          "modelling: gathers; born: waves scattered once by the difference between the model and a smoothed "
          "one; migration: an image of that difference.");
    field("precision", s.double_precision, one_of(precision_names), "single or double.");
    field("wavefield", s.keeping, one_of(keeping_names).bits_of(keeping_bits),
          "Strategy by which a migration or an inversion obtains the source wavefield backward in time: "
          "store, checkpoints (computes it twice), boundary (stores the sides, computes backward), "
          "random_walls (stores nothing, adds noise), compressed and boundary_compressed (store 16 bits per "
          "node), or auto: the fastest that fits into memory, without an error beyond rounding. terrane "
          "check lists the cost of each.");
    field("kept_in", s.kept_in, one_of(kept_in_names).same_bits(),
          "For migration and inversions: where the wavefields store, boundary, compressed and "
          "boundary_compressed are stored: memory (of the device), host (of a GPU), disk, or auto, which "
          "uses no disk.");
    field("scratch", s.scratch, own_key("path", "none", {}),
          "For migration and inversions: folder for kept_in = \"disk\", which is assumed to be one disk "
          "shared by all ranks; by default the folder of each machine for temporary files (TMPDIR), which "
          "must not be in memory (tmpfs). The files have no names and vanish with the run.");
    field("lags", s.lags, count(0, 10'000),
          "For migration: greatest lag, in cells, of additional images with shifted waves. The source's wave "
          "is shifted to the west and the receivers' to the east, or vice versa. If the velocity is right, "
          "the energy of these images lies at zero lag.");
    if constexpr (std::is_const_v<Self>) {
      field("change", *s.change, apart("medium"));
      field("data", *s.data, carried("data"));
    } else {
      field("change", s.change.own(), apart("medium"));
      field("data", s.data.own(), carried("data"));
    }
    field("snapshots", s.snapshots, carried("snapshots"));
  }
};

}  // namespace terrane::acoustic
