// The source's wave field of a shot backwards in time, as imaging correlates it with the receivers' wave.
//
// With n steps of N nodes of the mesh, e bytes a number, and S nodes in M planes around the mesh:
//
//   store        all pⁿ are kept: n N e bytes; nothing is computed twice
//   compressed   the same in 16 bits a node, with a factor for every 32 nodes of a row: n N 2⅛ bytes
//                in single precision; the error of a node is at most 1.6e-5 of the largest of its 32
//   checkpoints  whole states every k steps on the host, 2 n/k fields, and k fields of one stretch on the
//                device; k = √(2n); every step is computed once more, with the same bits. A GPU copies states
//                asynchronously, to pinned memory that the next shots use again
//   random_walls nothing is kept: energy stays in the grid, and steps run backwards bit by bit; noise in the
//                image (random_walls.hpp)
//   boundary     S n e bytes: the mesh is computed back from the end, from the nodes around it that layers
//                reach. The leapfrog runs both ways, so only rounding differs: 2e-6 in single precision.
//                Takes one field of the mesh beside the wave's own: pⁿ⁺¹, which pⁿ⁻¹ overwrites. With a
//                vertical axis p is kept beside the mesh on the axes north and east, q on the axis up; with a
//                tilted one both, 2M deep, and M × M along edges: four times as much
//   boundary_compressed   these nodes in 16 bits, 2 or 3 bytes a node; images are right to 1e-5
//
// What store, compressed and the boundaries keep lies in memory, on the host or on a disk (records.hpp).
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "terrane/parallel/device/pinned.hpp"
#include "terrane/physics/acoustic/image/records.hpp"
#include "terrane/physics/acoustic/march/wave.hpp"

namespace terrane::acoustic {

enum class Keeping { automatic, store, checkpoints, boundary, random_walls, compressed, boundary_compressed };
inline constexpr std::array<std::string_view, 7> keeping_names{
    "auto", "store", "checkpoints", "boundary", "random_walls", "compressed", "boundary_compressed"};
/// Names by which a checkpoint tells strategies apart: store and checkpoints give the same bits, so a machine
/// with less memory may resume a run with the other one.
inline constexpr std::array<std::string_view, 7> keeping_bits{
    "auto",         "store or checkpoints", "store or checkpoints", "boundary",
    "random_walls", "compressed",           "boundary_compressed"};

/// Whether the strategy keeps Records, which may lie in memory, on the host or on a disk.
constexpr bool keeps_records(Keeping strategy) {
  return strategy != Keeping::automatic && strategy != Keeping::checkpoints &&
         strategy != Keeping::random_walls;
}

/// What a strategy of keeping costs on one rank that has all of the mesh.
struct KeepingCost {
  Keeping strategy = Keeping::automatic;
  double device_bytes = 0, host_bytes = 0, disk_bytes = 0;
  double sweeps = 1;          ///< how often the source field is computed, the first time included
  double bytes_per_step = 0;  ///< bytes copied from the device in a step, and later back to it
  std::string_view error{};   ///< error relative to store, in words
};
/// place: where records lie, not automatic.  device: on a device without memory of its own, `host` counts as
/// `memory`
template <class T>
KeepingCost cost_of(Keeping strategy, const Problem& problem, KeptIn place = KeptIn::memory,
                    const Device& device = {Device::Kind::cpu, -1});
constexpr std::string_view to_string(Keeping strategy) {
  return keeping_names[static_cast<std::size_t>(strategy)];
}

/// pⁿ⁺¹, pⁿ and pⁿ⁻¹ of the source.
template <class T>
struct Around {
  View<const T, 3> after, now, before;
};

/// The receivers' wave, which is computed from the last step to the first.
template <class T>
struct Returning {
  Wave<T>& wave;
  const Sources<T>& senders;
  const Clock& clock;
};

template <class T>
class History {
 public:
  virtual ~History() = default;
  /// Keeps pⁿ, which the wave has now; called for n = 0, 1, … steps − 1 in order.
  virtual void keep(Stream& stream, const Wave<T>& wave, Index n) = 0;
  /// Makes at(n − 1), at(n) and at(n + 1) available; called for n = steps − 2, … 0 in order. Collective.
  virtual void prepare(Stream& stream, Index n) = 0;
  /// The most steps from n on that one pass over memory (march/passes.hpp) may take before the next keep(),
  /// and the most from n down that one meet() may take.
  virtual Index steps_from(Index) const { return 1; }
  virtual Index steps_down(Index) const { return 1; }
  /// Replaces keep() in a pass of `count` steps from n on: a function that stores p of nodes of a plane,
  /// called on any thread for step 0 … count − 1. Empty: nothing is to be stored.
  using Take = std::function<void(Index step, const IndexBox<3>& nodes, const View<const T, 3>& p)>;
  virtual Take taking(Stream&, Index /*n*/, Index /*count*/) { return {}; }
  /// Replaces prepare() in a pass: takes `count` steps of the receivers' wave, and calls use() with that wave
  /// and pⁿ, pⁿ⁻¹, … of the source at nodes of the mesh in one plane, whole rows, on any thread. Collective.
  using Meet =
      std::function<void(const IndexBox<3>& nodes, const Around<T>& sent, const View<const T, 3>& back)>;
  virtual void meet(Stream& stream, const Returning<T>& back, const Passes& passes, Index n, Index count,
                    const Meet& use);
  /// pⁿ on the rank's part of the mesh, or qⁿ (field 1) of a medium with an axis. p⁻¹ is zero.
  virtual View<const T, 3> at(Index n, int field = 0) const = 0;
};

/// The place of records, and the memory of the shot before, which is used again where it fits.
struct RecordRoom {
  KeptIn place = KeptIn::memory;
  std::string folder;  ///< of disk
  RecordsWanted last;
  std::shared_ptr<Records> records;
  PinnedBuffer<std::byte> states;  ///< memory of checkpoints, used again likewise
  Passes passes;                   ///< passes by which checkpoints compute waves again
};

/// Whether the waves of a migration may take several steps in each pass over memory, if passes_for() gives
/// more than one.
inline bool images_in_passes(const Problem& problem, Keeping strategy, KeptIn place) {
  const bool at_hand = strategy == Keeping::checkpoints || (keeps_records(strategy) && place != KeptIn::disk);
  return at_hand && problem.fields() == 1;
}

/// Copies these nodes of a field, on the calling thread of the CPU.
template <class T>
void put_nodes(const View<const T, 3>& from, const View<T, 3>& to, const IndexBox<3>& nodes) {
  if (nodes.empty()) return;
  for (Index k = nodes.first[0]; k < nodes.last[0]; ++k)
    for (Index j = nodes.first[1]; j < nodes.last[1]; ++j)
      std::copy_n(&from(k, j, nodes.first[2]), nodes.size(2), &to(k, j, nodes.first[2]));
}

/// Whether only the mesh is computed backwards, from kept values at the nodes around it.
constexpr bool keeps_boundary(Keeping strategy) {
  return strategy == Keeping::boundary || strategy == Keeping::boundary_compressed;
}

/// wave: that of the source, which the history may overwrite after the last keep(). sources: those of that
/// wave; where keeps_boundary(strategy), only their terms at the mesh's nodes, for the kept values of the
/// other nodes include theirs. All must outlive the history. strategy: neither automatic nor random_walls.
/// Throws as make_records().
template <class T>
std::unique_ptr<History<T>> make_history(Keeping strategy, Stream& stream, Wave<T>& wave,
                                         const Sources<T>& sources, RecordRoom& room);

}  // namespace terrane::acoustic
