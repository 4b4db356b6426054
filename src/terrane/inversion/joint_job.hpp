// Jobs whose models are found together (joint.hpp): simulations of which the first one that runs runs all.
#pragma once

#include <memory>
#include <vector>

#include "terrane/inversion/joint.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// jobs: as inversions() makes them. Throws InputError: one is none of these, or their cells differ.
/// They run in one process, without a checkpoint.
std::vector<std::unique_ptr<Simulation>> jointly(std::vector<std::unique_ptr<Simulation>> jobs,
                                                 const JointSettings& settings);

}  // namespace terrane::inversion
