// Networks of complex conductances, A = A' + iA'', from two networks on the same points (network.hpp): for
// example for induced polarization.
//
// A is symmetric and not Hermitian, so conjugate gradients without conjugation (COCG) solve it. The
// preconditioner is a multigrid cycle for the network of the conductances' magnitudes, applied to real and
// imaginary parts separately; solves then take 9 to 19 iterations.
#pragma once

#include <functional>

#include "terrane/solve/networks/shared_grid.hpp"
#include "terrane/solve/report.hpp"

namespace terrane::solve {

using ComplexField = Field<Complex<double>>;
/// z = B r. scale: 1/‖b‖, for preconditioners of single precision.
using ComplexPreconditioner =
    std::function<void(Stream&, const ComplexField& r, ComplexField& z, double scale)>;

/// q = (A' + iA'') p, on the points of the networks; the halo of p must be filled.
void apply(Stream& stream, const Network<double>& real, const Network<double>& imaginary,
           const ComplexField& p, ComplexField& q);

/// Solves (A' + iA'') x = b, starting from the given x; otherwise as the solver for real networks
/// (conjugate_gradients.hpp).
SolveReport conjugate_gradients(Stream& stream, const Network<double>& real, const Network<double>& imaginary,
                                const ComplexField& b, ComplexField& x,
                                const ComplexPreconditioner& precondition, const Stopping& stopping = {},
                                const SharedGrid<double>* grid = nullptr, SharedMemory* scratch = nullptr);

}  // namespace terrane::solve
