// Prisms on an evenly spaced mesh, stations on grids of its spacing: the sum over prisms is a convolution
// (lattice_plan.hpp), computed by FFT; in this file on the CPU.
//
// K, the field of one cell, is computed once for each lag, by the kernels of the direct sum at full accuracy.
// So the result is exact to rounding, about 1e-15 of the largest value (the FFT adds log₂ N roundings).
#pragma once

#include <memory>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/lattice/lattice_plan.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"

namespace terrane {
class HostFft;
}

namespace terrane::gravity {

struct LatticeCost {
  double seconds = 0;             ///< seconds on one core
  std::size_t memory_bytes = 0;   ///< bytes needed if the spectra are not kept
  std::size_t spectra_bytes = 0;  ///< additional bytes if the spectra are kept
};

/// The convolution for one geometry. With `keep`, spectra of K are kept after the first use, so that further
/// densities need one FFT per layer and channel less.
class LatticeOperator {
 public:
  /// Takes ownership of the lattice.
  LatticeOperator(Lattice lattice, ChannelSet channels, bool keep = false);
  ~LatticeOperator();
  LatticeOperator(LatticeOperator&&) noexcept;

  /// The plan of this convolution, from which other devices can compute it.
  const std::shared_ptr<const LatticePlan>& plan() const { return plan_; }
  LatticeCost cost() const;

  /// See LatticePlan.
  std::size_t parts() const { return plan_->parts(); }
  Summation::Part part(std::size_t index) const { return plan_->part(index); }

  /// Like Summation::sum, for these densities [prisms] kg/m³. Parts of one group that are requested together
  /// share the transforms of the densities. Throws ShapeError, Cancelled.
  void sum(std::span<const double> density, std::size_t first, std::size_t last, int threads,
           const Summation::Take& take, Progress& progress);

  /// All parts: values [channels][stations].
  PartSums apply(std::span<const double> density, std::size_t stations, int threads, Progress& progress);

 private:
  struct Spectra;
  class OnCpu;

  std::size_t batch(const Convolution& sizes, std::size_t channels) const;

  std::shared_ptr<const LatticePlan> plan_;
  bool keep_;
  std::vector<std::unique_ptr<HostFft>> transforms_;  // [groups] transforms, each made when first needed
  std::vector<std::unique_ptr<Spectra>> spectra_;     // [groups · layers], if kept
};

/// The convolution of one set of densities, as a Summation.
class LatticeSummation final : public Summation {
 public:
  /// The densities must outlive this object.
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
