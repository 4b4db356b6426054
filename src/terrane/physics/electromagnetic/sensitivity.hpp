// Derivatives of data with respect to m = ln σ of each cell; σ along all axes changes by the same factor. A
// and s V: grid/maxwell.hpp; E: field on edges; v = δm: change of the model; w: weights of the data.
//
//   A δE = −iωμ₀ δ(sV) E,   δ(sV) of an edge = Σ over its four cells of σ V/4 δm
//   J v = Q δE + δQ E            Q: interpolation to receivers; depends on σ (survey/sampling.hpp)
//   Jᵀ w:  A λ = Qᵀ w  (A = Aᵀ: the same solver),  (Jᵀ w)_c = wᵀ(∂Q/∂m_c) E − iωμ₀ Σ σV/4 λ E
//               with the sum over the twelve edges of cell c
//
// Jᵀ is transposed, not conjugated: the gradient of ½ Σ |W (d − d_obs)|² is Re Jᵀ w with w = W² conj(d −
// d_obs), d computed and d_obs observed data, 1/W their uncertainties. Known fields (of plane waves over the
// layers at the sides, of a source over layers) are held constant: their dependence on the cells at the sides
// of the mesh is neglected.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {

class Sensitivity {
 public:
  /// Solves for the fields of all sources and frequencies and stores them on the host: 48 bytes per cell and
  /// solve.  Throws what forward() throws.
  /// comm: null, or collective over its ranks, as times() and transposed_times() are then. Each rank computes
  /// whole fields for some of the solves, and all ranks then store all fields. rows() is not collective. The
  /// result is bitwise identical on any number of ranks.
  Sensitivity(const Problem& problem, Stream& stream, Progress* progress = nullptr, Comm* comm = nullptr);

  const Outcome& outcome() const { return outcome_; }
  std::size_t data() const { return outcome_.data.size(); }
  std::size_t cells() const { return problem_.mesh.size(); }

  /// J v, [source, frequency, component, receiver], for v [cells]; returned on rank 0. Throws ShapeError,
  /// Cancelled.
  std::vector<std::complex<double>> times(std::span<const double> v, Progress* progress = nullptr);
  /// Jᵀ w, [cells], for w with the dimensions of outcome().data; returned on rank 0. Throws ShapeError,
  /// Cancelled.
  std::vector<std::complex<double>> transposed_times(std::span<const std::complex<double>> w,
                                                     Progress* progress = nullptr);
  /// Convergence of the solves of the last product on this rank, [source, frequency].
  const std::vector<Solve>& solves_of_product() const { return of_product_; }

  /// Called with row n, [cells], of the requested data.
  using TakeRow = std::function<void(std::size_t n, std::span<const std::complex<double>> row)>;
  /// Computes rows of J for some data, given by their indices in outcome().data. A row is a product of λ, the
  /// field of a source at its receiver, and the field of its own source; so one solve for each frequency,
  /// receiver and component serves all sources. Returns these solves.  Throws ShapeError, Cancelled.
  std::vector<Solve> rows(std::span<const std::size_t> places, const TakeRow& take,
                          Progress* progress = nullptr);

 private:
  const Metric& metric() const { return solves_->metric(); }
  void begin_product() { of_product_.assign(problem_.solves(), Solve{}); }
  void share(std::size_t solve, int from, const std::vector<std::complex<double>>& data);
  std::vector<std::complex<double>> changes_of(std::size_t solve, std::span<const double> v);
  std::vector<std::complex<double>> gradient_of(std::size_t solve, std::span<const std::complex<double>> w);
  Sigma sigma_of(std::size_t solve) const {
    return problem_.sigma(problem_.frequencies[solve % problem_.frequencies.size()]);
  }
  void add_products(double omega_mu, const Sigma& sigma, const EdgeValues& sent, const EdgeValues& field,
                    std::span<std::complex<double>> row) const;

  const Problem problem_;
  Stream& stream_;
  Comm* comm_;
  std::optional<Solves> solves_;
  Outcome outcome_;
  std::vector<Solve> of_product_;
  std::vector<EdgeValues> fields_;  // [solve] values of E on the edges
};

}  // namespace terrane::electromagnetic
