// The parts of plans, reports and results that several physics share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/memory.hpp"
#include "terrane/io/content.hpp"
#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/simulation/provenance.hpp"
#include "terrane/simulation/result.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane {

/// The memory that a run may take: runtime.memory, or what the machine has left, bytes.
MemoryBudget memory_budget(const Runtime& runtime);

/// Where a run computes, for a physics that does not choose the device itself: "2 ranks, each cpu, 16
/// threads".
std::string device_text(const Runtime& runtime);

/// A result without values: its data set's shape, and provenance.
Result outline_of(std::string_view physics, const JobOrigin& job, Dataset data);

/// Adds the dimensions and coordinates of a mesh's cells and faces; returns those of a variable of cells.
std::vector<std::string> add_cell_axes(Dataset& data, const TensorMesh& mesh);

/// Puts notes and warnings from before the run in front of the run's own, for a run whose report is made
/// elsewhere.
void begin_with(RunFacts& facts, const std::vector<std::string>& notes,
                const std::vector<std::string>& warnings);

/// Gives a result its data set. Both get provenance, device and method as attributes, beside those that the
/// result has.
void conclude(Result& result, std::string_view physics, const JobOrigin& job, Dataset data);

/// Adds the columns of words of stations to a result; a note names those for which it has no place.
void add_words(Result& result, const std::vector<io::TextColumn>& words, RunFacts& facts);

}  // namespace terrane
