// Checks of a job's output files before anything is computed: what formats cannot contain, and what cannot be
// written.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/job/output.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane {

/// Finds errors in writing the files of a job, as far as these can be known before the run. Creates and
/// writes nothing. Returns texts on what formats omit: "a.obs: this format leaves out g_ee". Throws, with the
/// line of the job: InputError (a file that the job reads would be overwritten, two outputs have the same
/// file, plots of data that do not exist), UnsupportedError (a format that cannot contain the result or the
/// model), FileError (a name is that of a folder; a folder cannot be created or written into).
std::vector<std::string> check_files(const Config& job, const Simulation& simulation, const Output& output,
                                     bool plots = true);

/// The output files of one of several simulations.
struct NamedOutput {
  std::string name;
  Output output;
};

/// Throws InputError if two simulations of a job write the same file.
void check_shared_files(std::span<const NamedOutput> outputs);

/// Creates the folders, and tests whether each file can be written there. Throws FileError.
void make_folders(const Output& output, bool plots = true);

}  // namespace terrane
