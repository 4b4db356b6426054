// The earth of a job on other cells than those of its mesh.
#pragma once

#include <optional>

#include "terrane/job/earth.hpp"

namespace terrane {

/// The earth that [model] describes by bodies, averaged over the cells of another mesh than the job's.
/// Nothing if a file gives the properties of the job's cells. Throws InputError, FileError, MemoryError.
std::optional<EarthModel> described_earth_on(const TensorMesh& mesh, const Config& job,
                                             const MemoryBudget& memory, const EarthRequest& request);

}  // namespace terrane
