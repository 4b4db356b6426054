#include "terrane/physics/acoustic/march/passes.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <thread>

#include "terrane/parallel/threads/for_each.hpp"

namespace terrane::acoustic {

namespace {

constexpr Index rows_of_tile = 16;   ///< rows of a tile: its planes fit into a core's cache of two megabytes
constexpr Index rows_of_tilted = 8;  ///< rows with a tilted axis, whose steps read 12 arrays instead of three
constexpr double cache_of_core = 4e6;  ///< bytes of a field in single precision; no passes if it is smaller

/// Whether tiles compute, in all steps of a pass, the absorbing layers and most of the rank's part: for this
/// the part must be thick along the axes that are cut among ranks.
bool thick_enough(const Problem& problem, const IndexBox<3>& part, Index steps) {
  const auto whole = problem.whole();
  for (const int axis : {up, north}) {
    const bool cut[2] = {part.first[axis] > whole.first[axis], part.last[axis] < whole.last[axis]};
    if (!cut[0] && !cut[1]) continue;
    Index least = 2 * steps * problem.reach() * (cut[0] && cut[1] ? 2 : 1);
    for (const int side : {0, 1})
      if (!cut[side] && problem.margin(axis, side) > 0)
        least = std::max(least, problem.layers.points + problem.points() + steps * problem.reach());
    if (part.size(axis) < least) return false;
  }
  return true;
}

/// The number of axes with a free surface. At edges between free surfaces of two axes, the differences of a
/// tilted axis read images of images, which passes do not compute.
int axes_with_surfaces(const Problem& problem) {
  int axes = 0;
  for (std::size_t a = 0; a < problem.sides.size(); ++a) {
    const auto& sides = problem.sides[a];
    const bool surface = sides[0] == Boundary::free_surface || sides[1] == Boundary::free_surface;
    axes += surface && problem.grid.there(static_cast<int>(a));
  }
  return axes;
}

}  // namespace

Index most_steps_at_once(const Problem& problem) {
  const auto nodes = static_cast<double>(problem.whole().count());
  const bool serves = problem.grid.there(up) && problem.grid.there(north) && 4 * nodes > cache_of_core;
  if (!serves) return 1;
  return problem.equation == Equation::tti ? 2 : 4;
}

Passes passes_for(const Problem& problem, const Device& device, int threads, const Cartesian<3>& cut) {
  Passes passes;
  const auto because = [&](std::string_view why) {
    passes.why = why;
    return passes;
  };
  if (device.kind != Device::Kind::cpu) return because("passes are of the CPU");
  if (!problem.grid.there(up) || !problem.grid.there(north)) return because("there are two dimensions");
  if (problem.equation == Equation::tti && cut.ranks() > 1)
    return because("around a tilted axis passes are of one rank");
  if (problem.equation == Equation::tti && axes_with_surfaces(problem) > 1)
    return because("around a tilted axis passes want free surfaces on one axis only");
  if (most_steps_at_once(problem) == 1) return because("the caches hold these fields");
  const Index steps = most_steps_at_once(problem);
  for (const auto& part : cut.parts) {
    if (4 * static_cast<double>(part.count()) <= cache_of_core)
      return because("the caches hold the fields of a rank");
    if (part.size(north) < 2 * rows_of_tile * thread_count(threads))
      return because("a thread needs 32 rows along northing, and a rank has fewer");
    if (!thick_enough(problem, part, steps)) return because("the parts of ranks are thin");
  }
  passes.steps = steps;
  passes.rows = problem.equation == Equation::tti ? rows_of_tilted : rows_of_tile;
  for (const int axis : {up, north}) {
    const auto a = static_cast<std::size_t>(axis);
    const auto& sides = problem.sides[a];
    const bool layers = sides[0] == Boundary::cpml || sides[1] == Boundary::cpml;
    const bool twice = layers || problem.reach() > problem.points();
    passes.lag[a] = (twice ? 2 : 1) * problem.points();
  }
  return passes;
}

Passes agreed(Passes mine, Comm& comm) {
  const auto fewest = static_cast<Index>(comm.lowest(static_cast<int>(mine.steps)));
  if (fewest == 1 && mine.steps > 1) return {1, 0, {}, another_rank};
  mine.steps = fewest;
  return mine;
}

IndexBox<3> taken_in_pass(const Problem& problem, const IndexBox<3>& part, Index step) {
  const auto whole = problem.whole();
  auto box = part;
  for (const int axis : {up, north}) {
    const Index less = step * problem.reach();
    box = box.grown(axis, part.first[axis] > whole.first[axis] ? -less : 0,
                    part.last[axis] < whole.last[axis] ? -less : 0);
  }
  return box;
}

void walk(std::span<const IndexBox<3>> boxes, const Passes& passes, Index points, int threads,
          const std::function<void(Index, const Stretch&)>& take) {
  constexpr Index everything = std::numeric_limits<Index>::min() / 2;
  const auto& part = boxes.front();
  const Index count = std::ssize(boxes), lag_up = passes.lag[up], lag_north = passes.lag[north];
  const Index tiles = (part.size(1) + (count - 1) * lag_north + passes.rows - 1) / passes.rows;
  const Index planes = part.size(0) + (count - 1) * lag_up;
  const auto taken = std::make_unique<std::atomic<Index>[]>(static_cast<std::size_t>(tiles));
  for (Index t = 0; t < tiles; ++t) taken[static_cast<std::size_t>(t)] = 0;
  const auto walk_up = [&](Index tile) {
    const auto mine = static_cast<std::size_t>(tile);
    for (Index w = 0; w < planes; ++w) {
      while (tile > 0 && taken[mine - 1].load(std::memory_order_acquire) <= w) std::this_thread::yield();
      for (Index step = 0; step < count; ++step) {
        const auto& box = boxes[static_cast<std::size_t>(step)];
        const Index k = part.first[0] + w - step * lag_up;
        const Index j = part.first[1] + tile * passes.rows - step * lag_north;
        const auto cut = [&](Index from_k, Index to_k, Index from_j, Index to_j) {
          return overlap(box, box.with(0, from_k, to_k).with(1, from_j, to_j));
        };
        take(step, {cut(k, k + 1, j, j + passes.rows),
                    {cut(w == 0 ? everything : k + points, k + points + 1, j, j + passes.rows),
                     cut(k, k + 1, tile == 0 ? everything : j + points, j + passes.rows + points)}});
      }
      taken[mine].store(w + 1, std::memory_order_release);
    }
  };
  // Threads begin tiles in order from the south, so a thread waits only for a tile that has been begun.
  std::atomic<Index> next{0};
  const auto walkers = std::min<Index>(thread_count(threads), tiles);
  for_each(static_cast<std::size_t>(walkers), threads, [&](std::size_t) {
    for (Index tile = next++; tile < tiles; tile = next++) walk_up(tile);
  });
}

}  // namespace terrane::acoustic
