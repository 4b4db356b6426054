// The settings of a direct-current run; they print, compare, read from the job file, and are the
// documentation.
#pragma once

#include <cstddef>

namespace terrane::electric {

/// What happens at the sides and at the bottom of the mesh. The top is a natural end: nothing flows into the
/// air.
///   mixed      the wall that a point source in a half space would see (Dey & Morrison 1979)
///   grounded   zero potential
enum class Boundary { mixed, grounded };

/// What is solved for. secondary: the difference from the closed form for the conductivity at the current
/// electrode, a tenth to a hundredth of the error near it; total: everything. automatic takes secondary where
/// the cells around the electrode are alike.
enum class Potential { automatic, secondary, total };

/// What is kept of all cells, at their centres, for 1 A from each current electrode: φ, E = −∇φ, J = σE.
struct Volume {
  bool potential = false, electric = false, current = false;

  std::size_t arrays() const {
    return std::size_t{potential} + 3 * std::size_t{electric} + 3 * std::size_t{current};
  }
  friend bool operator==(const Volume&, const Volume&) = default;
};

struct Parameters {
  Boundary boundary = Boundary::mixed;
  Potential potential = Potential::automatic;
  double tolerance = 1e-8;    ///< of the residual, relative
  int most_iterations = 200;  ///< of conjugate gradients; 7 to 25 are usual
  Volume volume = {};         ///< of direct_current() alone

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::electric
