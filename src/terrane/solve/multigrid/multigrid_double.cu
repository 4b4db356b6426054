// Cycles in double precision (multigrid.cu has those in single), to compare with.
#include "terrane/solve/multigrid/hierarchy.hpp"

namespace terrane::solve {

template class Multigrid<double>;
template class Multigrid<Complex<double>>;

}  // namespace terrane::solve
