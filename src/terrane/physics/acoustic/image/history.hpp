// The source field of a shot, walked through backwards: what imaging correlates with.
//
// With n steps of N nodes of the mesh, e bytes a number, and S nodes in M planes around the mesh:
//
//   store        all pⁿ are kept: n N e bytes; nothing is computed twice
//   compressed   the same in 16 bits a node, with a factor for every 32 nodes of a row: n N (2 + 1/8) bytes
//   in
//                single precision; the error of a node is at most 1.6e-5 of the largest of its 32
//   checkpoints  whole states every k steps on the host, 2 n/k fields, and k fields of one stretch on the
//                device; k = √(2n); every step is computed once more, with the same bits
//   random_walls nothing is kept: energy stays in the grid, and steps run backwards bit by bit; noise in the
//                image (random_walls.hpp)
//   boundary     S n e bytes: the mesh is computed back from the end, from the nodes around it that layers
//                reach. As the leapfrog runs both ways, what differs is rounding: 2e-6 in single precision
#pragma once

#include <memory>
#include <string>

#include "terrane/physics/acoustic/march/wave.hpp"

namespace terrane::acoustic {

enum class Keeping { automatic, store, checkpoints, boundary, random_walls, compressed };

/// What a way of keeping costs on one rank that has all of the mesh.
struct KeepingCost {
  Keeping way;
  double device_bytes, host_bytes;
  double sweeps;  ///< times that the source field is computed, the first included
};
template <class T>
KeepingCost cost_of(Keeping way, const Problem& problem);
std::string_view to_string(Keeping way);

template <class T>
class History {
 public:
  virtual ~History() = default;
  /// Now the wave has pⁿ; n = 0, 1, … steps − 1 in order.
  virtual void keep(Stream& stream, const Wave<T>& wave, Index n) = 0;
  /// at(n − 1), at(n) and at(n + 1) are there after this; n = steps − 2, … 0 in order. Collective.
  virtual void prepare(Stream& stream, Index n) = 0;
  /// pⁿ on the rank's part of the mesh, or qⁿ (field 1) of rock with an axis. p⁻¹ is zero.
  virtual View<const T, 3> at(Index n, int field = 0) const = 0;
};

/// wave: that of the source, which the history may use for itself after the last keep(). sources: that made
/// it. All must outlive the history. way: neither automatic nor random_walls.
template <class T>
std::unique_ptr<History<T>> make_history(Keeping way, Stream& stream, Wave<T>& wave,
                                         const Sources<T>& sources);

}  // namespace terrane::acoustic
