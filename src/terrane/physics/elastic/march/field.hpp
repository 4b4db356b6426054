// The state of one rank's part, and its time steps. All members are collective: all ranks call them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "terrane/parallel/comm/comm.hpp"
#include "terrane/parallel/device/device.hpp"
#include "terrane/physics/elastic/march/part.hpp"
#include "terrane/physics/elastic/problem.hpp"

namespace terrane::elastic {

class Field {
 public:
  /// Construction and destruction are collective, except after an exception, because GPUs have mapped each
  /// other's memory.
  virtual ~Field() = default;

  /// Loads the values of each source's time function (course) at the beginning of each of the next steps, one
  /// row per step. Their frequencies are already shifted by to_leapfrog().  courses: [steps][sources]
  virtual void load_courses(std::span<const double> courses) = 0;
  /// One step, from one instant to the next.
  virtual void step() = 0;
  /// Computes `count` steps. If count is most_rows (FieldOptions), a device launches all these steps as one
  /// Graph, except in the first call, and provided that it can record the exchange between ranks, too.
  virtual void steps(std::size_t count) = 0;
  /// Changes of displacement at this rank's receivers: [steps since load_courses()][receivers of the
  /// part][3].
  virtual std::vector<double> take_series() = 0;

  /// Chooses the points of the part whose values watched() returns from now on.
  virtual void watch(const std::vector<std::uint32_t>& points) = 0;
  /// Values at the points of watch(): u at the last instant, or w = Δt v half a step before it:
  /// [watched points][3].
  enum class Of { displacement, change };
  virtual std::vector<double> watched(Of what) = 0;

  /// The largest |w| of the part's points in solids, m, and in fluids; NaN if any |w| is NaN; 0 if there are
  /// no such points. The host waits for the device.
  virtual std::array<double, 2> largest() = 0;

  /// displacement: u at the last instant, change: w = Δt v half a step before it, both [points of the
  /// part][3]. memory: variables of attenuating media and matched layers, [elements of the part][points of an
  /// element][memory_of()]; empty if there are none.
  struct State {
    std::vector<double> displacement{}, change{}, memory{};
  };
  virtual State state() = 0;
  virtual void set_state(const State& state) = 0;
  /// The forces −K u of elements at the present displacement u, summed at each point: [points][3]. Memory
  /// variables of attenuating media advance by a step.
  virtual std::vector<double> forces() = 0;
  /// Waits for the computation. Throws Error on this rank if another rank did not send its contributions.
  virtual void wait() = 0;
  /// How contributions to shared points are transferred (Exchange::transport).
  virtual std::string transport() const = 0;
  virtual const Part& part() const noexcept = 0;
};

/// plain: forces are computed by the slow reference PlainElement, on the CPU. most_rows: largest number of
/// rows of load_courses(). through_peers: GPUs of one machine transfer contributions to shared points by
/// kernels, without messages.
struct FieldOptions {
  Device device{Device::Kind::cpu, -1};
  int threads = 0;
  std::size_t most_rows = 1;
  bool plain = false;
  bool graphs = true;
  bool through_peers = true;
};
std::unique_ptr<Field> make_field(const Problem& problem, Part part, const FieldOptions& options, Comm& comm);

}  // namespace terrane::elastic
