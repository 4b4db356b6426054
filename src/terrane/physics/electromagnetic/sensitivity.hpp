// How data change with the logarithm of conductivity, m = ln σ of each cell, along all axes alike.
//
//   A δE = −iωμ₀ δ(sV) E,   δ(sV) of an edge = Σ over its four cells of σ V/4 δm
//   J v = Q δE + δQ E            Q: what receivers take; it depends on σ (survey/sampling.hpp)
//   Jᵀ w:  A λ = Qᵀ w  (A = Aᵀ: the same solver),  (Jᵀ w)_c = −iωμ₀ Σ of its twelve edges σV/4 λ E, and δQᵀ
//
// Jᵀ is transposed, not conjugated: the gradient of ½ Σ |W (d − d_obs)|² is Re Jᵀ w with w = W² conj(d −
// d_obs). Known fields (of plane waves over the layers at the sides, of a source over layers) are kept: cells
// at the sides of the mesh change nothing of them.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "terrane/physics/electromagnetic/forward.hpp"

namespace terrane::electromagnetic {

class Sensitivity {
 public:
  /// Solves for the fields of all sources and frequencies, and keeps them on the host: 48 bytes a cell and
  /// solve.  Throws as forward().
  /// comm: collective over its ranks, as times() and transposed_times() then are; ranks solve by turns, each
  /// for whole fields, and all keep all fields. rows() is a rank's own. The same bits on any number of ranks.
  Sensitivity(const Problem& problem, Stream& stream, Progress* progress = nullptr, Comm* comm = nullptr);

  const Outcome& outcome() const { return outcome_; }
  std::size_t data() const { return outcome_.data.size(); }
  std::size_t cells() const { return problem_.mesh.size(); }

  /// J v, [source, frequency, component, receiver], of v [cells]; rank 0 returns it. Throws ShapeError,
  /// Cancelled.
  std::vector<std::complex<double>> times(std::span<const double> v, Progress* progress = nullptr);
  /// Jᵀ w, [cells], of w as outcome().data; rank 0 returns it. Throws ShapeError, Cancelled.
  std::vector<std::complex<double>> transposed_times(std::span<const std::complex<double>> w,
                                                     Progress* progress = nullptr);
  /// The solves of the last product on this rank, [source, frequency]: how each ended.
  const std::vector<Solve>& solves_of_product() const { return of_product_; }

  /// Receives row n, [cells], of the data asked for.
  using TakeRow = std::function<void(std::size_t n, std::span<const std::complex<double>> row)>;
  /// Rows of J of some data, places in outcome().data. A row needs the field that its receiver would send,
  /// λ, and that of its source: so there is one solve for each frequency and component at a receiver, for all
  /// sources together. Returns those solves.  Throws ShapeError, Cancelled.
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
  std::vector<EdgeValues> fields_;  // of each solve
};

}  // namespace terrane::electromagnetic
