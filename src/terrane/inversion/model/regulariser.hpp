// The regulariser φ_m of an inversion: the model is to be small and flat.
//
//   φ_m = α_s Σ_j V_j [w_j u_j]² + Σ_{c=x,y,z} α_c Σ_{faces f ⟂ c} (A_f/δ_f) [(w u)_{j+} − (w u)_{j−}]²
//       = uᵀ R u
//
// u: the model minus its reference; V: volume of a cell, A: area of a face, δ: distance between the centres
// of the cells j+ and j− on both sides of a face, w: weight of a cell, by depth, distance or sensitivity,
// squared in φ_m as in Li & Oldenburg (1996). Only faces between two active cells are included. With
// weights_in_gradients = false the differences are of u instead of w u, and a face has the weight ½ (w²_{j−}
// + w²_{j+}), as in SimPEG.
//
// A model may be a vector in each cell (components = 3): all first components, then all second, then all
// third. φ_m is then the sum over the components, and the arguments of norms (magnitudes()) are the lengths
// of u and of its differences, so that no direction is preferred.
//
// If all cells of the mesh are active and weights are inside the differences, R = w R₀ w has an exact inverse
// (solve/matrices/kronecker.hpp). Otherwise R x = v is solved by conjugate gradients, preconditioned by that
// inverse restricted to the active cells: 6 to 25 steps to 1e-6, hardly more on finer meshes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "terrane/inversion/model/coupling.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/solve/matrices/kronecker.hpp"
#include "terrane/solve/matrices/layered.hpp"

namespace terrane::inversion {

/// The factors α of smallness and of flatness along easting, northing, up.
struct Alphas {
  double smallness = 1;
  std::array<double, 3> flatness{};  ///< m²: squares of the lengths over which a model is smooth
  static Alphas from_lengths(std::array<double, 3> length) {
    return {1, {length[0] * length[0], length[1] * length[1], length[2] * length[2]}};
  }
  friend bool operator==(const Alphas&, const Alphas&) = default;
};

/// The terms of φ_m, including α.
struct Terms {
  double smallness = 0;
  std::array<double, 3> flatness{};
  double sum() const { return smallness + flatness[0] + flatness[1] + flatness[2]; }

  template <class Self, class Field>
  static void fields(Self& t, const Field& field) {
    field("smallness", t.smallness);
    field("flatness", t.flatness);
  }
};

/// Factors of the summands of φ_m (of sparse norms): one list for cells, then one for the faces along each
/// axis, stored at the cell on a face's lower side. [cells of the mesh] each.
using Factors = std::array<std::vector<double>, 4>;

class Regulariser {
 public:
  /// active: cells of the mesh, ascending; empty: all; weight: [active], above zero; empty: 1; components:
  /// numbers in each cell. Throws InputError, ShapeError.
  Regulariser(const TensorMesh& mesh, std::vector<std::uint32_t> active, const Alphas& alphas,
              std::vector<double> weight = {}, bool weights_in_gradients = true, int threads = 0,
              std::size_t components = 1);

  /// Moves the exact inverse to a device, which applies it from now on. device: a result of resolve(), not
  /// the CPU. Throws MemoryError.
  void move_to(Device device) { inverse_.move_to(device); }
  /// Number of bytes that the inverse needs on a device.
  static double bytes_on_device(const TensorMesh& mesh);

  /// size(): length of a model, components times cells
  std::size_t size() const { return components_ * cells(); }
  std::size_t cells() const { return weight_.size(); }
  int threads() const { return threads_; }
  const Alphas& alphas() const { return alphas_; }
  /// weight(): w of the cells; volume(): their volumes, m³; both [active].
  const std::vector<double>& weight() const { return weight_; }
  const std::vector<double>& volume() const { return volume_; }

