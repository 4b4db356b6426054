// A checkpoint: a file of finished solves with all their results, so that a stopped run can continue. Solves
// are finished in the order of Problem::solve_at.
#pragma once

#include <filesystem>

#include "terrane/physics/electromagnetic/outcome.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::electromagnetic {

/// A fingerprint of all input that determines the bits of a solve.
Fingerprint fingerprint(const Problem& problem);

/// Writes the first `done` solves in the order of Problem::solve_at, from `out`, whose arrays have room for
/// all solves.
void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& out);

/// Reads the finished solves of the file into `out`, at their indices there, and returns their number; 0,
/// with a warning in `out`, if there is no file. Throws FileError, InputError.
std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, Outcome& out);

}  // namespace terrane::electromagnetic
