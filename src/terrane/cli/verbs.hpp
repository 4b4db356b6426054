// The verbs of the terrane command. Each verb only calls functions of the library, which C++ programs can
// call as well.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/parallel/comm/comm.hpp"
#include "terrane/simulation/simulation.hpp"

namespace terrane::cli {

/// The options of `run` and `check`.
struct JobOptions {
  std::string job;
  std::string data;                    ///< --data FOLDER, the argument ${data}
  std::vector<std::string> arguments;  ///< --arg name=value
  std::vector<std::string> sets;       ///< --set key=value
  std::vector<std::string> only;       ///< --only NAME: run only these of several simulations
  std::string output;                  ///< --output FOLDER, relative to the current folder
  int threads = 0;
  bool quiet = false, plots = true, resume = false;
  bool json = false;  ///< whether to print a JSON object for each simulation instead of text
  /// Whether to warn of results that the formats of the files cannot hold; false if the user has not named
  /// the files.
  bool tells_what_formats_leave_out = true;
  /// --with JOB: jobs of a joint inversion with this one; the structures of all models are coupled
  std::vector<std::string> with;
  std::optional<double> coupling;  ///< --coupling; replaces joint.coupling
};

struct NewOptions {
  std::string physics = "gravity", file;
  std::string mesh, survey;       ///< kinds of the tables [mesh] and [survey] to show; empty: those that the
                                  ///< physics prefers
  std::vector<std::string> from;  ///< control files of UBC's inversions
  std::string of;                 ///< for an inversion: the physics of its data, such as "electric"
  bool brief = false;             ///< whether to write the shortest job that runs
  bool reference = false;
};

struct ConvertOptions {
  std::vector<std::string> files;  ///< the files to read, then the file to write
  std::string from, to;            ///< the first and the last of `files`
  std::string mesh, unit, length_unit, field, property, from_format, to_format;
  std::string frame, from_frame, units;
};

struct PlotOptions {
  std::string file, out, title, slice;
  std::string region, limits, colours;  ///< texts passed to the plotting script; empty: the script chooses
  std::string scale;                    ///< "log", "linear" or empty
  std::vector<std::string> channels;
  int dpi = 0;
  bool wiggle = false;  ///< whether to draw traces of shots as lines
};

/// Verbs return the exit status and throw terrane::Error. comm: this process is rank 0 of it; the other ranks
/// run serve()
int run(const Registry& registry, const JobOptions& options, Comm& comm);
int check(const Registry& registry, const JobOptions& options, Comm& comm);
int new_job(const Registry& registry, const NewOptions& options, Comm& comm);
/// Prints the content of files. mesh: mesh file for files with cell values only; may be empty. json: print a
/// JSON object for each file
int info(const std::vector<std::string>& files, const std::string& mesh, bool json = false);
int convert(const Registry& registry, const ConvertOptions& options);
int list_formats();
int plot(const PlotOptions& options);
/// Throws UnsupportedError if Python with its plotting packages cannot draw a file with this name.
void check_drawing(const std::string& source);
/// Prints the devices of this machine. mpi: the MPI library of this build; empty if it has none
int devices(const std::string& mpi);

/// Reads the job with its overrides and arguments. Throws InputError, FileError.
Config read_job(const JobOptions& options);

/// Runs a call that reads input and converts its FileError to InputError, so that a missing input file gives
/// the exit status of bad input.
class InputPhase {
 public:
  template <class Call>
  static auto within(Call&& call) {
    try {
      return call();
    } catch (const FileError& error) {
      throw InputError(error.where(), error.problem(), error.next());
    }
  }
};

}  // namespace terrane::cli
