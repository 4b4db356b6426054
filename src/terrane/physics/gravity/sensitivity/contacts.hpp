// Corrections of sensitivities at stations inside cells and on their surface. There the results of the
// kernels need two corrections:
//   - Components of the gradient tensor jump or are unbounded. At a jump the kernels compute the mean of both
//     sides; the policy (SingularPolicy) may ask for another value.
//   - A flux density such as B is the tensor plus 4πGρ at the station on its diagonal (ρ: density). The
//     kernels compute the tensor alone.
// Corrections depend on the densities in the eight octants around a station (sum/singular.hpp). For products
// and for elements of the matrix G they are computed from different densities:
//   G m              the model's densities: so G m equals the field that forward() computes, for any policy
//   element of G     density 1 in the element's cell, 0 elsewhere. NaN if the field has no value there, or if
//                    the value depends on the whole model: between two cells, policy "outside" means the
//                    side with the lower |ρ|, which is known only with the model
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
    std::uint8_t octants;  ///< bits of the octants that the cell fills (see Contact)
  };
  CellContacts() = default;
  CellContacts(const PrismSet& cells, const KeptStations& stations,
               const std::vector<Observable>& observables, SingularPolicy policy);

  /// True if no product needs a correction.
  bool empty() const { return all_.empty(); }
  /// Indices of stations for which an element of G has no value (is NaN).
  std::vector<std::uint32_t> undefined() const;
  /// Indices of stations strictly inside cells, or between cells.
  std::vector<std::uint32_t> inside() const { return inside_; }

  /// The contacts, ordered by station, then cell.
  const std::vector<One>& all() const { return all_; }
  /// Corrections to add to the elements of G of a contact's station and cell: [observable].
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
  std::vector<double> added_;  ///< [contacts][observables] corrections of elements of G
  std::vector<std::uint32_t> inside_;
};

/// An operator of elements of G from the kernels, corrected at contacts. Its G m equals the field that
/// forward() computes; Gᵀ d and diag(GᵀWG) use the corrected elements.
class SettledOperator final : public solve::LinearOperator {
 public:
  /// bare: the operator without corrections; cells, stations: those of `bare` and `contacts`
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
  /// Calls use(contact, observable, row of G) for every contact and observable.
  template <class Use>
  void for_entries(const Use& use) const;

  std::shared_ptr<const solve::LinearOperator> bare_;
  CellContacts contacts_;
  std::vector<double> bare_entries_;  ///< [contacts][observables] elements of G before correction
};

}  // namespace terrane::gravity
