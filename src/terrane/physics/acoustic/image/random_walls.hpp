// The source's waves backwards in time without storage: absorbing layers are replaced by walls of a random
// medium (Clapp 2009), so that no energy leaves the grid and the leapfrog can be reversed.
//
// Every F = p⁺ + p⁻ = 2p + v²Δt² (A p + f) is rounded to a multiple of a fixed g before p⁻ is subtracted
// (A, f: problem.hpp):
//
//   F ← (F + c) − c,  c = 1.5 · 2²³ g (2⁵² in double precision)      p⁺ = F − p⁻, so p⁻ = F − p⁺ exactly
//
// A step backwards then restores p⁻ bit by bit. The rounding unit g is 2⁻²¹ times a power of two above the
// largest pressure, which is estimated first: if a pressure exceeds it, the run begins again with a larger g.
//
// With an axis of symmetry p and q are both rounded. Results are bitwise identical on any number of ranks:
// all ranks have the same g, because they decide together whether a pressure is too large.
//
// The waves that walls scatter back are noise in the image, different for each shot: on average 8 … 15 % of
// the image (docs/theory/acoustic.md). Velocities in walls are only reduced, so steps stay stable.
#pragma once

#include <cstdint>

#include "terrane/physics/acoustic/image/history.hpp"

namespace terrane::acoustic {

struct RandomWalls {
  Index points = 30;    ///< thickness, nodes
  Index grain = 5;      ///< edge, in nodes, of cubes with one random number each
  double slower = 0.6;  ///< greatest reduction of the velocity, as a fraction, in the outermost node
};

/// Enlarges the mesh on sides with absorbing layers, which become walls; returns the number of nodes added
/// before the first node of each axis. Walls are at least as thick as an absorbing layer plus the nodes
/// between it and the mesh: so a rank that had only such nodes gets nodes of a wall.
std::array<Index, 3> make_room_for_walls(Problem& problem, const RandomWalls& walls = {});
/// The problem in a larger mesh, with walls on sides that had absorbing layers; other sides are not changed.
/// In walls all properties but the velocity are continued from the mesh's sides. Equal seeds give equal
/// walls.
Problem with_random_walls(const Problem& problem, std::uint64_t seed, const RandomWalls& walls = {});

/// Collective: computes the source's wave to its end. Stream and Comm must outlive the history. series: the
/// same on all ranks.  cut: the cut of the problem's grid; ranks keep their nodes of the mesh, and get the
/// walls beside these
template <class T>
std::unique_ptr<History<T>> make_random_walls(Stream& stream, Comm& comm, const Problem& problem,
                                              const Cartesian<3>& cut, const Shot& shot,
                                              const std::vector<double>& series);

}  // namespace terrane::acoustic
