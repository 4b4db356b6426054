// Cycles in double precision, for comparison with those in single precision of multigrid.cu.
#include "terrane/solve/multigrid/hierarchy.hpp"

namespace terrane::solve {

template class Multigrid<double>;
template class Multigrid<Complex<double>>;

}  // namespace terrane::solve
