#include "terrane/parallel/threads/for_each_box.hpp"

namespace terrane::detail {

namespace {

/// Largest number of points of a tile's row: a multiple of every SIMD width, so many that the cost of a call
/// is small.
constexpr Index longest_row = 8192;
/// Largest number of points in a plane of a tile: nine planes of three arrays of doubles are 0.9 MB, which
/// fits in the cache of a core.
constexpr Index most_in_plane = 4096;
/// Number of points below which it is not worth waking another thread.
constexpr Index least_for_thread = 8192;
constexpr Index tiles_for_thread = 4, least_planes = 4;

Index pieces(Index size, Index of) { return (size + of - 1) / of; }

}  // namespace

Tiles tiles_of(const Extents& box, int threads) {
  const Index points = box.size[0] * box.size[1] * box.size[2];
  Tiles tiles{};
  tiles.team =
      points <= least_for_thread
          ? 1
          : static_cast<int>(std::min<Index>(thread_count(threads), pieces(points, least_for_thread)));
  tiles.size[2] = std::min(box.size[2], longest_row);
  tiles.size[1] = std::clamp<Index>(most_in_plane / tiles.size[2], 1, box.size[1]);
  const Index columns = pieces(box.size[2], tiles.size[2]) * pieces(box.size[1], tiles.size[1]);
  const Index layers = std::max<Index>(1, pieces(tiles.team * tiles_for_thread, columns));
  tiles.size[0] =
      std::clamp<Index>(pieces(box.size[0], layers), std::min(least_planes, box.size[0]), box.size[0]);
  for (int a = 0; a < 3; ++a) tiles.count[a] = pieces(box.size[a], tiles.size[a]);
  tiles.team =
      static_cast<int>(std::min<Index>(tiles.team, tiles.count[0] * tiles.count[1] * tiles.count[2]));
  return tiles;
}

void run_team(Index count, int team, void (*call)(const void* with, Index n), const void* with) {
  for_each(static_cast<std::size_t>(count), team, [=](std::size_t n) { call(with, static_cast<Index>(n)); });
}

}  // namespace terrane::detail
