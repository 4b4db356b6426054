// Integrals of traces over time, from zero.
//
//   v_{n+1} = v_n + Δt Σ_j c_j (f_{n−j} + f_{n+1+j}),  j = 0 … 3: order 8; lower order at the trace's end
//
// f is the trace, v its integral, n the index of a sample, Δt the time between samples. Before its first
// sample a trace is zero. The relative error of a wave is 3e-4 with 5 samples per period, 1e-6 with 10.
#pragma once

#include <cstddef>
#include <vector>

namespace terrane::acoustic {

/// traces [samples, traces]: the traces with indices first ≤ n < last are changed in place.  step: s
void integrate(std::vector<double>& traces, std::size_t samples, std::size_t first, std::size_t last,
               double step);
/// The transpose of integrate().
void integrate_transposed(std::vector<double>& traces, std::size_t samples, std::size_t first,
                          std::size_t last, double step);

}  // namespace terrane::acoustic
