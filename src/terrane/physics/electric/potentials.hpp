// Potentials of unit currents on the nodes of a mesh: one network and one multigrid hierarchy; a solve for
// each electrode.
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

/// The position of the point source assumed by mixed walls: the middle of the electrodes, and the height of
/// the surface above it. ground: fraction of each cell that is not air; null: no air
Viewpoint viewpoint(const TensorMesh& mesh, const std::vector<double>* ground,
                    const std::vector<Point>& electrodes);

/// Interpolation weights of nodes for the potential at electrodes; the same weights distribute the currents
/// of electrodes. ground: fraction of each cell that is not air; null: no air. Throws InputError: an
/// electrode outside of the mesh or in the air.
std::vector<NodeWeights> weights_of(const TensorMesh& mesh, const std::vector<double>* ground,
                                    const std::vector<Point>& electrodes);

/// Checks the input of Potentials without messages between ranks, before several ranks share it. Throws
/// ShapeError, InputError.
void check(const TensorMesh& mesh, const Conductivity& conductivity, const std::vector<Point>& electrodes);
/// Convergence of one solve, and whether it was for the secondary potential.
struct Solved {
  solve::SolveReport report;
  bool secondary = false;
};

/// Values of all cells, [up, north, east]; imaginary is empty if conductivities are real.
struct CellValues {
  std::vector<double> real, imaginary;
};

/// Solver for potentials; collective over the ranks of comm, which share the nodes. All arguments of the
/// constructor must outlive this object.
class Potentials {
 public:
  /// Throws ShapeError, InputError (a conductivity, an electrode outside of the mesh or in the air),
  /// MemoryError.
  Potentials(const TensorMesh& mesh, const Conductivity& conductivity, const std::vector<Point>& electrodes,
             const Parameters& parameters, Stream& stream, Comm& comm);
  ~Potentials();

  /// The potential of 1 A from electrode `source` at all electrodes, V; infinite at `source` itself if the
  /// secondary potential was solved for. Imaginary parts are zero without quadrature conductivity.
  /// primary: medium of the primary potential (surroundings.hpp); empty: the total potential is solved for
  std::vector<std::complex<double>> at_electrodes(std::size_t source, const std::optional<Primary>& primary,
                                                  Solved& solved);
  /// Fields of the last at_electrodes() at the centres of cells: φ, V; E and J along east, north, up, V/m and
  /// A/m². The computed potential is averaged over a cell's eight nodes, and its gradient over four edges; a
  /// primary potential is added in closed form. J is averaged over a cell, including its part that is air.
  std::vector<CellValues> in_cells(const Volume& wanted) const;
  /// The total potential of 1 A on the nodes [up, north, east]: real parts, followed by imaginary parts if
  /// conductivity is complex.
  std::vector<double> on_nodes(std::size_t source, Solved& solved);

  const std::vector<NodeWeights>& weights() const;
  double operator_complexity() const;

  struct Solver;

 private:
  std::unique_ptr<Solver> solver_;
  std::size_t source_ = 0;            // electrode of the last solve
  std::optional<Primary> secondary_;  // primary of the last solve, if that was for the secondary potential
  std::vector<double> real_, imaginary_;  // potential of the last solve on the nodes
};

}  // namespace terrane::electric
