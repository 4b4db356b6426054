// What plans, reports and results of several physics say alike.
#pragma once

#include <string>
#include <string_view>

#include "terrane/base/memory.hpp"
#include "terrane/simulation/result.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane {

/// What a run may take: runtime.memory, or what the machine has left.
MemoryBudget memory_budget(const Runtime& runtime);

/// Where a physics computes that takes a device as it is named: "2 ranks, each cpu, 16 threads".
std::string device_text(const Runtime& runtime);

/// A result of which only the shape is known: its data set without values, and provenance.
Result outline_of(std::string_view physics, const std::string& job, Dataset data);

/// Gives a result its data set. Provenance, device and method, beside attributes that the result has, stand
/// in both.
void conclude(Result& result, std::string_view physics, const std::string& job, Dataset data);

}  // namespace terrane
