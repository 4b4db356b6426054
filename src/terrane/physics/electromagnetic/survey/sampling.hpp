// Sources and receivers at any position in a mesh, as weighted sums of edge values.
//
// A source of current density J is represented by its moments ∫ J w dV on the edges around it. The shape
// function w of an edge is constant along it and bilinear across; or, if all cells around the source have the
// same conductivity, quadratic along and bicubic across, which avoids the error of linear functions,
// p(1−p)(kh)²/2 per axis for a source at the fraction p of a cell of width h, in a field of wavenumber k.
// Near the ground and interfaces of layers, w is of higher order only horizontally, and linear vertically. In
// all cases w is a difference of shape functions of nodes, so a wire has charges only at its ends, and a
// closed loop has none: Gᵀ(J V) = I (N(end) − N(start)) on the nodes, G the gradient, N the shape function of
// a node. A dipole beside contrasts is divided between the two nearest edges along its axis. A magnetic
// dipole is a current around faces of cells, also without charge.
//
// The field at a receiver is interpolated on the receiver's own side of contrasts: the component of E
// normal to a contrast jumps there, and the others have kinks. Along each axis only points in cells are
// used whose conductivity is that of the receiver's cell (within 20 %): cubic interpolation if there are
// two points on each side, else linear, with extrapolation by at most half a cell. A receiver on a face
// belongs to the cell above (east, north); on the ground, below air, E is that of the ground, into which
// electrodes are put.
//
// Uneven ground cuts cells: the field on the edges of a cut cell is neither that of the rock nor that of
// the air. So E of a receiver on or in such ground is computed from edges entirely in rock below: linear
// interpolation across, and linear extrapolation from the two highest levels of these edges to the
// receiver's height. The height of the ground in a column of cells follows from the conductivity of its
// cells, compared with the rock below. Receivers more than a quarter of a cell above the ground around them
// are in the air.
//
// Contrasts below 20 % are also accounted for: along its own axis not E is continuous from cell to cell but
// the current density σE, from which E in the receiver's cell follows,
//
//   E = Σ w_t (σ_t/σ_o) E_t   over edges t of weight w_t; o: edge beside t, in the receiver's cell; σ of an
//                             edge: mean of its four cells
//
// H = i/(ωμ₀) curl E is known on faces; the weights for H are those of the edges around these faces. Above
// and below the last faces of the receiver's own side, for example on the ground or the sea floor,
// horizontal H follows from Ampère's law and the centre z_c of the receiver's cell:
//
//   H_n(z) = H_n(z_c) + (z − z_c)(∂_n H_u − σE_e),   H_e(z) = H_e(z_c) + (z − z_c)(∂_e H_u + σE_n)
//
// with indices e, n, u for east, north, up, and derivatives ∂_e, ∂_n along east and north.
//
// So the weights depend on σ, and are complex if σ is.
#pragma once

#include <complex>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/field.hpp"
#include "terrane/physics/electromagnetic/survey/sigma.hpp"

namespace terrane::electromagnetic {

/// Components along east, north, up: coordinates in m, or a moment.
using Vector3 = std::array<double, 3>;

struct EdgeTerm {
  int axis;          ///< 0 up, 1 north, 2 east
  std::size_t edge;  ///< index of the edge in the box Metric::edges(axis)
  double weight;
};
using EdgeSum = std::vector<EdgeTerm>;

struct Source {
  enum class Kind { electric_dipole, magnetic_dipole, wire, plane_wave };
  Kind kind = Kind::electric_dipole;
  /// Position of a dipole, or corners of a wire; in a closed loop the last corner is the first.
  std::vector<Vector3> points;
  /// Moment of a dipole, A m or A m²; for a plane wave the horizontal E at the top, V/m.
  Vector3 moment{};
  double current = 1;  ///< current of a wire, A

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor& field) {
    field("kind", s.kind, carried("sources"));
    field("points", s.points, carried("sources"));
    field("moment", s.moment, carried("sources"));
    field("current", s.current, carried("sources"));
  }
};

/// Whether a considerable part of a source's current flows vertically: an electric dipole with more than a
/// twentieth of its moment vertical; a magnetic dipole with more than a twentieth horizontal; a wire whose
/// points differ in height.
bool flows_upright(const Source& source);

/// A recorded component: E or H along an axis (0 up, 1 north, 2 east).
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

/// The source as moments J V of edges. conductivity: null: shape functions are linear everywhere. Throws
/// InputError, with `what` as its subject: a point outside of the mesh, a wire of one point.
EdgeSum moments(const TensorMesh& mesh, const Source& source, const std::string& what,
                const Conductivity* conductivity = nullptr);

/// Weights of the edge values for a receiver: its value is electric E + i quadrature E + i/(ωμ₀) curl E.
struct Reception {
  EdgeSum electric, quadrature, curl;  ///< quadrature: empty if conductivity is real
};

/// The weights for E or H at a point. sides: conductivities whose contrasts limit interpolation, in most
/// cases those of `sigma`. Throws InputError, with `what` as its subject: a point outside of the mesh.
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

/// The height at which a receiver is sampled: for a point on the ground, with air above, just below the
/// ground; for other points their own height.
double height_on_its_side(const TensorMesh& mesh, const std::vector<double>& conductivity,
                          const Vector3& place);

/// Height of a point on or in uneven ground above the highest edges from which its E is computed, m; 0 for
/// other points.
double above_whole_ground(const TensorMesh& mesh, const Conductivity& conductivity, const Vector3& place);

/// b += amount · weight on the edges of the sum; a source is added to b with amount = −iωμ₀.
void add(Stream& stream, const Metric& metric, const EdgeSum& sum, std::complex<double> amount,
         EdgeVector& b);

/// Computes on a device the values of many sums over edges. If ranks share a field, the value of each edge is
/// sent by the rank that owns it, and every rank adds the terms in the same order: bitwise identical results
/// for any number of ranks.
class Sampler {
 public:
  /// x: any field with the shape of those to be sampled; comm: null, or the ranks that share the fields;
  /// it must outlive this object
  Sampler(Stream& stream, const Metric& metric, const EdgeVector& x, std::span<const EdgeSum> sums,
          Comm* comm = nullptr);
  /// The values of all sums for the field x, on all ranks; collective if ranks share x.
  std::vector<std::complex<double>> of(Stream& stream, const EdgeVector& x);

 private:
  void bring(Stream& stream, const EdgeVector& x);

  std::size_t count_;
  Buffer<Index> first_, axis_, offset_;
  Buffer<double> weight_, values_;
  // If ranks share fields: taken_ is the number of different edges in all sums; own_place_, own_axis_ and
  // own_offset_ are the index among these, the axis and the offset of each edge that this rank owns.
  Comm* comm_;
  std::size_t taken_ = 0;
  std::vector<std::size_t> own_place_;
  Buffer<Index> own_axis_, own_offset_;
  Buffer<double> own_values_, taken_values_;
};

}  // namespace terrane::electromagnetic
