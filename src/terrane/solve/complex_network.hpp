// Networks of complex conductances, A = A' + iA'' with two networks of the same points (network.hpp): rock
// that stores charge.
//
// A is symmetric and not Hermitian, so conjugate gradients without conjugation solve it (COCG). Before them
// goes the multigrid cycle of the conductances' magnitudes, on real and imaginary parts: 9 to 19 iterations.
#pragma once

#include <functional>

#include "terrane/solve/report.hpp"
#include "terrane/solve/shared_grid.hpp"

namespace terrane::solve {

using ComplexField = Field<Complex<double>>;
/// z = B r. scale: 1/‖b‖, for preconditioners of single precision.
using ComplexPreconditioner =
    std::function<void(Stream&, const ComplexField& r, ComplexField& z, double scale)>;

/// q = (A' + iA'') p, on the points of the networks; the layer of p is there.
void apply(Stream& stream, const Network<double>& real, const Network<double>& imaginary,
           const ComplexField& p, ComplexField& q);

/// Solves (A' + iA'') x = b from the x that is there; otherwise as the real one (conjugate_gradients.hpp).
SolveReport conjugate_gradients(Stream& stream, const Network<double>& real, const Network<double>& imaginary,
                                const ComplexField& b, ComplexField& x,
                                const ComplexPreconditioner& precondition, const Stopping& stopping = {},
                                const SharedGrid<double>* grid = nullptr);

}  // namespace terrane::solve
