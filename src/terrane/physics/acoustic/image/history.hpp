// The source field of a shot, walked through backwards: what imaging correlates with.
//
// With n steps of N nodes of the mesh, e bytes a number, and S nodes in M planes around the mesh:
//
//   store        all pⁿ are kept: n N e bytes; nothing is computed twice
//   compressed   the same in 16 bits a node, with a factor for every 32 nodes of a row: n N (2 + 1/8) bytes
//   in
//                single precision; the error of a node is at most 1.6e-5 of the largest of its 32
//   checkpoints  whole states every k steps on the host, 2 n/k fields, and k fields of one stretch on the
//                device; k = √(2n); every step is computed once more, with the same bits. A GPU copies them
//                by itself, to pinned memory that the next shots take again
//   random_walls nothing is kept: energy stays in the grid, and steps run backwards bit by bit; noise in the
//                image (random_walls.hpp)
//   boundary     S n e bytes: the mesh is computed back from the end, from the nodes around it that layers
//                reach. As the leapfrog runs both ways, what differs is rounding: 2e-6 in single precision.
//                Beside the wave's own fields one of the mesh: pⁿ⁺¹, whose place pⁿ⁻¹ takes. With a vertical
//                axis p lies beside the mesh on the axes north and east, q on the axis up; with a tilted one
//                both, 2M deep, and M × M along edges: four times as much
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
/// Waves that are computed again have the bits of those that were stored: a machine with less memory may go
/// on.
inline constexpr std::array<std::string_view, 7> keeping_bits{
    "auto",         "store or checkpoints", "store or checkpoints", "boundary",
    "random_walls", "compressed",           "boundary_compressed"};

/// Whether what is kept are records, which may lie in memory, on the host or on a disk.
constexpr bool keeps_records(Keeping strategy) {
  return strategy != Keeping::automatic && strategy != Keeping::checkpoints &&
         strategy != Keeping::random_walls;
}

/// What a strategy of keeping costs on one rank that has all of the mesh.
struct KeepingCost {
  Keeping strategy = Keeping::automatic;
  double device_bytes = 0, host_bytes = 0, disk_bytes = 0;
  double sweeps = 1;          ///< times that the source field is computed, the first included
  double bytes_per_step = 0;  ///< that go out of the device, and come in again
  std::string_view error{};   ///< against store, in words
};
/// place: of records; not automatic.  device: on one without memory of its own, host is memory
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

/// The receivers' wave, which walks the other way.
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
  /// Now the wave has pⁿ; n = 0, 1, … steps − 1 in order.
  virtual void keep(Stream& stream, const Wave<T>& wave, Index n) = 0;
  /// at(n − 1), at(n) and at(n + 1) are there after this; n = steps − 2, … 0 in order. Collective.
  virtual void prepare(Stream& stream, Index n) = 0;
  /// How many steps from n on a pass over memory (march/passes.hpp) may take before the next keep(), and how
  /// many from n down by meet().
  virtual Index steps_from(Index) const { return 1; }
  virtual Index steps_down(Index) const { return 1; }
  /// Instead of keep() in a pass, for step 0 … count − 1 from n on: takes p of nodes of a plane, on any
  /// thread. None: nothing is to be taken.
  using Take = std::function<void(Index step, const IndexBox<3>& nodes, const View<const T, 3>& p)>;
  virtual Take taking(Stream&, Index /*n*/, Index /*count*/) { return {}; }
  /// Instead of prepare() in a pass: `count` steps of the receivers' wave that meet pⁿ, pⁿ⁻¹, … of the
  /// source. use() is called with nodes of the mesh in a plane, whole rows, on any thread. Collective.
  using Meet =
      std::function<void(const IndexBox<3>& nodes, const Around<T>& sent, const View<const T, 3>& back)>;
  virtual void meet(Stream& stream, const Returning<T>& back, const Passes& passes, Index n, Index count,
                    const Meet& use);
  /// pⁿ on the rank's part of the mesh, or qⁿ (field 1) of a medium with an axis. p⁻¹ is zero.
  virtual View<const T, 3> at(Index n, int field = 0) const = 0;
};

/// Where records lie, and the records of the shot before, which are taken again where they fit.
struct RecordRoom {
  KeptIn place = KeptIn::memory;
  std::string folder;  ///< of disk
  RecordsWanted last;
  std::shared_ptr<Records> records;
  PinnedBuffer<std::byte> states;  ///< of checkpoints, likewise
  Passes passes;                   ///< of waves that are computed again
};

/// Whether the waves of a migration may come in passes over memory, where passes_for() has some.
inline bool images_in_passes(const Problem& problem, Keeping strategy, KeptIn place) {
  const bool at_hand = strategy == Keeping::checkpoints || (keeps_records(strategy) && place != KeptIn::disk);
  return at_hand && problem.fields() == 1;
}

/// These nodes of a field, on the calling thread of the CPU.
template <class T>
void put_nodes(const View<const T, 3>& from, const View<T, 3>& to, const IndexBox<3>& nodes) {
  if (nodes.empty()) return;
  for (Index k = nodes.first[0]; k < nodes.last[0]; ++k)
    for (Index j = nodes.first[1]; j < nodes.last[1]; ++j)
      std::copy_n(&from(k, j, nodes.first[2]), nodes.size(2), &to(k, j, nodes.first[2]));
}

/// Whether the mesh alone is walked back, from nodes around it that were kept.
constexpr bool keeps_boundary(Keeping strategy) {
  return strategy == Keeping::boundary || strategy == Keeping::boundary_compressed;
}

/// wave: that of the source, which the history may use for itself after the last keep(). sources: that made
/// it; where keeps_boundary(strategy) those of the mesh's nodes alone, for what is kept of the others has
/// them. All must outlive the history. strategy: neither automatic nor random_walls. Throws as
/// make_records().
template <class T>
std::unique_ptr<History<T>> make_history(Keeping strategy, Stream& stream, Wave<T>& wave,
                                         const Sources<T>& sources, RecordRoom& room);

}  // namespace terrane::acoustic
