// The system A E = b for E on the edges of a tensor mesh, in the frequency domain, and its solver.
//
//   A = Cᵀ V C + iωμ₀ diag(s V),   b = −iωμ₀ J V            time e^{+iωt}, tangential E = 0 on the walls
//
// C: curl of edges on faces; V: volumes of faces, edges or cells; J: current density of the source; s V of an
// edge = Σ over its four cells of σ V/4, σ of the cell along the edge. A row is multiplied by the volume of
// its edge, so A = Aᵀ (not Hermitian), and with G, the gradient of nodes along edges, A G = iωμ₀ s V G: C G =
// 0 exactly.
//
// Edges are numbered along their axis by the cell, 0 … n−1, and across it by the interior node, 0 … n−2. So
// edge q of axis a leads from interior node q−1 to node q of that axis.
//
// COCG solves the system (solve/krylov.hpp). Besides the residual r, its divergence d = Gᵀ r is stored and
// updated: Gᵀ A p = iωμ₀ Gᵀ(s V p), p the search direction, involves no cancellation. If ωμ₀σ is as small as
// in air, Gᵀ r computed from r itself would be only rounding error, and the charges of E wrong by percents.
//
// The preconditioner, called the block, computes z from r and d; each B is a multigrid cycle in single
// precision:
//
//   φ = B_K d/(iωμ₀);  z = G φ;  t = r − iωμ₀ sV z;  y_a = B_a t_a  (a: three axes);  z += y
//   z += G B_K (d − iωμ₀ Gᵀ(sV z))/(iωμ₀)
//
// B_K approximates K⁻¹, K = Gᵀ sV G, the resistor network of direct current. B_a: for the component along a
// alone, a network of the conductances d_b d_e/d_a, h_a d_e/h_b, h_a d_b/h_e (b, e: the other two axes; h:
// widths of cells; d: distances of their centres) with the diagonal term s V. The block is symmetric. `rough`
// adds a damped Jacobi step on A before and after the block, for conductivities that vary strongly from cell
// to cell.
//
// If the medium stores charge, σ is complex. The networks, and s in the block, are then computed from |σ|,
// which keeps the block symmetric, and A contains the additional term iωμ₀ (s(σ) − s(|σ|)) V.
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

/// Conductivities of the cells, S/m: pointers to arrays [up, north, east], one for each of the axes up,
/// north, east; the same array three times if conductivity is isotropic.
using Conductivity = std::array<const std::vector<double>*, 3>;

/// Complex conductivities of the cells that A has in addition to the real `conductivity`, S/m; null: none.
using Beyond = std::array<const std::vector<std::complex<double>>*, 3>;

using Number = solve::Complex<double>;

/// Complex values on the edges along up, north and east. Residuals also store their divergence; the
/// divergence of a right-hand side is computed from its edge values when needed.
struct EdgeVector {
  std::array<solve::Field<Number>, 3> e;
  solve::Field<Number> divergence;  ///< divergence of e on interior nodes, or empty

  bool carries() const { return !divergence.box().empty(); }
};

struct MetricView;

/// Cell widths and centre distances of a mesh, on the host and on a device.
struct Metric {
  std::array<std::vector<double>, 3> width;     ///< [n] widths of cells along up, north, east
  std::array<std::vector<double>, 3> distance;  ///< [n − 1] distances of centres beside interior nodes
  std::array<Buffer<double>, 3> widths, inverses, distances;

  Metric(Stream& stream, const TensorMesh& mesh);
  Index cells(int axis) const { return static_cast<Index>(width[static_cast<std::size_t>(axis)].size()); }
  IndexBox<3> nodes() const;  ///< box of the interior nodes
  IndexBox<3> edges(int axis) const;
  IndexBox<3> all() const;  ///< box that contains the edges along all axes
  MetricView view() const;
};

/// The relative error of the charges of E: ‖Gᵀ(b − iωμ₀ sV x)‖ divided by the root of the sum of squares of
/// its terms. The values are for all nodes, for nodes in the earth, and for nodes in air (no adjacent edge
/// above 1e-6 S/m).
struct Charges {
  double everywhere = 0, earth = 0, air = 0;
};

/// T: number type of the multigrid cycles. Bitwise identical results for any number of threads and ranks.
///
/// With several ranks, each has a part of the box of cells, cut at boundaries between blocks of the sums, and
/// the edges and nodes with these indices; every rank stores the whole conductivity. Vectors store a rank's
/// own edges; an operator fetches the halo when it needs it; every rank computes the coarse levels entirely
/// (solve/multigrid/multigrid.hpp). All members except metric() and unknowns() are then collective.
template <class T>
class MaxwellSolver {
 public:
  /// Throws ShapeError, InputError: fewer than two cells along an axis, or a conductivity that is not
  /// positive; MemoryError.
  /// comm: null, or the ranks that share the field; all pass the same mesh and conductivity. together: see
  /// Multigrid. beyond: additional conductivity in A, which the preconditioner and `rough` neglect
  MaxwellSolver(Stream& stream, const TensorMesh& mesh, const Conductivity& conductivity,
                Comm* comm = nullptr, Index together = solve::as_messages_go, const Beyond& beyond = {});
  ~MaxwellSolver();
  MaxwellSolver(const MaxwellSolver&) = delete;
  MaxwellSolver& operator=(const MaxwellSolver&) = delete;

  /// Switches the Jacobi steps of `rough` (above) on or off. The first call allocates 53 bytes per unknown.
  /// Throws MemoryError.
  void set_rough(bool rough);
  /// Uses the diagonal of A as preconditioner instead of the block, as Commer, Maia & Newman (2010), for
  /// comparison.
  void set_diagonal(bool diagonal);
  /// Must be called before any other member. Changing the frequency does not change the networks.
  void set_frequency(double hertz);

  EdgeVector vector();
  EdgeVector image();
  /// To be called after the edges of a right-hand side or a residual were written: fills the halo of b and,
  /// if b stores its divergence, computes Gᵀ b.
  void complete(EdgeVector& b);

  /// q = A p, and the divergence of q. Fills the halo of p.
  void apply(EdgeVector& p, EdgeVector& q);
  /// z = B r, B the preconditioner. scale: factor that brings r to order one, so that single precision
  /// suffices.
  void precondition(const EdgeVector& r, EdgeVector& z, double scale);
  /// COCG from the initial value of x. b: a vector() after complete().
  solve::SolveReport solve(const EdgeVector& b, EdgeVector& x, const solve::Stopping& stopping);
  solve::SolveReport solve_by_qmr(const EdgeVector& b, EdgeVector& x, const solve::Stopping& stopping);
  solve::SolveReport solve_by_bicgstab(const EdgeVector& b, EdgeVector& x, const solve::Stopping& stopping);

  Number dot(const EdgeVector& u, const EdgeVector& v);
  double norm(const EdgeVector& u);
  Charges charges(const EdgeVector& b, EdgeVector& x);
  double divergence(const EdgeVector& b, EdgeVector& x) { return charges(b, x).everywhere; }
  /// The values on all edges along an axis, of all ranks: all real parts, then all imaginary parts.
  std::vector<double> gather(const EdgeVector& x, int axis) const;

  const Metric& metric() const;
  double unknowns() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace terrane::electromagnetic
