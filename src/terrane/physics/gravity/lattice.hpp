// Prisms on an evenly spaced mesh, stations in step with it: the sum over prisms is a convolution, done by
// FFT.
//
//   field(s) = Σ_layers Σ_c K_layer(s − c) ρ_layer(c),   s, c: whole numbers of cells
//
// One value of K serves every pair with that lag. K comes from the kernels of the direct sum at full
// accuracy, so the result is exact to rounding, about 1e-15 of the largest value (the FFT adds log₂ N
// roundings). Horizontally the mesh must be even; layers may have any thickness, cells may be missing, and no
// two may overlap in a layer. Stations fall into groups of one height and one offset from the cells: a grid
// with the spacing of the cells is one group, one q times finer is q² groups, and it need not be complete.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/gravity/summation.hpp"

namespace terrane::gravity {

/// What was recognised in lists of prisms and stations.
struct Lattice {
  struct Layer {
    double bottom, top;  // m
  };
  /// Stations of one height and one place within the cells.
  struct Group {
    double offset[2];      ///< from the centre of cell (0, 0), in cells, within [−0.5, 0.5)
    double up;             ///< m
    long low[2], high[2];  ///< range of their cells
    std::vector<std::uint32_t> station;
    std::vector<std::int32_t> cell[2];  ///< one a station
  };
  double corner[2] = {}, spacing[2] = {};  ///< west and south of cell (0, 0); sides of a cell, m
  std::size_t cells[2] = {};
  std::vector<Layer> layers;         ///< ascending
  std::vector<std::uint32_t> place;  ///< [prisms] east + cells[0] · (north + cells[1] · layer)
  std::vector<Group> groups;
};

/// Nothing, when prisms and stations do not form a lattice; `reason` then says why. Coordinates may be off by
/// a few units in the last place. Stops at the first prism that does not fit.
std::optional<Lattice> recognise_lattice(const Prisms& prisms, const Stations& stations, std::string& reason);

struct LatticeCost {
  double seconds = 0;             ///< one core
  std::size_t memory_bytes = 0;   ///< without keeping the spectra
  std::size_t spectra_bytes = 0;  ///< more, to keep them
};

/// The convolution for one geometry. With `keep`, spectra of K are kept after the first use, so that further
/// densities cost two FFTs a layer and channel less.
class LatticeOperator {
 public:
  /// The lattice is taken over.
  LatticeOperator(Lattice lattice, ChannelSet channels, bool keep = false);
  ~LatticeOperator();
  LatticeOperator(LatticeOperator&&) noexcept;

  LatticeCost cost() const;

  /// A part: one channel at one group of stations, or Γee, Γnn and Γuu where one follows from the others.
  std::size_t parts() const { return parts_.size(); }
  Summation::Part part(std::size_t index) const;

  /// As Summation::sum, for these densities [prisms] kg/m³. Parts of one group that are asked for together
  /// share the transforms of the densities. Throws ShapeError, Cancelled.
  void sum(std::span<const double> density, std::size_t first, std::size_t last, int threads,
           const Summation::Take& take, Progress& progress);

  /// All parts: values [channels][stations].
  PartSums apply(std::span<const double> density, std::size_t stations, int threads, Progress& progress);

 private:
  struct Plans;
  struct Spectra;
  struct Layers;
  struct GroupPart {
    std::size_t group;
    ChannelSet channels;
    bool first;  ///< of its group: it brings the contacts
  };

  void table(const Lattice::Group& group, const Lattice::Layer& layer, std::size_t row, ChannelSet channels,
             double* values) const;
  std::size_t batch(const Plans& plans, std::size_t channels) const;
  static void spread(const Plans& plans, const Lattice::Group& group, Channel channel, const double* from,
                     double* to);
  void sum_group(std::size_t first, std::size_t last, Layers& prisms, std::span<const double> density,
                 int threads, const Summation::Take& take, Progress& progress);
  void contacts(const Lattice::Group& group, std::span<const double> density, Layers& prisms,
                std::vector<Contact>& list) const;

  Lattice lattice_;
  ChannelSet channels_, computed_;  ///< asked for; by FFT (Γuu may follow from Laplace's equation)
  std::vector<GroupPart> parts_;    // group by group
  bool keep_;
  std::vector<std::unique_ptr<Plans>> plans_;      // [groups]
  std::vector<std::unique_ptr<Spectra>> spectra_;  // [groups · layers], when kept
};

/// The convolution of one set of densities, as a sum like any other.
class LatticeSummation final : public Summation {
 public:
  /// The densities must outlive it.
  LatticeSummation(std::shared_ptr<LatticeOperator> lattice, std::span<const double> density, int threads)
      : lattice_(std::move(lattice)), density_(density), threads_(threads) {}

  std::size_t parts() const override { return lattice_->parts(); }
  Part part(std::size_t index) const override { return lattice_->part(index); }
  void sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) override {
    lattice_->sum(density_, first, last, threads_, take, progress);
  }

 private:
  std::shared_ptr<LatticeOperator> lattice_;
  std::span<const double> density_;
  int threads_;
};

}  // namespace terrane::gravity
