// The unit of work of the direct sum: the field of a tile of prisms at a tile of stations.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/formula/multipole.hpp"
#include "terrane/physics/gravity/formula/switching.hpp"

namespace terrane::gravity {

inline constexpr int tile_size = 64;

/// Up to tile_size prisms that lie close together.
struct PrismTile {
  int count = 0;
  alignas(64) double west[tile_size], east[tile_size], south[tile_size], north[tile_size], bottom[tile_size],
      top[tile_size];                                           // m
  alignas(64) double density[tile_size];                        // kg/m³
  alignas(64) double mass[tile_size];                           // density · volume
  double origin[3];                                             // a point near the prisms' centres, m
  alignas(64) double x[tile_size], y[tile_size], z[tile_size];  // prisms' centres relative to `origin`, m
  alignas(64) double longest[tile_size], multipole2[tile_size], stable_h2[tile_size];  // see PrismSwitching
  bool stretched[tile_size];
  bool same_size = false;  // true: coefficients[0] applies to all prisms
  MultipoleCoefficients coefficients[tile_size];

  const MultipoleCoefficients& multipole(int p) const { return coefficients[same_size ? 0 : p]; }
};

/// Up to tile_size stations that lie close together; padded with copies of the last to a whole number of
/// packs.
struct StationTile {
  int count = 0;
  alignas(64) double x[tile_size], y[tile_size], z[tile_size];  // m
};

/// Computes the pairs of one prism and one station that kernels with SIMD leave out: stations inside or on
/// the prism, or close to it if the prism is stretched.
class NearPairs {
 public:
  virtual ~NearPairs() = default;
  /// q: V, g, Γ of the prism at the station for unit density and G = 1, in the order of Channel.
  virtual void evaluate(const PrismTile& tile, int prism, int station, double x, double y, double z,
                        double (&q)[10]) = 0;
};

/// Adds the field of every prism of the tile at every station, for G = 1.  sums: [channels of the
/// kernel][tile_size]
using TileKernel = void (*)(const PrismTile&, const StationTile&, NearPairs&, double* sums);

/// The kernels of one set of channels, for one instruction set.
struct TileKernels {
  int lanes = 0;              ///< stations computed at once
  TileKernel near = nullptr;  ///< kernel for any distance: chooses the formula pair by pair
  TileKernel far[4] = {};     ///< kernels that use a multipole of order 2, 4, 6, 8 for all pairs of two tiles
};

/// The sets of channels that have kernels of their own; for any other set the smallest one that contains it
/// is used. A single channel along another axis is computed with rotated axes (turn_for()).
inline constexpr ChannelSet kernel_sets[] = {
    {Channel::g_u},
    {Channel::potential},
    {Channel::g_uu},
    {Channel::g_en},
    vector_channels,
    tensor_channels,
    ChannelSet{Channel::potential} | vector_channels,
    ChannelSet::all(),
};

/// The kernels of kernel_sets[set] for one instruction set, and its name.
struct KernelTarget {
  const char* name;
  TileKernels kernels[std::size(kernel_sets)];
};

/// The kernels for the best instruction set that this build has and this CPU supports. `wanted` (or, if that
/// is empty, the environment variable TERRANE_SIMD) selects another: "plain", "avx2", "avx512". Throws
/// UnsupportedError if it is not available.
const KernelTarget& kernel_target(std::string_view wanted = {});

}  // namespace terrane::gravity
