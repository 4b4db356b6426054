// The settings of a run; they compare, read from the job file, and are the documentation.
#pragma once

namespace terrane::electromagnetic {

/// Jacobi steps around the preconditioner: twice the work of an iteration, and a third of the iterations
/// where conductivities differ by decades from cell to cell. automatic: from the 31st iteration of a solve
/// on.
enum class Rough { automatic, never, always };

/// What is solved for: the whole field; or the difference from the field of the layers that the mesh has at
/// its sides, which is right near sources, and takes a Hankel transform for each edge of what differs.
enum class Field { total, secondary };

/// What plane waves come in over: the layers at the sides of the mesh, or the section at its two ends of an
/// axis, which goes on along it.
enum class Strike { none, north, east };

struct Parameters {
  double tolerance = 1e-8;           ///< of the residual, relative
  double receiver_tolerance = 1e-5;  ///< of what the last iteration changed at a receiver, relative
  int most_iterations = 300;         ///< of COCG; 7 to 20 are usual
  Rough rough = Rough::automatic;
  Field field = Field::total;
  Strike strike = Strike::none;  ///< of plane waves
  int ranks_per_field = 0;  ///< least number of ranks that share one field; 0: as share_ranks() finds best

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::electromagnetic
