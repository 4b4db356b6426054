// The state of one rank's part, and its steps. All members are collective.
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
  /// Collective, as its making is, unless an exception does it: GPUs have memory of each other open.
  virtual ~Field() = default;

  /// Loads, for as many of the next steps as there are rows, each source's course at the instant where a step
  /// begins (as to_leapfrog left it).  courses [rows][sources]
  virtual void load_courses(std::span<const double> courses) = 0;
  /// One step, from one instant to the next.
  virtual void step() = 0;
  /// Does `count` steps. Where calls for as many steps as there are rows come again and again, a device has
  /// them in one Graph, if messages between its ranks are direct.
  virtual void steps(std::size_t count) = 0;
  /// Changes at this rank's receivers, one row [receivers of the part][3] for each step since load_courses().
  virtual std::vector<double> take_series() = 0;

  /// Chooses the points of the part whose values watched() returns from now on.
  virtual void watch(const std::vector<std::uint32_t>& points) = 0;
  /// Values at the points of watch(): u at the last instant, or w = Δt v half a step before it. [points
  /// watched][3]
  enum class Of { displacement, change };
  virtual std::vector<double> watched(Of what) = 0;

  /// The largest |w| of the part's points in solids, m, and in fluids; no number where any |w| is none; 0
  /// where there are no such points. The host waits for the device.
  virtual std::array<double, 2> largest() = 0;

  /// [points][3] of the part: u at the last instant, and w = Δt v half a step before it.
  /// memory of attenuating media and margins: [elements of the part][points of an element][memory_of()];
  /// empty without.
  struct State {
    std::vector<double> displacement{}, change{}, memory{};
  };
  virtual State state() = 0;
  virtual void set_state(const State& state) = 0;
  /// −K u at the present displacement, summed at each point: [points][3]. The memory of attenuating media
  /// advances by a step.
  virtual std::vector<double> forces() = 0;
  /// Throws Error, on this rank, where another did not bring them.
  virtual void wait() = 0;
  /// How shared points are brought (Exchange::transport).
  virtual std::string transport() const = 0;
  virtual const Part& part() const noexcept = 0;
};

/// plain: computed by the slow twin of the kernels, on the CPU. most_rows: of load_courses().
/// through_peers: GPUs of one machine bring each other shared points by kernels, without messages.
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
