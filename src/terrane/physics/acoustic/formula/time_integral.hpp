// Integrals of traces over time, from zero.
//
//   v_{n+1} = v_n + Δt Σ_j c_j (f_{n−j} + f_{n+1+j}),  j = 0 … 3: of order 8; lower at the trace's end
//
// Before its first sample a trace is zero. The error is 3e-4 of a wave with 5 samples per period, 1e-6
// with 10.
#pragma once

#include <cstddef>
#include <vector>

namespace terrane::acoustic {

/// traces [samples, traces], those of number [first, last) changed in place.  step: s
void integrate(std::vector<double>& traces, std::size_t samples, std::size_t first, std::size_t last,
               double step);
/// The transpose of integrate().
void integrate_transposed(std::vector<double>& traces, std::size_t samples, std::size_t first,
                          std::size_t last, double step);

}  // namespace terrane::acoustic
