// The source's waves backwards in time without storage: layers are replaced by walls of a random medium
// (Clapp 2009), so that no energy leaves the grid, and the leapfrog runs backwards.
//
// Every p⁺ + p⁻ = 2p + v²Δt² (A p + f) is rounded to a fixed grid of numbers before p⁻ is subtracted:
//
//   F ← (F + c) − c,  c = 1.5 · 2²³ g (2⁵² in double precision)      p⁺ = F − p⁻, so p⁻ = F − p⁺ exactly
//
// A step backwards then restores the bits that the step forwards began with. The grid spacing g is 2⁻²¹ times
// a power of two above the largest pressure. That is found by running: if a larger pressure comes, the run
// begins again with a larger g.
//
// With an axis of symmetry this holds for p and for q. No bit depends on the number of ranks: all have the
// same g, as they decide together whether a pressure is too large.
//
// What the walls scatter back is noise in the image, and differs from shot to shot: 8 … 15 % of the image in
// the mean (docs/theory/acoustic.md). Velocities only become slower, so steps stay stable.
#pragma once

#include <cstdint>

#include "terrane/physics/acoustic/image/history.hpp"

namespace terrane::acoustic {

struct RandomWalls {
  Index points = 30;    ///< thickness, nodes
  Index grain = 5;      ///< nodes along an edge of a cube that has one velocity
  double slower = 0.6;  ///< greatest reduction of the velocity, as a fraction, in the outermost node
};

/// Enlarges the mesh on sides with layers, which become walls; returns the number of nodes put before the
/// first on each axis. Walls are at least as thick as the layers, so that each rank's part may have its share
/// of them.
std::array<Index, 3> make_room_for_walls(Problem& problem, const RandomWalls& walls = {});
/// The same shots in a larger mesh whose sides with layers are walls; other sides stay as they are. In
/// the walls all properties but the velocity are those of the mesh's sides. The same bits for one seed.
Problem with_random_walls(const Problem& problem, std::uint64_t seed, const RandomWalls& walls = {});

/// Collective: runs the source's wave to its end. Stream and Comm must outlive the history. series: the same
/// on all ranks.  cut: of the problem, by which ranks keep their nodes of the mesh and get the walls beside
/// them
template <class T>
std::unique_ptr<History<T>> make_random_walls(Stream& stream, Comm& comm, const Problem& problem,
                                              const Cartesian<3>& cut, const Shot& shot,
                                              const std::vector<double>& series);

}  // namespace terrane::acoustic
