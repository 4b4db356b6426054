// Potentials of unit currents on the nodes of a mesh: one network, one multigrid, a solve for each electrode.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/buffer.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electric/grid/ground.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/physics/electric/surroundings.hpp"
#include "terrane/solve/report.hpp"

namespace terrane::electric {

/// Where walls see the electrodes from: their middle, under the surface above it.  ground: or null
Viewpoint viewpoint(const TensorMesh& mesh, const std::vector<double>* ground,
                    const std::vector<Point>& electrodes);

/// How potentials are read and currents given at electrodes.  ground: or null.  Throws InputError: an
/// electrode outside of the mesh or in the air.
std::vector<NodeWeights> weights_of(const TensorMesh& mesh, const std::vector<double>* ground,
                                    const std::vector<Point>& electrodes);

/// What Potentials refuse; without messages, for ranks that are to share them.  Throws ShapeError,
/// InputError.
void check(const TensorMesh& mesh, const Conductivity& conductivity, const std::vector<Point>& electrodes);
/// What one solve gave.
struct Solved {
  solve::SolveReport report;
  bool secondary = false;
};

/// An array [up, north, east] of all cells; imaginary is empty where conductivities are real.
struct CellValues {
  std::vector<double> real, imaginary;
};

/// Collective over the ranks of comm, which share the nodes. Everything that it is given must outlive it.
class Potentials {
 public:
  /// Throws ShapeError, InputError (a conductivity, an electrode outside of the mesh or in the air),
  /// MemoryError.
  Potentials(const TensorMesh& mesh, const Conductivity& conductivity, const std::vector<Point>& electrodes,
             const Parameters& parameters, Stream& stream, Comm& comm);
  ~Potentials();

  /// Of 1 A from one electrode, at all electrodes; infinite at itself where it is the secondary potential
  /// that was solved for. Imaginary parts are zero without quadrature conductivity.  primary: of the
  /// secondary potential (surroundings.hpp); none: the total one
  std::vector<std::complex<double>> at_electrodes(std::size_t source, const std::optional<Primary>& primary,
                                                  Solved& solved);
  /// Of the electrode of the last at_electrodes(), at the centres of cells: φ, V; E and J east, north, up,
  /// V/m and A/m². What was solved for is the mean of a cell's eight nodes, or of its four edges; a primary
  /// potential is added in closed form. J is that of the share of a cell that is ground.
  std::vector<CellValues> in_cells(const Volume& wanted) const;
  /// The total potential of 1 A on the nodes [up, north, east]; its real part, then where it is complex the
  /// imaginary one.
  std::vector<double> on_nodes(std::size_t source, Solved& solved);

  const std::vector<NodeWeights>& weights() const;
  double operator_complexity() const;

  struct Solver;

 private:
  std::unique_ptr<Solver> solver_;
  std::size_t source_ = 0;                // of the last solve
  std::optional<Primary> secondary_;      // of it, where it was for the secondary potential
  std::vector<double> real_, imaginary_;  // what it found on the nodes
};

}  // namespace terrane::electric
