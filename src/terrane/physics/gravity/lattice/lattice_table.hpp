// What every convolution on a lattice is made of: arrays for transforms in place, the prisms by layer, and
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

/// The prisms by layer.
struct LatticeLayers {
  std::vector<std::size_t> start;     // [layers + 1]
  std::vector<std::uint32_t> member;  // [prisms]

  LatticeLayers(const Lattice& lattice, int threads);
};

/// K at a row of the distances that the lags of the group need, for one layer: values
/// [channels][north][east]. Always by the kernels of all computed channels, whose last bits may differ from
/// those of fewer.
void lattice_table(const LatticePlan& plan, const Lattice::Group& group, const Convolution& sizes,
                   std::size_t layer, std::size_t j, ChannelSet channels, double* values);

/// Writes K of one channel over all lags.  from: at their distances [north][east]; to: an array of the FFT
void spread_table(const Convolution& sizes, Channel channel, const double* from, double* to);

}  // namespace terrane::gravity
