// Conductivity of the cells at one frequency: real, or complex if the medium stores charge.
//
//   σ(ω) = (σ' + iσ'') / [1 − m (1 − 1/(1 + (iωτ)^c))]     time e^{+iωt}, σ'' ≥ 0 (model/polarization.hpp)
//
// m, τ, c: Cole-Cole parameters of the cell. σ' and σ'' may differ by axis; the Cole-Cole factor is the same
// for all axes.
#pragma once

#include <complex>
#include <vector>

#include "terrane/physics/electromagnetic/grid/maxwell.hpp"

namespace terrane::electromagnetic {

struct Sigma {
  Conductivity real;                         ///< σ', S/m
  Conductivity quadrature{};                 ///< σ'', or null
  std::vector<std::complex<double>> factor;  ///< [cells] the Cole-Cole factor, or empty

  bool complex() const { return quadrature[0] != nullptr || !factor.empty(); }
  std::complex<double> operator()(std::size_t axis, std::size_t cell) const {
    const std::complex<double> slow{(*real[axis])[cell],
                                    quadrature[axis] != nullptr ? (*quadrature[axis])[cell] : 0};
    return factor.empty() ? slow : slow * factor[cell];
  }
};

}  // namespace terrane::electromagnetic
