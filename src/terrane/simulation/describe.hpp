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

/// The memory that a run may use: runtime.memory, or the free memory of the machine, bytes.
MemoryBudget memory_budget(const Runtime& runtime);

/// A text on where a run computes, for a physics that does not choose the device itself: "2 ranks, each cpu,
/// 16 threads".
std::string device_text(const Runtime& runtime);

/// A result without values: only its data set's shape and provenance.
Result outline_of(std::string_view physics, const JobOrigin& job, Dataset data);

/// Adds the dimensions and coordinates of a mesh's cells and faces; returns the dimensions of a variable on
/// cells.
std::vector<std::string> add_cell_axes(Dataset& data, const TensorMesh& mesh);

/// Inserts notes and warnings from before the run in front of those in `facts`, for runs whose report is made
/// elsewhere.
void begin_with(RunFacts& facts, const std::vector<std::string>& notes,
                const std::vector<std::string>& warnings);

/// Gives a result its data set. Both get provenance, device and method as attributes, in addition to those
/// that the result has.
void conclude(Result& result, std::string_view physics, const JobOrigin& job, Dataset data);

/// Adds text columns of the stations to a result; a note names columns that do not fit into it.
void add_words(Result& result, const std::vector<io::TextColumn>& words, RunFacts& facts);

}  // namespace terrane
