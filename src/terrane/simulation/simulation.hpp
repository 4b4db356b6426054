// What every physics offers: say what a run will cost, then run.
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
  /// Throws Cancelled when runtime.progress asks for it; nothing is written here.
  /// On rank 0 of runtime's ranks; the others serve() meanwhile (serve.hpp).
  virtual Result run(const Runtime& runtime = {}) = 0;
  /// The result's coordinates and attributes, its variables without values: enough to tell which files can
  /// hold it (left_out in write_result.hpp).
  virtual Result outline() const = 0;
  /// Writes the files of the model that [output] asks for. Throws UnsupportedError, FileError.
  virtual void write_model(const std::string& path) const = 0;
  /// Throws what write_model would throw because of the format, or for want of memory.
  virtual void check_model(const std::string& path) const = 0;
};

/// One physics, as its folder declares it: what its job files hold, and how a simulation is made of one.
struct Physics {
  std::string_view name;
  std::string_view summary;
  /// All tables of a job, in order. The general ones are offered by job/ (earth_sections, survey_sections,
  /// Output::section) and Runtime::section; a physics lists those that it reads, and its own.
  std::vector<Section> sections;
  /// Which kind of each table `terrane new` shows: {"survey", "grid"}.
  std::map<std::string, std::string> kinds;
  /// What `terrane new` writes for a key, where this physics needs another example than the table's:
  /// {"mesh.shape",
  /// "[40, 40, 20]"}. Empty: the key is left out.
  std::map<std::string, std::string> examples = {};
  /// The shortest job that runs and gives a picture worth a look: `terrane new NAME --short`.
  std::string_view shortest = {};
  /// What its channels are called, here and by other programs; null: it has no channels at stations.
  const Conventions* conventions = nullptr;
  /// Makes a simulation from the physics' tables. runtime: its memory limit already holds while the job is
  /// read.
  std::function<std::unique_ptr<Simulation>(const Config& job, const Runtime& runtime)> make;
  std::function<void(Comm&)> serve;  ///< what ranks other than 0 do during a run
};

/// The physics of jobs that name none: they were written when there was no other.
inline constexpr std::string_view unnamed_physics = "gravity";

/// A job that was read and is ready to run.
struct Job {
  std::unique_ptr<Simulation> simulation;
  Runtime runtime;  ///< device, threads, memory and checkpoint as the job asks; ranks and progress are added
  Output output;
  std::vector<std::string> notes = {};  ///< assumptions that reading the job made

  /// As check() and run() of the simulation, with these notes.
  Plan check(const Runtime& where) const;
  Result run(const Runtime& where) const;
};

/// The physics a program offers; filled by the program, handed to whoever needs it.
class Registry {
 public:
  void add(Physics physics) { all_.push_back(std::move(physics)); }
  /// A physics of Terrane that this program was built without, so that find() can say so.
  void leave_out(std::string name) { left_out_.push_back(std::move(name)); }
  std::span<const Physics> all() const noexcept { return all_; }
  /// Throws InputError that lists the names and the nearest one.
  const Physics& find(std::string_view name) const;
  /// The conventions of all physics, for files of unknown origin.
  Conventions conventions() const;
  /// Makes the job that a file describes, with the physics that simulation.physics names. Every key of the
  /// file has been read when this returns; keys without effect are an error. ahead: called with the runtime
  /// before the model is made, which may take long. Throws InputError, FileError, MemoryError.
  Job make(const Config& job, const std::function<void(const Runtime&)>& ahead = {}) const;
  /// The simulations of a job, each as a job that make() takes; a job of one simulation gives that one,
  /// without a name. only: the names of those that are wanted; none: all. Throws InputError.
  std::vector<Config::Part> parts(const Config& job, const std::vector<std::string>& only = {}) const;

 private:
  /// The physics that a table [simulation] names.
  const Physics& find_for(const Config& simulation) const;
  std::vector<Physics> all_;
  std::vector<std::string> left_out_;
};

}  // namespace terrane
