// Chooses the best method for a run, from costs that are estimated before anything is summed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "terrane/base/progress.hpp"
#include "terrane/physics/gravity/parameters.hpp"
#include "terrane/physics/gravity/sum/candidate.hpp"
#include "terrane/physics/gravity/sum/summation.hpp"
#include "terrane/physics/gravity/views.hpp"

namespace terrane::gravity {

/// The chosen method, its cost and the reason; also what planning has prepared, so that the sum need not
/// repeat it. The prisms and stations that were planned for must outlive the plan.
struct MethodPlan {
  Method method = Method::direct;
  Device device{Device::Kind::cpu, -1};
  double seconds = 0;            ///< expected seconds with the requested number of threads
  std::size_t memory_bytes = 0;  ///< bytes to plan and to sum, without the caller's arrays
  double device_bytes = 0;       ///< least bytes on a device with memory of its own
  double estimated_error = 0;    ///< relative; see Parameters::accuracy
  std::string reason;

  Parameters parameters;  ///< parameters as requested
  Stations stations;
  Prisms summed;  ///< the prisms that were planned for, or bars of them

  /// The sum as planned, on `device`.
  std::shared_ptr<Summation> summation(Progress& progress) const { return make(device, progress); }
  std::function<std::shared_ptr<Summation>(Device, Progress&)> make;  ///< makes the sum (see Candidate)
};

/// "direct", "lattice", "tree", "fmm"
std::string_view name(Method method);

/// Plans from the geometry, without computing the field. Takes milliseconds for small runs, and for large
/// ones a small part of the run. A method in the parameters that is not automatic is used. Throws InputError:
/// a lattice was requested and the geometry is none. MemoryError: the requested method needs more memory than
/// the device has. Cancelled.
MethodPlan plan(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                Progress* progress = nullptr);

/// Makes the sum over the prisms of the problem by parameters.method, which is not automatic, on
/// parameters.device, as the plan of another process decided. Throws InputError: there is no lattice.
/// Cancelled.
std::shared_ptr<Summation> summation(const Problem& problem, Progress& progress);

/// The device in words, such as "cpu (avx512, 16 threads)" or "NVIDIA H200 (cuda:0)".
std::string describe(Device device, int threads);

}  // namespace terrane::gravity
