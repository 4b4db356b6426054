// The verbs of the terrane command. Each is thin: what it does can be done from C++ too.
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
  std::vector<std::string> only;       ///< --only NAME: these of several simulations
  std::string output;                  ///< --output FOLDER, from where the command runs
  int threads = 0;
  bool quiet = false, plots = true, resume = false;
  bool json = false;               ///< an object for each simulation in place of lines for people
  std::vector<std::string> with;   ///< --with JOB: further inversions, whose models share their structure
  std::optional<double> coupling;  ///< --coupling, in place of joint.coupling
};

struct NewOptions {
  std::string physics = "gravity", file;
  std::string mesh, survey;       ///< kinds to show; empty: the physics' own choice
  std::vector<std::string> from;  ///< control files of UBC's inversions
  std::string of;                 ///< of an inversion: its physics, "electric"
  bool brief = false;             ///< the shortest job that runs
  bool reference = false;
};

struct ConvertOptions {
  std::vector<std::string> files;  ///< those to read, and the one to write
  std::string from, to;            ///< the first and the last of them
  std::string mesh, unit, length_unit, field, property, from_format, to_format;
  std::string frame, from_frame, units;
};

struct PlotOptions {
  std::string file, out, title, slice;
  std::string region, limits, colours;  ///< as the script takes them; empty: it chooses
  std::string scale;                    ///< "log", "linear" or empty
  std::vector<std::string> channels;
  int dpi = 0;
  bool wiggle = false;  ///< traces of shots as lines
};

/// Verbs return the exit status and throw terrane::Error. comm: this process is its rank 0; the others
/// serve().
int run(const Registry& registry, const JobOptions& options, Comm& comm);
int check(const Registry& registry, const JobOptions& options, Comm& comm);
int new_job(const Registry& registry, const NewOptions& options, Comm& comm);
/// mesh: the mesh file for files that hold cell values alone; may be empty.  json: print an object for each
/// file
int info(const std::vector<std::string>& files, const std::string& mesh, bool json = false);
int convert(const Registry& registry, const ConvertOptions& options);
int list_formats();
int plot(const PlotOptions& options);
/// Throws UnsupportedError where Python cannot draw the content of a file of this name.
void check_drawing(const std::string& source);
/// mpi: the library of this build; empty when it has none.
int devices(const std::string& mpi);

/// The job with its overrides and arguments. Throws InputError, FileError.
Config read_job(const JobOptions& options);

/// Thrown while input is read, so that a missing input file ends with the status of bad input.
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
