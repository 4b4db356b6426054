#include "terrane/physics/elastic/kernels/rock_forces.hpp"

namespace terrane::elastic {

template void begin_rock_forces(Stream&, const GroupForcesWork<double>&);

}  // namespace terrane::elastic
