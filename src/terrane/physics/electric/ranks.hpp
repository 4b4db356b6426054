// Direct current over the ranks of a run: all have the whole model and share the nodes of the mesh.
//
// Sources could be shared instead, each rank with a whole mesh of its own. Shared nodes serve one source as
// well as many and let the mesh be as large as the memory of all ranks; so there is one way.
#pragma once

#include "terrane/physics/electric/forward.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane::electric {

/// Rank 0 of runtime's ranks, while the others serve().  device: what this rank computed on.  Throws as
/// direct_current(); OutOfStep where others wait.
DirectCurrentData direct_current_on_ranks(const TensorMesh& mesh, const Rock& rock,
                                          const Electrodes& electrodes, const Parameters& parameters,
                                          const Runtime& runtime, DirectCurrentReport& report,
                                          Device& device);

/// The other ranks.
void serve(Comm& comm);

}  // namespace terrane::electric
