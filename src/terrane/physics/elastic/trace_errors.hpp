// Estimated errors of seismograms, one for each trace: of a receiver and a component.
//
//   e² = (g |R_low|)² + (|R_high| / s_D)²,   R = u_c − u
//
// u, u_c: traces of the run and of its companion (companion.hpp), both at the times of the run. R_low,
// R_high: their difference below and above the frequency up to which the companion has five points per
// shortest wavelength. Numerical dispersion grows with the power 2N of frequency and of the width of
// elements, N the degree: below that frequency the companion has hardly any, and R_low shows interfaces
// within elements and sides that reflect, for which the run errs as much as the companion; above it R_high is
// dispersion, of which the run has a small part. g = |u| / |u_low| adds what interfaces and sides do above
// that frequency. If the run has faces of elements at all interfaces and matched layers, all of R is
// dispersion.
//   s_D = min(8, (1.5^(2N) − 1)/3), a third of what dispersion alone would give
#pragma once

#include <vector>

#include "terrane/physics/elastic/march/march.hpp"

namespace terrane::elastic {

/// Errors of traces [receivers][components]; all are rms over the time steps, in the unit of the traces.
struct TraceErrors {
  std::vector<double> size;        ///< of the trace itself
  std::vector<double> rest;        ///< g |R_low|
  std::vector<double> dispersion;  ///< |R_high| / s_D

  double error(std::size_t trace) const;
};

/// shows_dispersion_alone: of the companion's problem (companion.hpp); the whole difference is then that of
/// dispersion. mine, its: seismograms of the run and of the companion, as from seismograms(). Those of the
/// companion are interpolated, by polynomials of degree 5.
TraceErrors errors_of_traces(const Problem& problem, const Problem& companion, bool shows_dispersion_alone,
                             Quantity quantity, const std::vector<double>& mine,
                             const std::vector<double>& its, int threads);

}  // namespace terrane::elastic
