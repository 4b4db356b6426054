// The interface of every physics: predict the cost of a run, then run it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/job/config.hpp"
#include "terrane/job/output.hpp"
#include "terrane/simulation/result.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane {

class Simulation {
 public:
  virtual ~Simulation() = default;
  /// Does everything except the computation. Throws what run() would throw for bad input, and MemoryError.
  virtual Plan check(const Runtime& runtime = {}) = 0;
  /// Computes the result; writes no files. Throws Cancelled if runtime.progress asks for it. To be called on
  /// rank 0 of runtime's ranks, while the others are in serve() (serve.hpp).
  virtual Result run(const Runtime& runtime = {}) = 0;
  /// The result's coordinates, attributes and variables, these without values: enough to decide which formats
  /// can contain it (left_out in write_result.hpp).
  virtual Result outline() const = 0;
  /// Writes the files of the model that [output] asks for. Throws UnsupportedError, FileError.
  virtual void write_model(const std::string& path) const = 0;
  /// Throws what write_model would throw because of the format or of too little memory.
  virtual void check_model(const std::string& path) const = 0;
};

/// One physics, as its folder declares it: the tables of its job files, and how a simulation is made from a
/// job.
struct Physics {
  std::string_view name;
  std::string_view summary;
  /// All tables of a job, in order. General tables are defined in job/ (earth_sections, survey_sections,
  /// Output::section) and by Runtime::section; a physics lists those that it reads, and its own.
  std::vector<Section> sections;
  /// The kind of each table that `terrane new` shows: {"survey", "grid"}.
  std::map<std::string, std::string> kinds;
  /// Values that `terrane new` writes for keys for which this physics needs another example than the table's:
  /// {"mesh.shape", "[40, 40, 20]"}. An empty value omits the key.
  std::map<std::string, std::string> examples = {};
  /// The shortest job that runs and gives an instructive picture: `terrane new NAME --short`.
  std::string_view shortest = {};
  /// Names of its channels, in Terrane and in other programs; null if it has no channels at stations.
  const Conventions* conventions = nullptr;
  /// Makes a simulation from the physics' tables. runtime: gives the memory limit, which already applies
  /// while the job is read.
  std::function<std::unique_ptr<Simulation>(const Config& job, const Runtime& runtime)> make;
  std::function<void(Comm&)> serve;  ///< what ranks other than 0 do during a run
  /// Whether device = "auto" means the GPU wherever there is one, so that it may be initialised before the
  /// model is made. Other physics compute short runs on the CPU, faster than a GPU starts, or have no code
  /// for GPUs.
  bool takes_any_gpu = false;
};

/// What is called before the earth model of a job is made, which may take long.
using Ahead = std::function<void(const Runtime& runtime, const Physics& physics)>;

/// The physics of jobs that name none, as in the first versions of Terrane.
inline constexpr std::string_view unnamed_physics = "gravity";

/// A job that was read and is ready to run.
struct Job {
  std::unique_ptr<Simulation> simulation;
  Runtime runtime;  ///< device, threads, memory, checkpoint from the job; others are set later
  Output output;
  std::vector<std::string> notes = {};  ///< assumptions made in reading the job

  /// check() and run() of the simulation, with these notes added.
  Plan check(const Runtime& where) const;
  Result run(const Runtime& where) const;
};

/// The list of physics of a program.
class Registry {
 public:
  void add(Physics physics) { all_.push_back(std::move(physics)); }
  /// Declares a physics that this program was built without, so that find() can say so.
  void leave_out(std::string name) { left_out_.push_back(std::move(name)); }
  std::span<const Physics> all() const noexcept { return all_; }
  /// The physics of this name. Throws an InputError with all names and the nearest one if there is none.
  const Physics& find(std::string_view name) const;
  /// The naming conventions of all physics, for files of unknown origin.
  Conventions conventions() const;
  /// Makes the job that a file describes, with the physics that simulation.physics names. Unknown keys and
  /// keys without effect are an error. ahead: called before the earth model is made. Throws InputError,
  /// FileError, MemoryError.
  Job make(const Config& job, const Ahead& ahead = {}) const;
  /// The simulations of a job, each as a separate job for make(); a job with a single simulation gives that
  /// one, without a name. only: names of the wanted simulations; empty: all. Throws InputError.
  std::vector<Config::Part> parts(const Config& job, const std::vector<std::string>& only = {}) const;

 private:
  /// The physics that a table [simulation] names.
  const Physics& find_for(const Config& simulation) const;
  std::vector<Physics> all_;
  std::vector<std::string> left_out_;
};

}  // namespace terrane
