// Which method serves a run best, from costs that are counted before anything is summed.
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

/// The method chosen, what it costs and why; and what was prepared on the way, so that the sum need not do it
/// again. The prisms and stations that were planned for must outlive it.
struct MethodPlan {
  Method method = Method::direct;
  Device device{Device::Kind::cpu, -1};
  double seconds = 0;            ///< expected, on the threads asked for
  std::size_t memory_bytes = 0;  ///< bytes to plan and to sum, without the caller's arrays
  double device_bytes = 0;       ///< least bytes on a device with memory of its own
  double estimated_error = 0;    ///< relative; see Parameters::accuracy
  std::string reason;

  Parameters parameters;  ///< as asked for
  Stations stations;
  Prisms summed;  ///< the prisms that were planned for, or bars of them

  /// The sum as planned, on `device`.
  std::shared_ptr<Summation> summation(Progress& progress) const { return make(device, progress); }
  std::function<std::shared_ptr<Summation>(Device, Progress&)> make;  ///< see Candidate
};

/// "direct", "lattice", "tree", "fmm"
std::string_view name(Method method);

/// Looks at the geometry, never at the field. Takes milliseconds for small runs, and for large ones a small
/// part of the run. parameters.method other than automatic is obeyed. Throws InputError: a lattice was asked
/// for and there is none. MemoryError: the method asked for does not fit the device. Cancelled.
MethodPlan plan(const Prisms& prisms, const Stations& stations, const Parameters& parameters,
                Progress* progress = nullptr);

/// The sum by parameters.method, which is not automatic, over these very prisms and on parameters.device:
/// what a plan of another process decided. Throws InputError: there is no lattice. Cancelled.
std::shared_ptr<Summation> summation(const Problem& problem, Progress& progress);

/// "cpu (avx512, 16 threads)", "NVIDIA H200 (cuda:0)".
std::string describe(Device device, int threads);

}  // namespace terrane::gravity