  /// out = R v
  void apply(std::span<const double> v, std::span<double> out) const;
  /// out = R_s v, the smallness alone
  void apply_smallness(std::span<const double> v, std::span<double> out) const;
  /// uᵀ R u, term by term; small: u for the smallness, if that differs (a reference that is not in the
  /// gradients).
  Terms terms(std::span<const double> u, std::span<const double> small = {}) const;
  void diagonal(std::span<double> out) const;

  /// Whether solve() is exact.
  bool exact() const { return !mapped() && weights_in_gradients_ && !factors_ && couplings_.empty(); }
  /// v ← R⁻¹ v, exactly, or until the norm of the preconditioned residual has fallen by the factor
  /// `tolerance`. Returns the number of steps.
  int solve(std::span<double> v, double tolerance = 1e-6) const;
  /// v ← M⁻¹ v, M⁻¹ the fast inverse on the whole mesh, restricted to the active cells.
  void precondition(std::span<double> v) const;
  /// The diagonal of R⁻¹: by the exact inverse or, if there is none, by elimination, layer by layer along the
  /// axis with most cells (solve/matrices/layered.hpp). Throws InputError if the model is coupled to others.
  void diagonal_of_inverse(std::span<double> out) const;
  /// The cost of diagonal_of_inverse() if there is no exact inverse: bytes, and seconds on one core.
  static std::pair<double, double> cost_of_diagonal(const TensorMesh& mesh);

  /// Sets factors (weights of the job), above zero, for every cell and face; R and its terms include them
  /// from now on. Throws ShapeError, InputError.
  void weigh(Factors own);
  /// For sparse norms: R includes these factors, in addition to those of weigh(), from now on; none: removes
  /// them.
  void reweight(std::optional<Factors> factors);
  /// Adds to R the forms that couple the model to others; terms() does not include them.
  void couple(Couplings couplings) { couplings_ = std::move(couplings); }
  /// magnitudes(): the arguments x of the norms, in the order of Factors: u in cells; at faces the
  /// differences of u, or of w u with weights_in_gradients, divided by δ; of vectors their lengths; NaN where
  /// there is no cell or face. measures(): the weights v of these arguments (sparse.hpp): w² V for cells; A δ
  /// for faces, times w² of the face if the differences are those of u; they include the factors of weigh().
  Factors magnitudes(std::span<const double> u) const;
  Factors measures() const;

 private:
  bool mapped() const { return !active_.empty(); }
  solve::LayeredMatrix in_layers(std::size_t along, const std::vector<std::uint32_t>& place) const;
  /// One component of a model, [active].
  template <class T>
  std::span<T> component(std::span<T> v, std::size_t which) const {
    return v.subspan(which * cells(), cells());
  }
  void apply_to_one(std::span<const double> v, std::span<double> out) const;
  Factors magnitudes_of_one(std::span<const double> u) const;
  std::vector<double> on_mesh(std::span<const double> v) const;
  void to_active(std::span<const double> whole, std::span<double> out) const;
  /// A/δ (area divided by distance of centres) of the face at the upper side of `cell` along an axis, times
  /// all factors except α; 0 if there is no face.
  double face(std::size_t axis, std::size_t cell, const std::array<std::size_t, 3>& place) const;
  template <class Body>
  void for_cells(const Body& body) const;

  std::array<std::size_t, 3> n_{};
  std::array<std::size_t, 3> step_{};
  std::array<std::vector<double>, 3> h_;
  std::vector<std::uint32_t> active_;
  Alphas alphas_;
  std::vector<double> weight_, volume_;
  std::vector<double> whole_weight_;  ///< weights of all cells of the mesh; 0 in those that are not active
  bool weights_in_gradients_;
  int threads_;
  std::size_t components_;
  solve::KroneckerInverse inverse_;
  std::optional<Factors> own_;      ///< weights of cells and faces, set by weigh()
  std::optional<Factors> factors_;  ///< own_ times the factors of sparse norms
  Couplings couplings_;
};

}  // namespace terrane::inversion
