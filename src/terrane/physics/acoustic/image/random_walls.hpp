// Steps back through the source's waves that keep nothing: layers are replaced by walls of a random medium
// (Clapp 2009), so that no energy leaves the grid, and the leapfrog is run backwards.
//
// Every p⁺ + p⁻ = 2p + v²Δt² (A p + f) is rounded to a fixed grid of numbers before p⁻ is subtracted:
//
//   F ← (F + c) − c,  c = 1.5 · 2²³ g (2⁵² in double precision)       p⁺ = F − p⁻,  and so p⁻ = F − p⁺
//   exactly
//
// Every step backwards then gives the very bits that the step forwards began with. g is 2⁻²¹ of a power of
// two above the largest pressure, found by running: a larger one begins the run again.
//
// With an axis of symmetry this holds of p and of q. No bit depends on the number of ranks: grains are the
// same on all, for they agree whether a pressure is too large.
//
// What the walls scatter back is noise in the image, and differs from shot to shot: 8 … 15 % of the image in
// the mean (docs/theory/acoustic.md). Velocities only become slower, so steps stay stable.
#pragma once

#include <cstdint>

#include "terrane/physics/acoustic/image/history.hpp"

namespace terrane::acoustic {

struct RandomWalls {
  Index points = 30;    ///< thickness
  Index grain = 5;      ///< nodes on a side of a cube of one velocity
  double slower = 0.6;  ///< at most, of the velocity, in the outermost node
};

/// Makes the mesh larger on sides with layers, which become walls; how many nodes were put before the first.
/// Walls are at least as thick as the layers are, so that each rank's part may have its share of them.
std::array<Index, 3> make_room_for_walls(Problem& problem, const RandomWalls& walls = {});
/// The same shots in a larger mesh whose sides with layers are walls; free surfaces and walls are as they
/// were. Beyond the mesh all but the velocity is that of its sides. The same bits for one seed.
Problem with_random_walls(const Problem& problem, std::uint64_t seed, const RandomWalls& walls = {});

/// Collective: runs the source's waves to their end. Stream and Comm must outlive it. series: the same on all
/// ranks.  cut: of the problem, by which ranks keep their nodes of the mesh and get the walls beside them
template <class T>
std::unique_ptr<History<T>> make_random_walls(Stream& stream, Comm& comm, const Problem& problem,
                                              const Cartesian<3>& cut, const Shot& shot,
                                              const std::vector<double>& series);

}  // namespace terrane::acoustic
