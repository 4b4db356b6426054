// The files of a job, checked before anything is computed: what they cannot hold, and where they cannot go.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/job/output.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane {

/// Finds what would keep the files of a job from being written, as far as it can be known before the run.
/// Creates and writes nothing.
/// Returns what the formats leave out, for people: "a.obs: this format leaves out g_ee".
/// Throws, with the line of the job: InputError (a file that the job reads would be overwritten, two names of
/// one file, plots of what there is not), UnsupportedError (a format that cannot hold the result or the
/// model), FileError (a folder in place of a file, a folder that cannot be made or written into).
std::vector<std::string> check_files(const Config& job, const Simulation& simulation, const Output& output,
                                     bool plots = true);

/// The files of one of several simulations.
struct NamedOutput {
  std::string name;
  Output output;
};

/// Throws InputError when two simulations of a job write one file.
void check_shared_files(std::span<const NamedOutput> outputs);

/// Creates the folders, and tests whether each file can be written there. Throws FileError.
void make_folders(const Output& output, bool plots = true);

}  // namespace terrane
