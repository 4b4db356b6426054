// What the planner asks every method, and what a method answers.
//
// A method is a file with a MethodEntry (direct/, lattice/, tree/, fmm/: candidate.cpp) and an entry in the
// list of run/planner.cpp, which compares the answers and explains the choice. Nothing here computes a field.
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

/// Time of one operation on a pack (the stations that fit into one SIMD register), on one core of the CPU.
/// Only for estimates: it need be right only within a factor of two.
inline constexpr double seconds_per_pack_operation = 0.25e-9;

/// A run for which the methods are compared. Its arrays must outlive the candidates and sums made for it.
struct Problem {
  Prisms prisms;
  Stations stations;
  Parameters parameters;  ///< parameters; their device is the one on which the sum will run, not `automatic`
  /// How much faster than all threads of the CPU the device does the arithmetic of the kernels.
  double speedup = 1;

  bool on_device() const { return parameters.device.has_own_memory(); }
};

/// The cost of one method for a run. Seconds are those of one core: a second of a device, or of all n threads
/// of the CPU, counts as n seconds.
struct Candidate {
  static constexpr double impossible = std::numeric_limits<double>::infinity();

  Method method = Method::direct;
  double seconds = impossible;  ///< seconds still needed for the sum
  double spent = 0;             ///< seconds spent on this estimate that the sum need not spend again
  std::size_t host_bytes = 0;   ///< host memory of the sum, without the caller's arrays
  std::size_t asked_bytes = 0;  ///< host memory that this estimate needed
  double device_bytes = 0;      ///< least bytes on a device with memory of its own
  double estimated_error = 0;   ///< relative; see Parameters::accuracy
  std::string reason;           ///< why the method is impossible: "no lattice (the prisms differ in size)"
  std::string note;             ///< "251729 prisms merged into 5335 bars"
  Prisms summed;                ///< the prisms of the problem, or bars of them
  /// Makes the sum on a device of the kind that was planned for. Owns the data prepared for the estimate.
  std::function<std::shared_ptr<Summation>(Device, Progress&)> make;

  bool possible() const { return seconds < impossible; }
};

/// The functions of a method that the planner calls.
struct MethodEntry {
  /// Least time and memory of the method, found from the numbers of prisms and stations alone.
  struct Least {
    double seconds, host_bytes;
  };

  Method method;
  std::string_view name;   ///< "tree"
  double finest_accuracy;  ///< best accuracy that the method can reach
  /// The Least of the method; nothing if candidate() is so fast that no lower bound is needed.
  std::optional<Least> (*least)(const Problem&);
  /// Throws InputError: the method was requested and cannot be used. Cancelled.
  Candidate (*candidate)(const Problem&, Progress&);
  /// Makes the sum if another process has chosen the method. Throws the same errors as candidate().
  std::shared_ptr<Summation> (*summation)(const Problem&, Progress&);
};

}  // namespace terrane::gravity
