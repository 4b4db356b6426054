// What the planner asks every method, and what a method answers.
//
// A method is a file with a MethodEntry (direct/, lattice/, tree/, fmm/: candidate.cpp) and its place in the
// list of run/planner.cpp, which compares the answers and explains the choice. Nothing here looks at the
// field.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "terrane/base/progress.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// One core of the CPU, for estimates: a factor of two either way does no harm.
inline constexpr double seconds_per_pack_operation = 0.25e-9;

/// A run as the methods see it. The arrays must outlive what is made of it.
struct Problem {
  Prisms prisms;
  Stations stations;
  Parameters parameters;  ///< device: where the sum will run, resolved
  /// How much faster than all threads of the CPU the device does the arithmetic of the kernels.
  double speedup = 1;

  bool on_device() const { return parameters.device.has_own_memory(); }
};

/// The cost of one method for a run. Seconds are those of one core; a second of a device counts as one of
/// each thread of the CPU.
struct Candidate {
  static constexpr double impossible = std::numeric_limits<double>::infinity();

  Method method = Method::direct;
  double seconds = impossible;  ///< seconds still to be spent
  double spent = 0;             ///< seconds spent on this answer, which the method need not spend again
  std::size_t host_bytes = 0;   ///< beside the caller's arrays
  std::size_t asked_bytes = 0;  ///< memory of the host that this answer took
  double device_bytes = 0;      ///< least bytes on a device with memory of its own
  double estimated_error = 0;   ///< relative; see Parameters::accuracy
  std::string reason;           ///< why it is impossible: "no lattice (the prisms differ in size)"
  std::string note;             ///< "251729 prisms merged into 5335 bars"
  Prisms summed;                ///< the prisms of the problem, or bars of them
  /// The sum, on a device of the kind that was asked about. Holds what was prepared for the answer.
  std::function<std::shared_ptr<Summation>(Device, Progress&)> make;

  bool possible() const { return seconds < impossible; }
};

/// A method as the planner knows it.
struct MethodEntry {
  /// Least time and memory of the method, found from the numbers of prisms and stations alone.
  struct Least {
    double seconds, host_bytes;
  };

  Method method;
  std::string_view name;   ///< "tree"
  double finest_accuracy;  ///< that it can give
  /// Returns nothing where a look at the geometry costs so little that there is no need for a guess.
  std::optional<Least> (*least)(const Problem&);
  /// Throws InputError: the method was asked for and cannot serve. Cancelled.
  Candidate (*candidate)(const Problem&, Progress&);
  /// Makes the sum, where another process has chosen the method. Throws as candidate().
  std::shared_ptr<Summation> (*summation)(const Problem&, Progress&);
};

}  // namespace terrane::gravity
