// G and Gᵀ by FFT where cells and stations form a lattice (lattice/lattice_plan.hpp), for any observables.
//
//   d_o = Σ_layers K_o ∗ m          G:  one transform of m per layer, one back per observable
//   m   = Σ_o K_o ⋆ d_o             Gᵀ: one transform of d_o, one back per layer; ⋆: correlation, conj(K̂) d̂
//   s   = Σ_o K_o² ⋆ w_o            diag(GᵀWG), with squared tables
//
// m: model; d_o, w_o: data and weights of observable o; K_o: this observable of one cell at all lags; K̂, d̂:
// transforms.
//
// Exact to rounding: 1e-15 of the largest value. In Gᵀ each layer has a transform of its own, so the error of
// a deep layer is relative to the largest value of that layer. Layers are divided into at most eight parts
// (solve/matrices/parted.hpp), which several ranks may share: in G each part needs its own inverse transform.
// Spectra of K are stored: 16 bytes for each wave number of a layer, about 32 bytes for each cell and
// observable.
#pragma once

#include <memory>
#include <vector>

#include "terrane/physics/gravity/lattice/lattice_plan.hpp"
#include "terrane/physics/gravity/sensitivity/columns.hpp"

namespace terrane {
class HostFft;
}

namespace terrane::gravity {

class LatticeArray;

/// The base of the operators on the CPU and on devices: layers divided into parts, and tables of K.
class LatticeParts : public solve::PartedOperator {
 public:
  std::size_t rows() const override { return stations_ * observables_.size(); }
  std::size_t columns() const override { return plan_.lattice().place.size(); }
  std::size_t parts() const override;
  Range held() const override { return share_.of(parts()); }
  std::vector<std::uint32_t> columns_of(const Range& parts) const override;

  /// Bytes of the spectra.
  static double bytes(const Lattice& lattice, std::size_t observables);

 protected:
  LatticeParts(Lattice lattice, std::size_t stations, std::vector<Observable> observables, int threads,
               solve::ShareOfParts share);
  Range layers_of(const Range& parts) const;
  /// The indices of the cells of these layers.
  std::span<const std::uint32_t> cells_of(const Range& layers) const {
    return std::span(member_).subspan(start_[layers.first], start_[layers.last] - start_[layers.first]);
  }
  /// Tables of K, an observable of one cell at all lags, before the Fourier transform: [observables], for a
  /// group of stations and a layer.
  std::vector<LatticeArray> tables(std::size_t group, std::size_t layer) const;
  /// Indices in an array of a group: of the group's station `station`, and of a cell (the same for all
  /// layers).
  std::size_t place_of_station(std::size_t group, std::size_t station) const;
  std::size_t place_of_cell(std::size_t group, std::uint32_t cell) const;

  std::vector<Observable> observables_;  ///< the observables, in terms of the channels that the plan computes
  LatticePlan plan_;
  std::size_t stations_;
  int threads_;
  solve::ShareOfParts share_;
  std::vector<std::size_t> start_;     ///< [layers + 1] offsets in member_
  std::vector<std::uint32_t> member_;  ///< indices of cells, layer by layer
};

/// The operator on the CPU.
class LatticeSensitivity final : public LatticeParts {
 public:
  /// Computes the spectra of the parts in `share`. Rows and columns are those of SensitivityColumns. Throws
  /// Cancelled.
  LatticeSensitivity(Lattice lattice, std::size_t stations, std::vector<Observable> observables,
                     int threads = 0, Progress* progress = nullptr, solve::ShareOfParts share = {});
  ~LatticeSensitivity() override;

  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override;
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override;
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override;

 private:
  /// Computes the data at the stations of a group from the layers of some parts, few enough to be in memory
  /// at once.
  void convolve(std::size_t group, const Range& parts, std::span<const double> model,
                std::span<double> sums) const;
  /// Sets the model to zero in the cells of these layers.
  void clear(const Range& layers, std::span<double> model) const;
  /// The transform of the values at the stations of a group.  values [rows]
  LatticeArray spread_stations(std::size_t group, std::size_t observable,
                               std::span<const double> values) const;
  /// Adds the values of an array at the cells of a layer to the model.
  void gather_layer(const LatticeArray& array, std::size_t group, std::size_t layer,
                    std::span<double> model) const;

  std::vector<std::unique_ptr<HostFft>> transform_;  ///< [groups]
  std::vector<std::vector<LatticeArray>> spectrum_;  ///< [groups · layers][observables]
};

}  // namespace terrane::gravity
