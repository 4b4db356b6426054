#include "terrane/physics/elastic/kernels/inner_forces.hpp"

namespace terrane::elastic {

template void begin_inner_forces(Stream&, const GroupForcesWork<float>&);

}  // namespace terrane::elastic
