// Makes the elements of a job: one for each cell of its mesh, or as its table [elements] describes them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/job/earth.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/elastic/mesh/chunk.hpp"
#include "terrane/physics/elastic/mesh/mesh.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane::elastic {

/// [elements], [[elements.layer]], [[elements.rock]].
std::span<const Section> element_sections();

struct Elements {
  Mesh mesh;
  TensorMesh cells;  ///< the mesh, if there is one element for each of its cells; else empty
  std::function<double(double easting, double northing)> surface;  ///< height, m; empty: flat
  std::optional<Placement> sphere;                                 ///< position of a chunk of the sphere
  std::vector<std::string> notes, warnings;
};

/// simulation: the table [simulation], after describe(). request: how to plan a mesh if the job has none.
/// Throws InputError, FileError, MemoryError.
Elements build_elements(const Config& job, const Config& simulation,
                        const std::optional<Projection>& projection, const MemoryBudget& memory,
                        const EarthRequest& request = {});

/// The elements of a job without [elements], on other cells than those of its mesh.  cells: the new cells;
/// within: as many cells, whose outer faces are those of the job's mesh; the rock of cells[n] is that of
/// within[n], averaged from the bodies of the job. If a file gives the properties of the job's cells, it is
/// that of the cell at the middle.  of: the job's own cells and their media. Throws what build_elements()
/// throws.
struct OtherCells {
  TensorMesh cells, within;
};
Elements elements_on(const OtherCells& other, const TensorMesh& of, const Mesh& mesh, const Config& job,
                     const Config& simulation, const MemoryBudget& memory, const EarthRequest& request);

}  // namespace terrane::elastic
