// The checkpoint of a stopped run: the temperature, the series, and how many steps are done.
#pragma once

#include <filesystem>

#include "terrane/physics/heat/outcome.hpp"
#include "terrane/physics/heat/problem.hpp"

namespace terrane::heat {

/// Throws FileError.
void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const March& state);
/// Steps done; 0 where there is no checkpoint. Throws InputError (of another problem), FileError.
std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, March& state);

}  // namespace terrane::heat
