// Conjugate gradients for conductance networks, preconditioned by a multigrid cycle, the diagonal, or
// nothing.
//
// krylov.hpp contains the loop. Memory traffic per iteration and point in double precision, without that of
// the preconditioner B: q = A p reads p and 3 conductances and writes q (40 bytes), pᵀq reads 2 numbers (16),
// x and r read 4 and write 2 (48), ‖r‖² reads 1 (8), rᵀz reads 2 (16), p reads 2 and writes 1 (24): 152
// bytes. Devices add up pᵀq and ‖r‖² while they compute q and r: 128 bytes. If B is the diagonal, they add up
// rᵀz at the same time and do not store z: A p 40, x and r 56, p 32, 128 bytes in all.
//
// Sums are added in a fixed order (parallel/reduce): the same bits for any number of threads and ranks.
#pragma once

#include <functional>
#include <memory>

#include "terrane/solve/networks/shared_grid.hpp"
#include "terrane/solve/report.hpp"

namespace terrane::solve {

/// z = B r. scale: 1/‖b‖, for preconditioners of single precision.
using Preconditioner = std::function<void(Stream&, const Field<double>& r, Field<double>& z, double scale)>;

/// z = r/diag(A): the simplest preconditioner, with which others are compared.
class Jacobi {
 public:
  /// Throws MemoryError.
  Jacobi(Stream& stream, const Network<double>& network);
  void operator()(Stream& stream, const Field<double>& r, Field<double>& z, double scale) const;
  const Field<double>& inverse() const { return *inverse_; }  ///< 1/diag(A)

 private:
  std::shared_ptr<const Field<double>> inverse_;
};
inline Jacobi jacobi(Stream& stream, const Network<double>& network) { return Jacobi(stream, network); }

/// q = A p, on the points of the network; the halo of p must be filled.
void apply(Stream& stream, const Network<double>& network, const Field<double>& p, Field<double>& q);
void apply(Stream& stream, const SplitNetwork& network, const Field<double>& p, Field<double>& q);

/// Solves A x = b, starting from the given x. Returns how the iteration ended; after a breakdown or values
/// that are not finite, x is the last iterate before that. With a `grid`, network, b and x are this rank's
/// part of the grid, and both this call and `precondition` are collective. scratch: null, or memory in whose
/// place 0 q and z are stored; B may use that memory while it computes z (InTurn of multigrid.hpp). Throws
/// MemoryError.
SolveReport conjugate_gradients(Stream& stream, const Network<double>& network, const Field<double>& b,
                                Field<double>& x, const Preconditioner& precondition,
                                const Stopping& stopping = {}, const SharedGrid<double>* grid = nullptr,
                                SharedMemory* scratch = nullptr);
/// Solves A x = b for a SplitNetwork: with the same bits on CPUs, and 12 bytes less memory per point.
SolveReport conjugate_gradients(Stream& stream, const SplitNetwork& network, const Field<double>& b,
                                Field<double>& x, const Preconditioner& precondition,
                                const Stopping& stopping = {}, const SharedGrid<double>* grid = nullptr,
                                SharedMemory* scratch = nullptr);
/// Solves A x = b with the diagonal as preconditioner, in fewer passes over memory on devices.
SolveReport conjugate_gradients(Stream& stream, const Network<double>& network, const Field<double>& b,
                                Field<double>& x, const Jacobi& precondition, const Stopping& stopping = {},
                                const SharedGrid<double>* grid = nullptr);

}  // namespace terrane::solve
