// Two jobs whose models are found together (joint.hpp): two simulations, of which the first one that runs
// runs both.
#pragma once

#include <array>
#include <memory>

#include "terrane/inversion/joint.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::inversion {

/// jobs: as inversions() makes them. Throws InputError: one is none of these, or their cells differ.
/// The two run in one process, without a checkpoint.
std::array<std::unique_ptr<Simulation>, 2> jointly(std::array<std::unique_ptr<Simulation>, 2> jobs,
                                                   const JointSettings& settings);

}  // namespace terrane::inversion
