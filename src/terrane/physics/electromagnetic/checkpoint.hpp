// Solves that are done, in a file, so that a long run can go on: the first turns (Problem::solve_at), with
// all that they left.
#pragma once

#include <filesystem>

#include "terrane/physics/electromagnetic/outcome.hpp"
#include "terrane/simulation/checkpoint.hpp"

namespace terrane::electromagnetic {

/// All that determines the bits of a solve.
Fingerprint fingerprint(const Problem& problem);

/// The solves of turns 0 … done − 1 of `out`, whose arrays have the places of all.
void write_checkpoint(const std::filesystem::path& file, const Problem& problem, std::size_t done,
                      const Outcome& out);

/// Puts them into their places in `out`; how many turns are done. Without a file none, with a warning in
/// `out`. Throws FileError, InputError.
std::size_t read_checkpoint(const std::filesystem::path& file, const Problem& problem, Outcome& out);

}  // namespace terrane::electromagnetic
