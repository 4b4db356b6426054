// Sensitivities: the field of one cell of unit density at every station. They are the columns of G in
// d = G m.
//
// A datum need not be a channel: an observable is Σ_c weight_c q_c over the ten quantities of a prism with
// unit density and G = 1. So g_u in mGal, and the magnetic anomaly of a susceptible cell (by Poisson's
// relation) come from the same kernels, several of them in one pass.
#pragma once

#include <memory>
#include <vector>

#include "terrane/mesh/prism.hpp"
#include "terrane/physics/gravity/sensitivity/contacts.hpp"
#include "terrane/physics/gravity/sensitivity/observable.hpp"
#include "terrane/solve/matrices/chunked.hpp"

namespace terrane::gravity {

/// Rows are ordered by observable, then by station: row = station + stations · observable. Columns are cells,
/// in their order.
class SensitivityColumns final : public solve::ColumnSource {
 public:
  /// accuracy: relative, of every entry; 1e-9 is ample if entries are stored in double precision, 1e-7 if in
  /// single. singular: the value of entries of the gradient tensor at stations on the surface of cells.
  /// Throws InputError if no observable contains a channel.
  SensitivityColumns(PrismSet cells, KeptStations stations, std::vector<Observable> observables,
                     double accuracy, SingularPolicy singular = SingularPolicy::nan);

  std::size_t rows() const override { return stations_.size() * observables_.size(); }
  std::size_t columns() const override { return cells_.size(); }
  /// Entries, corrected at stations in contact with cells (contacts.hpp).
  void make(std::size_t first, std::size_t last, std::span<double> out) const override;
  /// Entries as the kernels compute them, without the correction at stations in contact with cells: storages
  /// contain bare entries, and SettledOperator corrects the products.
  void make_bare(std::size_t first, std::size_t last, std::span<double> out) const;
  const CellContacts& contacts() const { return contacts_; }

  const PrismSet& cells() const { return cells_; }
  const KeptStations& stations() const { return stations_; }
  const std::vector<Observable>& observables() const { return observables_; }
  double accuracy() const { return accuracy_; }

 private:
  PrismSet cells_;
  KeptStations stations_;
  std::vector<Observable> observables_;
  double accuracy_;
  struct Kernels;  ///< the tiles of stations, and their kernel
  std::shared_ptr<const Kernels> kernels_;
  CellContacts contacts_;
};

/// The entries of a source as make_bare() computes them.
class BareColumns final : public solve::ColumnSource {
 public:
  explicit BareColumns(std::shared_ptr<const SensitivityColumns> source) : source_(std::move(source)) {}
  std::size_t rows() const override { return source_->rows(); }
  std::size_t columns() const override { return source_->columns(); }
  void make(std::size_t first, std::size_t last, std::span<double> out) const override {
    source_->make_bare(first, last, out);
  }

 private:
  std::shared_ptr<const SensitivityColumns> source_;
};

}  // namespace terrane::gravity
