// Sensitivities at stations inside cells and on their surface. Components of the tensor jump or are unbounded
// there, and flux densities have a term 4πGρ more than the tensor that the kernels compute.
//
// There the kernels compute the mean of both sides. Corrections are determined as in forward(), from the
// densities in the eight octants around a station (sum/singular.hpp):
//   G m          with the model's density in each octant: exactly what forward() gives, whatever the policy
//   an entry     with one cell of density 1: NaN where it has no value, or where the limit that the policy
//                names depends on the model ("outside" between two cells is where the density is less)
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "terrane/mesh/prism.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sensitivity/observable.hpp"
#include "terrane/solve/matrices/linear_operator.hpp"

namespace terrane::gravity {

class CellContacts {
 public:
  struct One {
    std::uint32_t station, cell;
    std::uint8_t octants;  ///< see Contact
  };
  CellContacts() = default;
  CellContacts(const PrismSet& cells, const KeptStations& stations,
               const std::vector<Observable>& observables, SingularPolicy policy);

  /// True if no product needs a correction.
  bool empty() const { return all_.empty(); }
  /// Indices of stations with a row in which entries have no value.
  std::vector<std::uint32_t> undefined() const;
  /// Indices of stations strictly inside cells, or between cells.
  std::vector<std::uint32_t> inside() const { return inside_; }

  /// The contacts, ordered by station, then cell.
  const std::vector<One>& all() const { return all_; }
  /// Corrections to add to the kernels' entries of a contact: [observable].
  std::span<const double> added(std::size_t contact) const {
    return std::span(added_).subspan(contact * observables_.size(), observables_.size());
  }
  const std::vector<Observable>& observables() const { return observables_; }
  std::size_t stations() const { return stations_; }
  /// Corrects data [rows], the kernels' product with the model, at stations in contact with cells.
  void settle(std::span<const double> model, std::span<double> data) const;

 private:
  std::size_t stations_ = 0;
  SingularPolicy policy_ = SingularPolicy::nan;
  std::vector<Observable> observables_;
  std::vector<One> all_;
  std::vector<double> added_;  ///< [contacts][observables]
  std::vector<std::uint32_t> inside_;
};

/// An operator of the kernels' entries, corrected at contacts: G m equals that of forward(); Gᵀ d and
/// diag(GᵀWG) use the corrected entries.
class SettledOperator final : public solve::LinearOperator {
 public:
  /// cells, stations: those of `bare` and `contacts`
  SettledOperator(std::shared_ptr<const solve::LinearOperator> bare, CellContacts contacts,
                  const PrismSet& cells, const KeptStations& stations, double accuracy);

  std::size_t rows() const override { return bare_->rows(); }
  std::size_t columns() const override { return bare_->columns(); }
  void apply(std::span<const double> model, std::span<double> data) const override;
  void apply_transpose(std::span<const double> data, std::span<double> model) const override;
  void weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const override;
  void row(std::size_t i, std::span<double> out) const override;
  const CellContacts& contacts() const { return contacts_; }

 private:
  /// Calls use(contact, observable, row) for every entry at a contact.
  template <class Use>
  void for_entries(const Use& use) const;

  std::shared_ptr<const solve::LinearOperator> bare_;
  CellContacts contacts_;
  std::vector<double> bare_entries_;  ///< [contacts][observables] the kernels' entries
};

}  // namespace terrane::gravity
