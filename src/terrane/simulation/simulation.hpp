// What every physics offers: say what a run will cost, then run.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "terrane/base/progress.hpp"
#include "terrane/job/config.hpp"
#include "terrane/simulation/result.hpp"
#include "terrane/simulation/runtime.hpp"

namespace terrane {

/// What a run would do and cost, known before it starts.
struct Plan {
  std::size_t sources = 0, stations = 0;
  double pairs = 0;
  std::size_t memory_bytes = 0, memory_available = 0;
  double seconds = 0;  ///< expected wall time; 0 when it was not estimated
  std::string method, reason;
  std::string device;
  std::vector<std::string> notes, warnings;

  /// One item a line, for people.
  std::string text() const;
};

class Simulation {
 public:
  virtual ~Simulation() = default;
  /// Everything except the computation. Throws what run() would throw for bad input, and MemoryError.
  virtual Plan check(const Runtime& runtime = {}) = 0;
  /// Throws Cancelled when progress asks for it; nothing is written here.
  /// On rank 0 of runtime's ranks; the others serve() meanwhile (serve.hpp).
  virtual Result run(Progress* progress = nullptr, const Runtime& runtime = {}) = 0;
  /// The result's survey, columns and attributes, its fields without values: enough to tell which files can
  /// hold it (left_out in write_result.hpp).
  virtual Result outline() const = 0;
  /// Files about the model that [output] asks for. Throws UnsupportedError, FileError.
  virtual void write_model(const std::string& path) const = 0;
};

/// One physics as the command knows it: its name, the tables its job files hold, and how to make one.
struct Physics {
  std::string_view name;
  std::string_view summary;
  std::vector<Section> sections;  ///< all tables of a job, in order
  std::function<std::unique_ptr<Simulation>(const Config& job)> make;
  std::function<void(Comm&)> serve;  ///< what ranks other than 0 do during a run
};

/// The physics a program offers; filled by the program, handed to whoever needs it.
class Registry {
 public:
  void add(Physics physics) { all_.push_back(std::move(physics)); }
  std::span<const Physics> all() const noexcept { return all_; }
  /// Throws InputError that lists the names and the nearest one.
  const Physics& find(std::string_view name) const;
  /// The simulation a job file asks for by simulation.physics. Every key of the job is read when this
  /// returns; keys without effect stop it. Throws InputError, FileError, MemoryError.
  std::unique_ptr<Simulation> make(const Config& job) const;

 private:
  std::vector<Physics> all_;
};

}  // namespace terrane
