// A checkpoint: finished solves in a file, so that a stopped run can continue: those of the first turns
// (Problem::solve_at), with all their results.
#pragma once

#include <filesystem>

#include "terrane/physics/electromagnetic/outcome.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::electromagnetic {

/// A fingerprint of all input that determines the bits of a solve.
Fingerprint fingerprint(const Problem& problem);

/// Writes the solves of turns 0 … done − 1 of `out`, whose arrays have places for all solves.
void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& out);

/// Reads finished solves into their places in `out`; returns how many turns are done: without a file none,
/// with a warning in `out`. Throws FileError, InputError.
std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, Outcome& out);

}  // namespace terrane::electromagnetic
