// Sources and receivers anywhere on the edges of a mesh: sums of edge values.
//
// A source gives its moment, ∫ J w dV, to the edges around it by their own functions w: constant along an
// edge and bilinear across; or, where all cells around it conduct alike, quadratic and bicubic, which leaves
// out the linear ones' error of p(1−p)(kh)²/2 per axis for a source at the part p of a cell. Near the ground
// and the levels of layers they are so across alone, and linear upright. Either way w is the difference of
// functions of the nodes, so its charges are those of its ends, Gᵀ(J V) = I (w(end) − w(start)) on the nodes,
// and a closed loop has none. A dipole beside contrasts goes to the two nearest edges along itself. A
// magnetic dipole is current around the faces of cells, also without charge.
//
// A receiver is interpolated on its own side of contrasts: the component of E normal to a contrast jumps
// there, and the others have kinks. Along each axis only points are taken in cells that conduct like the
// receiver's own (within 20 %), cubically where there are two on each side, else linearly, half a cell beyond
// the last one at most. On a face of cells the receiver belongs to the cell above (east, north); on the
// ground, with air above, E is that of the ground, into which electrodes are put.
//
// Uneven ground cuts cells: their field is neither that of the rock nor that of the air, and neither is that
// of edges which touch them. So E of a receiver on or in such ground comes from edges in whole rock below,
// linearly across and, from the two highest levels, up to its height. The ground in a column of cells is as
// high as what its cells conduct, beside the rock below, says. Receivers higher than the ground around them
// by a quarter of a cell are in the air.
//
// Smaller contrasts count, too: along its own axis it is not E that goes on from cell to cell but the current
// σE, of which a receiver takes E of its own cell,
//
//   E = Σ w_t σ_t/σ_o E_t,     σ of an edge: the mean of its four cells; o: beside t, in the receiver's cell
//
// H = i/(ωμ₀) curl E lies on faces; its weights are those of the edges around them. Above and below the last
// faces of the receiver's own side, as on the ground or the sea floor, horizontal H follows Ampère's law from
// the centre z_c of the receiver's cell:
//
//   H_n(z) = H_n(z_c) + (z − z_c)(∂_n H_u − σE_e),   H_e(z) = H_e(z_c) + (z − z_c)(∂_e H_u + σE_n)
//
// So weights depend on σ, and are complex where it is.
#pragma once

#include <complex>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/field.hpp"
#include "terrane/physics/electromagnetic/survey/sigma.hpp"

namespace terrane::electromagnetic {

/// East, north, up: m, or a moment.
using Vector3 = std::array<double, 3>;

struct EdgeTerm {
  int axis;          ///< 0 up, 1 north, 2 east
  std::size_t edge;  ///< in Metric::edges(axis)
  double weight;
};
using EdgeSum = std::vector<EdgeTerm>;

struct Source {
  enum class Kind { electric_dipole, magnetic_dipole, wire, plane_wave };
  Kind kind = Kind::electric_dipole;
  std::vector<Vector3> points;  ///< the place of a dipole, the corners of a wire; a loop ends where it begins
  Vector3 moment{};    ///< moment of a dipole, A m or A m²; of a plane wave the horizontal E at the top, V/m
  double current = 1;  ///< of a wire, A

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor& field) {
    field("kind", s.kind, carried("sources"));
    field("points", s.points, carried("sources"));
    field("moment", s.moment, carried("sources"));
    field("current", s.current, carried("sources"));
  }
};

/// Whether some of a source's current flows up or down: in an electric dipole, more than a twentieth of its
/// moment is vertical; in a magnetic one, horizontal; the points of a wire differ in height.
bool flows_upright(const Source& source);

/// What is recorded at a place: E or H along an axis (0 up, 1 north, 2 east).
struct Component {
  bool magnetic = false;
  int axis = 2;

  template <class Self, class Visitor>
  static void fields(Self& c, Visitor& field) {
    field("magnetic", c.magnetic, carried("receivers or channels"));
    field("axis", c.axis, carried("receivers or channels"));
  }
  friend bool operator==(const Component&, const Component&) = default;
};

/// The source as moments J V of edges. conductivity: null, the linear functions. Throws InputError at `what`:
/// a point outside of the mesh, a wire of one point.
EdgeSum moments(const TensorMesh& mesh, const Source& source, const std::string& what,
                const Conductivity* conductivity = nullptr);

/// The weights of edge values E by which a receiver is computed: electric + i quadrature + i/(ωμ₀) curl.
struct Reception {
  EdgeSum electric, quadrature, curl;  ///< quadrature: none where conductivity is real
};

/// The weights for E or H at a place. sides: conductivities whose contrasts limit interpolation, in most
/// cases `conductivity`. Throws InputError at `what`: a point outside of the mesh.
Reception receiver(const TensorMesh& mesh, const Sigma& sigma, const Conductivity& sides,
                   const Vector3& place, const Component& component, const std::string& what);

/// The derivative of a receiver's weights with respect to ln σ of a cell, along all axes: the recorded value
/// changes by weight times E of the edge.
struct WeightChange {
  std::size_t cell;
  int axis;
  std::size_t edge;
  std::complex<double> weight;
};
std::vector<WeightChange> weight_changes(const TensorMesh& mesh, const Sigma& sigma,
                                         const Conductivity& sides, const Vector3& place,
                                         const Component& component);

/// The height at which a receiver is sampled: for a place on the ground, below air, just below it; for others
/// their own height.
double height_on_its_side(const TensorMesh& mesh, const std::vector<double>& conductivity,
                          const Vector3& place);

/// How far a place on or in uneven ground lies above the highest edges that its E comes from, m; for other
/// places 0.
double above_whole_ground(const TensorMesh& mesh, const Conductivity& conductivity, const Vector3& place);

/// Adds weight · amount to the edges of b; a source is added to b with amount = −iωμ₀.
void add(Stream& stream, const Metric& metric, const EdgeSum& sum, std::complex<double> amount,
         EdgeVector& b);

/// Computes on a device the values of all sums over edges. Where ranks share a field, each edge value comes
/// from the rank that has it, and every rank adds them in the same order: the same bits for any number of
/// ranks.
class Sampler {
 public:
  /// x: a field of the same shape as those to be sampled · comm: null, or the ranks that share them, which
  /// must outlive it
  Sampler(Stream& stream, const Metric& metric, const EdgeVector& x, std::span<const EdgeSum> sums,
          Comm* comm = nullptr);
  /// The values of all sums for the field x, on all ranks; collective where they share x.
  std::vector<std::complex<double>> of(Stream& stream, const EdgeVector& x);

 private:
  void bring(Stream& stream, const EdgeVector& x);

  std::size_t count_;
  Buffer<Index> first_, axis_, offset_;
  Buffer<double> weight_, values_;
  // Where ranks share fields: values of all edges that are taken; of those that this rank has, their places.
  Comm* comm_;
  std::size_t taken_ = 0;
  std::vector<std::size_t> own_place_;
  Buffer<Index> own_axis_, own_offset_;
  Buffer<double> own_values_, taken_values_;
};

}  // namespace terrane::electromagnetic
