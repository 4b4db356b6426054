// Conjugate gradients for conductance networks, with a multigrid cycle, the diagonal, or nothing before them.
//
//   r = b − A x;  z = B r;  p = z;  ρ = rᵀz
//   repeat   q = A p;  α = ρ/pᵀq;  x += α p;  r −= α q
//            stop when ‖r‖ ≤ tol ‖b‖, r computed anew; where only the carried r was so small, begin again
//            from x z = B r;  ρ' = rᵀz;  p = z + (ρ'/ρ) p;  ρ = ρ'
//
// Memory traffic of an iteration in double, per point and without B: q = A p reads p and 3 conductances and
// writes q (40 bytes), pᵀq reads 2 (16), x and r read 4 and write 2 (48), ‖r‖² reads 1 (8), rᵀz reads 2 (16),
// p reads 2 and writes 1 (24): 152 bytes.
//
// Sums are added in a fixed order (parallel/reduce): the same bits for any number of threads.
#pragma once

#include <functional>

#include "terrane/solve/network.hpp"
#include "terrane/solve/report.hpp"

namespace terrane::solve {

/// z = B r. scale: 1/‖b‖, for preconditioners of single precision.
using Preconditioner = std::function<void(Stream&, const Field<double>& r, Field<double>& z, double scale)>;

/// z = r/diag(A): the plain one, with which others are compared.
Preconditioner jacobi(Stream& stream, const Network<double>& network);

/// q = A p, b − A x.
void apply(Stream& stream, const Network<double>& network, const Field<double>& p, Field<double>& q);
void residual(Stream& stream, const Network<double>& network, const Field<double>& b, const Field<double>& x,
              Field<double>& r);

/// Solves A x = b from the x that is there. Returns what happened; x is the best that was reached where it
/// did not converge by breakdown or values that are not finite. Throws MemoryError.
SolveReport conjugate_gradients(Stream& stream, const Network<double>& network, const Field<double>& b,
                                Field<double>& x, const Preconditioner& precondition,
                                const Stopping& stopping = {});

}  // namespace terrane::solve
