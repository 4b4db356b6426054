// E on the edges of a tensor mesh, in the frequency domain: the system A E = b, and its solver.
//
//   A = Cᵀ V C + iωμ₀ diag(s V),   b = −iωμ₀ J V            time e^{+iωt}, tangential E = 0 on the walls
//
// C: curl of edges on faces; s V of an edge = Σ over its four cells of σ V/4, σ of the cell along the edge. A
// row is multiplied by the volume of its edge, so A = Aᵀ (not Hermitian), and with G, the gradient of nodes
// along edges, A G = iωμ₀ s V G: C G = 0 exactly.
//
// Edges are numbered along their axis by the cell, 0 … n−1, and across it by the interior node, 0 … n−2. So
// edge q of axis a leads from interior node q−1 to node q of that axis.
//
// COCG solves it (solve/krylov.hpp). With a vector of residuals goes its divergence d = Gᵀ r: the change of d
// by A p, iωμ₀ Gᵀ(s V p), is known without cancellation. Where ωμ₀σ is as small as in air, Gᵀ computed from
// the residual itself would be rounding error, and the charges of E wrong by percents.
//
// The preconditioner (one block), each B a multigrid cycle in single precision:
//
//   φ = B_K d/(iωμ₀);  z = G φ;  t = r − iωμ₀ sV z;  y_a = B_a t_a  (a: three axes);  z += y
//   z += G B_K (d − iωμ₀ Gᵀ(sV z))/(iωμ₀)
//
// B_K: for K = Gᵀ sV G, the network of direct current. B_a: for the component along a alone, a network of
// the conductances d_b d_e/d_a, h_a d_e/h_b, h_a d_b/h_e (h: cells, d: distances of their centres) with
// storage s V. It is symmetric. `rough`: with a damped Jacobi step on A before and after, for earths that
// differ from cell to cell.
//
// Where the medium stores charge σ is complex. Then the networks, and s in the block, are those of |σ|, which
// keeps the block symmetric, and A adds iωμ₀ (s(σ) − s(|σ|)) V.
#pragma once

#include <array>
#include <complex>
#include <memory>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/parallel/device/graph.hpp"
#include "terrane/solve/krylov.hpp"
#include "terrane/solve/multigrid/multigrid.hpp"

namespace terrane::electromagnetic {

/// Conductivities of the cells, S/m, [up, north, east], along each axis: up, north, east; the same array
/// where they do not depend on it.
using Conductivity = std::array<const std::vector<double>*, 3>;

/// The part of complex conductivities of the cells that is added to the real `conductivity`, S/m; null: none.
using Beyond = std::array<const std::vector<std::complex<double>>*, 3>;

using Number = solve::Complex<double>;

/// Complex values on the edges along up, north and east. Residuals also store their divergence; that of a
/// right-hand side is computed from its edges when needed.
struct EdgeVector {
  std::array<solve::Field<Number>, 3> e;
  solve::Field<Number> divergence;  ///< on interior nodes, or empty

  bool carries() const { return !divergence.box().empty(); }
};

struct MetricView;

/// Distances of a mesh, on the host and on a device.
struct Metric {
  std::array<std::vector<double>, 3> width;     ///< [n] widths of cells along up, north, east
  std::array<std::vector<double>, 3> distance;  ///< [n − 1] of the centres beside each interior node
  std::array<Buffer<double>, 3> widths, inverses, distances;

  Metric(Stream& stream, const TensorMesh& mesh);
  Index cells(int axis) const { return static_cast<Index>(width[static_cast<std::size_t>(axis)].size()); }
  IndexBox<3> nodes() const;  ///< interior ones
  IndexBox<3> edges(int axis) const;
  IndexBox<3> all() const;  ///< of all edges
  MetricView view() const;
};

/// The relative error of the charges of E: ‖Gᵀ(b − iωμ₀ sV x)‖ over the root of the sum of squares of its
/// terms. Over all nodes, over those in the earth, and over those in air (1e-6 S/m and less around them).
struct Charges {
  double everywhere = 0, earth = 0, air = 0;
};

/// T: the precision of the cycles. Same bits for any number of threads and ranks.
///
/// Over several ranks, each has a part of the box of cells, cut at the blocks of sums, and the edges and
/// nodes of these indices; every rank has the whole conductivity. Vectors hold a rank's edges, an operator
/// fetches the layer around them when it needs it, and every rank has all of the coarse levels
/// (solve/multigrid/multigrid.hpp). Then all members except metric() and unknowns() are collective.
template <class T>
class MaxwellSolver {
 public:
  /// Throws ShapeError, InputError: fewer than two cells on an axis, or a conductivity that is not positive;
  /// MemoryError.
  /// comm: null, or all of these ranks have the same mesh and conductivity. together: as of Multigrid.
  /// beyond: what A has besides; the preconditioner, and `rough`, know `conductivity` alone
  MaxwellSolver(Stream& stream, const TensorMesh& mesh, const Conductivity& conductivity,
                Comm* comm = nullptr, Index together = solve::as_messages_go, const Beyond& beyond = {});
  ~MaxwellSolver();
  MaxwellSolver(const MaxwellSolver&) = delete;
  MaxwellSolver& operator=(const MaxwellSolver&) = delete;

  /// The first call allocates memory: 53 bytes per unknown. Throws MemoryError.
  void set_rough(bool rough);
  /// The diagonal of A in place of the block: the preconditioner of Commer, Maia & Newman (2010), for
  /// comparison.
  void set_diagonal(bool diagonal);
  /// To be called before all else. The networks stay: they do not depend on the frequency.
  void set_frequency(double hertz);

  EdgeVector vector();
  EdgeVector image();
  /// Call it after the edges of a right-hand side or a residual were written: fills its halo and, where the
  /// vector has one, its divergence Gᵀ b.
  void complete(EdgeVector& b);

  /// q = A p, with its divergence. Fills the halo of p.
  void apply(EdgeVector& p, EdgeVector& q);
  /// z = B r. scale: r times it is about one.
  void precondition(const EdgeVector& r, EdgeVector& z, double scale);
  /// COCG from the x that is there. b: a vector() that is complete.
  solve::SolveReport solve(const EdgeVector& b, EdgeVector& x, const solve::Stopping& stopping);
  solve::SolveReport solve_by_qmr(const EdgeVector& b, EdgeVector& x, const solve::Stopping& stopping);
  solve::SolveReport solve_by_bicgstab(const EdgeVector& b, EdgeVector& x, const solve::Stopping& stopping);

  Number dot(const EdgeVector& u, const EdgeVector& v);
  double norm(const EdgeVector& u);
  Charges charges(const EdgeVector& b, EdgeVector& x);
  double divergence(const EdgeVector& b, EdgeVector& x) { return charges(b, x).everywhere; }
  /// The values on all edges along an axis, of all ranks: real parts, then imaginary ones.
  std::vector<double> gather(const EdgeVector& x, int axis) const;

  const Metric& metric() const;
  double unknowns() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace terrane::electromagnetic
