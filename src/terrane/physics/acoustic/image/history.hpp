// The source's wavefield of a shot backwards in time: imaging correlates it with the receivers' wave.
//
// Strategies, with n steps, N nodes of the mesh, e bytes per number, and S nodes around the mesh, in the M
// planes beyond each side that stencils of order 2M read:
//
//   store        all pⁿ are stored: n N e bytes; nothing is computed twice
//   compressed   all pⁿ in 16 bits per node, with a factor for every 32 nodes of a row: n N 2⅛ bytes in
//                single precision; the error of a node is at most 1.6e-5 of the largest value of its 32 nodes
//   checkpoints  complete states every k steps on the host, 2 n/k fields, and the k fields between two states
//                on the device; k = √(2n); every step is computed a second time, bitwise identically. A GPU
//                copies states asynchronously, to pinned memory that the next shots use again
//   random_walls nothing is stored: energy stays in the grid, and steps are reversed bit by bit; noise in
//                the image (random_walls.hpp)
//   boundary     S n e bytes: from the last step on, the wave on the mesh is computed backwards, with stored
//                values at the nodes around it. The leapfrog is reversible, so only rounding differs: 2e-6
//                in single precision. One field of the mesh is needed in addition to the wave's: pⁿ⁺¹, which
//                pⁿ⁻¹ overwrites. With a vertical axis p is stored on the sides along north and east, q
//                below and above. With a tilted axis p and q are stored on all sides, 2M deep, and M × M
//                along edges: four times as much
//   boundary_compressed   these nodes in 16 bits, 2 or 3 bytes per node; the error of images is 1e-5
//
// Records of store, compressed and the boundary strategies are in memory, on the host or on a disk
// (records.hpp).
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
/// Names by which a checkpoint distinguishes strategies: store and checkpoints have bitwise identical
/// results, so a run with one of them may be resumed with the other, for example on a machine with less
/// memory.
inline constexpr std::array<std::string_view, 7> keeping_bits{
    "auto",         "store or checkpoints", "store or checkpoints", "boundary",
    "random_walls", "compressed",           "boundary_compressed"};

/// Whether the strategy stores Records, which may be in memory, on the host or on a disk.
constexpr bool keeps_records(Keeping strategy) {
  return strategy != Keeping::automatic && strategy != Keeping::checkpoints &&
         strategy != Keeping::random_walls;
}

/// Memory, disk and computation that a strategy needs, on one rank that has the whole mesh.
struct KeepingCost {
  Keeping strategy = Keeping::automatic;
  double device_bytes = 0, host_bytes = 0, disk_bytes = 0;
  double sweeps = 1;          ///< number of times the source's wave is computed, the first one included
  double bytes_per_step = 0;  ///< bytes per step copied from the device, and later back to it
  std::string_view error{};   ///< error relative to store, in words
};
/// place: where records are stored, not automatic.  device: on a device without memory of its own, `host`
/// means `memory`
template <class T>
KeepingCost cost_of(Keeping strategy, const Problem& problem, KeptIn place = KeptIn::memory,
                    const Device& device = {Device::Kind::cpu, -1});
constexpr std::string_view to_string(Keeping strategy) {
  return keeping_names[static_cast<std::size_t>(strategy)];
}

/// pⁿ⁺¹, pⁿ and pⁿ⁻¹ of the source's wave.
template <class T>
struct Around {
  View<const T, 3> after, now, before;
};

/// The receivers' wave, its sources and its clock. This wave is computed from the last step to the first.
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
  /// Stores pⁿ, the present field of the wave; called for n = 0, 1, … steps − 1 in order.
  virtual void keep(Stream& stream, const Wave<T>& wave, Index n) = 0;
  /// Makes at(n − 1), at(n) and at(n + 1) available; called for n = steps − 2, … 0 in order. Collective.
  virtual void prepare(Stream& stream, Index n) = 0;
  /// steps_from: the most steps from n on that one pass over memory (march/passes.hpp) may compute before the
  /// next keep(). steps_down: the most steps from n downward that one meet() may compute.
  virtual Index steps_from(Index) const { return 1; }
  virtual Index steps_down(Index) const { return 1; }
  /// Replaces keep() in a pass of `count` steps from n on: returns a function that stores p at nodes of one
  /// plane, called on any thread for step 0 … count − 1. Empty: nothing is to be stored.
  using Take = std::function<void(Index step, const IndexBox<3>& nodes, const View<const T, 3>& p)>;
  virtual Take taking(Stream&, Index /*n*/, Index /*count*/) { return {}; }
  /// Replaces prepare() in a pass: computes `count` steps of the receivers' wave; at each step calls use(),
  /// on any thread, for whole rows of mesh nodes of one plane, with the source's wave around that step and
  /// the receivers' wave. Collective.
  using Meet =
      std::function<void(const IndexBox<3>& nodes, const Around<T>& sent, const View<const T, 3>& back)>;
  virtual void meet(Stream& stream, const Returning<T>& back, const Passes& passes, Index n, Index count,
                    const Meet& use);
  /// pⁿ on the rank's part of the mesh, or qⁿ (field 1) of a VTI or TTI medium. p⁻¹ is zero.
  virtual View<const T, 3> at(Index n, int field = 0) const = 0;
};

/// Where records are stored, and the memory of the previous shot, which is used again if its size fits.
struct RecordRoom {
  KeptIn place = KeptIn::memory;
  std::string folder;  ///< folder of records on disk
  RecordsWanted last;
  std::shared_ptr<Records> records;
  PinnedBuffer<std::byte> states;  ///< memory of the states of checkpoints, which the next shot uses again
  Passes passes;                   ///< passes over memory in which waves are computed
};

/// Whether a migration may compute several steps in each pass over memory, if passes_for() returns more than
/// one.
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

/// Whether only the mesh is computed backwards, from stored values at the nodes around it.
constexpr bool keeps_boundary(Keeping strategy) {
  return strategy == Keeping::boundary || strategy == Keeping::boundary_compressed;
}

/// wave: the source's wave, which the history may overwrite after the last keep(). sources: the sources of
/// this wave; if keeps_boundary(strategy), only their terms at nodes of the mesh, because the stored values
/// of other nodes include such terms. All must outlive the history. strategy: neither automatic nor
/// random_walls. Throws what make_records() throws.
template <class T>
std::unique_ptr<History<T>> make_history(Keeping strategy, Stream& stream, Wave<T>& wave,
                                         const Sources<T>& sources, RecordRoom& room);

}  // namespace terrane::acoustic
