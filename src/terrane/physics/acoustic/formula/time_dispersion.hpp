// At frequency ω the leapfrog solves the exact equation at ω' = (2/Δt) sin(ωΔt/2): its waves are too fast.
// Time dispersion can be corrected exactly before and after a run (Stork 2013; Koene et al. 2018):
//
//   before  the source's spectrum is evaluated at ω':   s̃ = IDFT[ S(ω') ]
//   after   a trace's spectrum is evaluated at ω'' = (2/Δt) asin(ωΔt/2), and is zero above ωΔt = 2
//
// Both are linear, so each has a transpose. A trace that has not decayed at its end is continued, for an
// eighth of its samples, by its mirror image about the last sample, and tapered: a jump to zero there would
// spread over the whole trace.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace terrane::acoustic {

enum class Dispersion {
  put_in,
  take_out
};  ///< put_in: adds dispersion to wavelets before a run; take_out: removes it from traces after it

/// traces [samples, traces], changed in place.  threads: as for thread_count()
void warp(std::vector<double>& traces, std::size_t samples, Dispersion direction, int threads);
/// The transpose of warp().
void warp_transposed(std::vector<double>& traces, std::size_t samples, Dispersion direction, int threads);

}  // namespace terrane::acoustic
