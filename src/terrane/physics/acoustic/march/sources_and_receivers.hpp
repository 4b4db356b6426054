// Sources and receivers of a wave, at any positions between nodes.
//
//   p⁺ += v²Δt² Σ w f   at the nodes around a source;   d = Σ w pⁿ   over the nodes around a receiver
//
// with the weights w of weights.hpp, the source's series f and the receiver's sample d. The index of the
// current step is stored in the device's memory (Clock).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "terrane/physics/acoustic/march/medium.hpp"
#include "terrane/physics/acoustic/march/steps.hpp"
#include "terrane/physics/acoustic/march/tap_nodes.hpp"

namespace terrane::acoustic {

/// The index of a step, read by kernels: the value of a clock plus `ahead`.
struct Moment {
  const Index* clock;
  Index ahead;
  TERRANE_FN Index step() const { return *clock + ahead; }
};

/// The index of the current step, in the memory of the device.
class Clock {
 public:
  Clock(Stream& stream, Index at) : value_(stream, std::vector<Index>{at}) {}
  void set(Stream& stream, Index at) {
    ahead_ = 0;
    value_.upload(stream, std::span<const Index>(&at, 1));
  }
  void tick(Stream& stream, Index by);
  /// Work begun between now and the next tick() belongs to the clock's step plus `by`: so several steps that
  /// are recorded together need only one tick.
  void look_ahead(Index by) noexcept { ahead_ = by; }
  Moment now() const noexcept { return {value_.view().data, ahead_}; }

 private:
  Buffer<Index> value_;
  Index ahead_ = 0;
};

/// edges: the rank's nodes whose values a neighbouring rank needs; inner: all others.
enum class Nodes { edges, inner };

template <class T>
class Receivers;
template <class T>
struct ReadTap;

/// Sources, each with its own time series, or all with the same series. At a node with weights of several
/// sources, terms are added in the order of the sources.
template <class T>
class Sources {
 public:
  /// taps: position and component of each source; its weights are those of a receiver with this tap. scales:
  /// factors of each source's weights; within: nodes outside this box are left out
  Sources(Stream& stream, const Medium<T>& medium, std::span<const Tap> taps, std::span<const double> scales,
          const IndexBox<3>& within);
  Sources(Stream& stream, const Medium<T>& medium, std::span<const Tap> taps, std::span<const double> scales)
      : Sources(stream, medium, taps, scales, medium.part()) {}
  Sources(Stream& stream, const Medium<T>& medium, std::span<const Place> places, double scale)
      : Sources(stream, medium, pressure_at(places), std::vector<double>(places.size(), scale)) {}
  /// Sets the time series: [steps, sources], or [steps] for all sources.
  void send(Stream& stream, std::size_t steps, const std::vector<double>& series);
  /// Adds the sources' terms to p⁺ (v²Δt² f) and, in a VTI or TTI medium, to q⁺.
  void put(Stream& stream, Nodes nodes, const StepArguments<T>& arguments, const Clock& clock) const;
  /// Does put() at the inner nodes while receivers read p and q (not p⁺ and q⁺): one launch on a GPU.
  void put_and_read(Stream& stream, const StepArguments<T>& arguments, Receivers<T>& receivers,
                    const Clock& clock) const;
  /// kernel −= v² (2p + q)/3 f on the mesh's nodes: the term that the sources of an adjoint wave, with the
  /// series f, add to the image of m in a VTI or TTI medium.  per_square: 1/Δt²
  void put_into_kernel(Stream& stream, View<const T, 3> p, View<const T, 3> q, View<T, 3> kernel,
                       T per_square, const Clock& clock) const;
  double bytes() const;  ///< bytes of all arrays on the device
  /// Like put(), on the calling thread of the CPU, at the nodes whose offsets lie in [from, to).
  void put_between(const StepArguments<T>& arguments, const Moment& moment, Index from, Index to) const;

 private:
  struct List {
    Buffer<Index> offset, first;  ///< [nodes] offset in a field; index of the node's first contribution
    Buffer<int> source;           ///< [contributions] index of the source
    Buffer<Part> part;            ///< [contributions] field; empty if all are pressures
    Buffer<T> weight;
    std::size_t nodes = 0;
  };
  const Medium<T>& medium_;
  std::size_t places_;
  List lists_[2];
  Buffer<T> series_;
  Index columns_ = 0;
};

/// Receivers, whose samples stay on the device until they are gathered. A receiver's sample is the sum of the
/// sums of its rows, added row by row within a plane, then plane by plane. A rank that has only some of a
/// receiver's nodes stores the sums of its rows; rank 0 adds them in the same order, so results do not
/// depend, to the last bit, on how the grid is cut.
template <class T>
class Receivers {
 public:
  Receivers(Stream& stream, const Medium<T>& medium, std::span<const Tap> taps, std::size_t steps);
  Receivers(Stream& stream, const Medium<T>& medium, std::span<const Place> places, std::size_t steps)
      : Receivers(stream, medium, pressure_at(places), steps) {}
  /// now_q: the second field of a VTI or TTI medium, else null
  void read(Stream& stream, const T* now, const Clock& clock, const T* now_q = nullptr);
  /// Collective: returns the samples [steps, taps] on rank 0.
  std::vector<double> gather(Stream& stream, Comm& comm) const;

  double bytes() const;  ///< bytes of all arrays except those for passes
  /// prepare, read_between and add_up replace read() in a pass (passes.hpp) on the CPU. prepare, before the
  /// pass: allocates memory for this many steps.
  void prepare(Index steps);
  /// Computes the sums of the rows whose first nodes have offsets in [from, to).
  void read_between(const T* now, const T* now_q, Index step, Index from, Index to);
  /// After the pass: computes the samples of one of its steps from these sums.
  void add_up(Index step, const Moment& moment, int threads);

 private:
  friend class Sources<T>;
  ReadTap<T> reading(const T* now, const Clock& clock, const T* now_q);

  const Medium<T>& medium_;
  std::size_t places_, steps_, taps_ = 0;
  std::vector<std::vector<int>> owner_;  ///< see ReceiverRows
  std::vector<std::vector<Index>> planes_;
  Buffer<ReceiverRow> rows_;
  Buffer<Index> first_;  ///< [taps + 1] index of each tap's first row, and the number of rows
  Buffer<T> weights_, samples_;
  std::vector<std::pair<Index, Index>> in_memory_;  ///< offset and index of each row, sorted; used by passes
  std::vector<T> sums_;                             ///< sums of rows in a pass: [steps, rows]
};

}  // namespace terrane::acoustic
