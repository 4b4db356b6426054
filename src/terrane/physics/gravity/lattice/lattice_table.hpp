// What every convolution on a lattice uses: arrays for transforms in place, the prisms sorted by layer, and
// tables of K, the field of one cell at all lags.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "terrane/physics/gravity/lattice/lattice_plan.hpp"

namespace terrane::gravity {

/// Memory aligned for vector instructions.
class LatticeArray {
 public:
  LatticeArray() = default;
  explicit LatticeArray(std::size_t reals)
      : data_(static_cast<double*>(::operator new(reals * sizeof(double), alignment))) {}
  bool empty() const { return !data_; }
  double* real() const { return data_.get(); }
  std::complex<double>* complex() const { return reinterpret_cast<std::complex<double>*>(data_.get()); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(double* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<double, Free> data_;
};

/// The prisms, sorted by layer.
struct LatticeLayers {
  std::vector<std::size_t> start;     // [layers + 1] offsets of the layers in `member`
  std::vector<std::uint32_t> member;  // [prisms] indices of prisms, layer by layer

  LatticeLayers(const Lattice& lattice, int threads);
};

/// Computes row j of the table of K for one layer: values [channels][north][east], at the distances of the
/// group's lags. It always uses the kernels of all computed channels, because kernels of fewer channels may
/// differ in the last bits.
void lattice_table(const LatticePlan& plan, const Lattice::Group& group, const Convolution& sizes,
                   std::size_t layer, std::size_t j, ChannelSet channels, double* values);

/// Writes K, the field of one cell, of one channel at all lags.  from: K at the distances [north][east]; to:
/// an array of the FFT
void spread_table(const Convolution& sizes, Channel channel, const double* from, double* to);

}  // namespace terrane::gravity
