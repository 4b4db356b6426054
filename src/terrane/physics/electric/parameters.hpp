// The settings of a direct-current run; they print, compare, read from the job file, and are the
// documentation.
#pragma once

namespace terrane::electric {

/// What happens at the sides and at the bottom of the mesh. The top is a natural end: nothing flows into the
/// air.
///   mixed      the wall that a point source in a half space would see (Dey & Morrison 1979)
///   grounded   zero potential
///   insulated  no current; only the differences of potentials of two current electrodes mean anything
enum class Boundary { mixed, grounded };

/// What is solved for. secondary: the difference from the closed form for the conductivity at the current
/// electrode, a tenth to a hundredth of the error near it; total: everything. automatic takes secondary where
/// the cells around the electrode are alike.
enum class Potential { automatic, secondary, total };

struct Parameters {
  Boundary boundary = Boundary::mixed;
  Potential potential = Potential::automatic;
  double tolerance = 1e-8;    ///< of the residual, relative
  int most_iterations = 200;  ///< of conjugate gradients; 7 to 25 are usual

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

}  // namespace terrane::electric
