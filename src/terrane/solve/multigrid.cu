// Cycles in single precision; multigrid_double.cu has those in double.
#include "terrane/solve/multigrid_hierarchy.hpp"

namespace terrane::solve {

template class Multigrid<float>;
template class Multigrid<Complex<float>>;

}  // namespace terrane::solve
