// The field of a tile of 32 prisms at a group of 32 stations on a device: the counterpart of kernels.hpp.
//
// A tile whose nearest prism is far enough for a multipole from every station of the group is computed by
// FarField, which uses one order for all pairs; other tiles by NearField, which chooses pair by pair, so that
// the many far pairs need few registers. Pairs that touch, and those close to stretched prisms, are listed
// for the host, which has extended precision and treats singular points (near_field.hpp).
//
// Real is the type in which pairs are computed. In float, coordinates are relative to the origin of the tile
// (this difference is computed in double) and in units of the tile, so that powers of a distance stay in
// range. Pairs nearer than three times the prism's longest side are computed in double. The sums over the
// tiles are added in double.
//
// The time is limited by FP64 instructions: a pair by a multipole of order 2, 4, 6, 8 needs 56, 91, 139, 217.
// A tile (1 kB if all its prisms have one shape) is read once for 32 stations, which needs little of the
// bandwidth of the caches.
#pragma once

#include <cstdint>
#include <cstring>

#include "terrane/parallel/device/buffer.hpp"
#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/gravity/channels.hpp"
#include "terrane/physics/gravity/formula/edge_face.hpp"
#include "terrane/physics/gravity/formula/multipole.hpp"
#include "terrane/physics/gravity/formula/stable.hpp"
#include "terrane/physics/gravity/formula/switching.hpp"

namespace terrane::gravity {

inline constexpr int device_tile = 32;  ///< prisms in a tile, stations in a group
static_assert(device_tile == group_threads);

/// One tile of prisms that lie close together.
struct DeviceTile {
  static constexpr std::uint32_t no_shape = 0xffffffffU;
  double low[3], high[3];  ///< box around the centres, m
  double longest;          ///< longest side of the tile's prisms, m
  /// Units of length and density in the tile, powers of two: m, kg/m³; 1 if Real is double.
  double length, density;
  double inverse_length;
  std::uint32_t first, count;
  std::uint32_t shape;  ///< index of the shape that all prisms of the tile have, or no_shape
};

/// A prism as multipoles need it.
template <class Real>
struct alignas(4 * sizeof(Real)) Source {
  Real x, y, z, mass;  ///< centre relative to the low corner of the tile's box; units of the tile
};

/// Multipole coefficients in the type of the pairs, lengths in units of the tile.
template <class Real>
struct TileCoefficients {
  Real t2[3], t4[6], t6[10], t8[15];
};

struct MultipoleTables {
  double order_2[3][3], order_4[6][6], order_6[10][10], order_8[15][15];
};

/// All that the kernels read about the prisms, for pairs computed in Real.
template <class Real>
struct DeviceEarth {
  View<const double> low[3], high[3], density;  ///< prisms, tile by tile: faces in m, kg/m³
  View<const Source<Real>> sources;             ///< mass and centre of each prism, for multipoles
  View<const DeviceTile> tiles;
  View<const TileCoefficients<Real>> shapes;  ///< coefficients of shapes, in units of their tiles
  /// The shape that most tiles have, and its coefficients. As arguments of a kernel they need no registers:
  /// on the H200 a multiply-add that reads three registers takes three cycles, one that reads two takes two.
  std::uint32_t common_shape;  ///< index of the shape; the number of shapes if none is common
  TileCoefficients<Real> common;
  View<const MultipoleTables> tables;  ///< one element: all tables
  Switching switching;
  double least_gap;  ///< least distance at which a tile may be computed by multipoles, as a multiple of the
                     ///< diagonal of its box; at less, differences of coordinates in float lose digits
};

struct StationBox {
  double low[3], high[3];  ///< m
};

/// Stations in groups; the last group is padded with copies of its last station.
struct DeviceStations {
  View<const double> at[3];  ///< m
  View<const StationBox> boxes;
  std::size_t count;  ///< number of stations, without the copies that fill the last group
};

/// Which tiles a group of stations interacts with, cut into chunks of tiles. Each group of threads computes
/// one chunk at one group of stations; its index is (index of the chunk) · stations + (index of the group of
/// stations). If `list` is empty, every group of stations interacts with all tiles; the first chunk then has
/// the most tiles and the last the fewest, so that the groups of threads that start last finish soon.
struct TileLists {
  std::uint32_t tiles, chunks, stations;  ///< numbers of tiles, chunks and groups of stations
  View<const std::uint64_t> start;        ///< [groups of threads + 1] offsets in the list, or empty
  View<const std::uint32_t> list;

  TERRANE_FN std::size_t first(std::size_t group) const {
    if (start.size != 0) return start[group];
    return boundary(group / stations);
  }
  TERRANE_FN std::size_t last(std::size_t group) const {
    if (start.size != 0) return start[group + 1];
    return boundary(group / stations + 1);
  }
  /// First tile of chunk c, for T tiles in C chunks: T x (1 + s − s x), x = c / C, s = 3/5.
  TERRANE_FN std::size_t boundary(std::uint64_t c) const {
    return std::uint64_t{tiles} * c * (std::uint64_t{8} * chunks - 3 * c) /
           (std::uint64_t{5} * chunks * chunks);
  }
  TERRANE_FN std::uint32_t tile(std::size_t place) const {
    return start.size != 0 ? list[place] : static_cast<std::uint32_t>(place);
  }
  TERRANE_FN std::size_t station_group(std::size_t group) const { return group % stations; }
  /// Index of a thread's sum of channel c of `channels`: [chunk][channel][station].
  TERRANE_FN std::size_t place(std::size_t group, int c, int channels, int thread) const {
    const std::size_t row = std::size_t{stations} * device_tile;
    return (group / stations * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)) * row +
           group % stations * device_tile + static_cast<std::size_t>(thread);
  }
};

/// The tiles that each group of stations interacts with, cut into pieces of about equal work. A group of
/// threads computes one piece.
struct TilePieces {
  struct Piece {
    std::uint64_t first, last;  ///< tiles first .. last − 1 of the list
    std::uint32_t stations;     ///< index of the group of stations
  };
  View<const Piece> pieces;
  View<const std::uint32_t> list;

  TERRANE_FN std::size_t first(std::size_t group) const { return pieces[group].first; }
  TERRANE_FN std::size_t last(std::size_t group) const { return pieces[group].last; }
  TERRANE_FN std::uint32_t tile(std::size_t place) const { return list[place]; }
  TERRANE_FN std::size_t station_group(std::size_t group) const { return pieces[group].stations; }
  /// Index of a thread's sum of channel c: [piece][channel][station of the group].
  TERRANE_FN std::size_t place(std::size_t group, int c, int channels, int thread) const {
    return (group * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)) * device_tile +
           static_cast<std::size_t>(thread);
  }
};

/// A pair that the host computes.
struct HostPair {
  std::uint32_t station, prism;  ///< indices of the station and of the prism in the order of the device
};

/// The lowest multipole that is accurate for every pair of a tile and a group of stations: 0, 1, 2, 3 for
/// order 2, 4, 6, 8; 4 if there is none.
TERRANE_FN int far_order(const Switching& s, double least_gap, const DeviceTile& tile,
                         const StationBox& box) {
  double gap2 = 0, length2 = 0;
  for (int a = 0; a < 3; ++a) {
    length2 += (tile.high[a] - tile.low[a]) * (tile.high[a] - tile.low[a]);
    const double gap = maximum(maximum(tile.low[a] - box.high[a], box.low[a] - tile.high[a]), 0.0);
    gap2 += gap * gap;
  }
  int order = 4;
  if (gap2 < least_gap * least_gap * length2) return order;
  for (int i = 3; i >= 0; --i) {
    const double from = s.multipole_from[i] * tile.longest;
    if (gap2 >= from * from) order = i;
  }
  return order;
}

/// Sums in registers. Γuu follows from the sums of Γee and Γnn when they are stored.
template <unsigned Bits, class Real>
using DeviceSums = ChannelSums<Bits, Real, true>;

/// A tile of prisms in shared memory, for FarField and NearField.
template <class Real>
struct SharedTile {
  DeviceTile tile;
  /// The array is padded with sources without mass, and has one source more, because loops read the source
  /// after the current one without checking whether it is the last.
  Source<Real> source[device_tile + 1];
  /// In a tile of one shape only coefficients[0] is loaded, for all prisms; for the common shape none is.
  TileCoefficients<Real> coefficients[device_tile];

  static constexpr std::size_t word_bytes = sizeof(std::uint32_t);
  static constexpr int words = sizeof(DeviceTile) / word_bytes;
  static_assert(sizeof(DeviceTile) % word_bytes == 0 && words <= group_threads);

  /// Thread t loads a word of the tile, prism t, and coefficients for multipoles up to `order`. known: the
  /// shape whose coefficients are already loaded.
  TERRANE_FN void load(const DeviceEarth<Real>& earth, const DeviceTile& from, std::uint32_t& known,
                       int order, int t) {
    const auto at = static_cast<std::size_t>(t);
    if (t < words)
      std::memcpy(
          __builtin_assume_aligned(reinterpret_cast<char*>(&tile) + at * word_bytes, word_bytes),
          __builtin_assume_aligned(reinterpret_cast<const char*>(&from) + at * word_bytes, word_bytes),
          word_bytes);
    const bool real = at < from.count;
    const std::size_t n = from.first + (real ? at : 0);
    Source<Real> mine = earth.sources[n];
    if (t == 0) source[device_tile] = mine;
    if (!real) mine.mass = Real(0);
    source[t] = mine;
    const std::uint32_t shape = from.shape;
    if (shape == DeviceTile::no_shape) {
      double side[3];
      for (int a = 0; a < 3; ++a) {
        side[a] = earth.high[a][n] - earth.low[a][n];
        if constexpr (sizeof(Real) < sizeof(double)) side[a] *= from.inverse_length;
      }
      set_multipole_coefficients(earth.tables[0], side[0], side[1], side[2], order, coefficients[t]);
    } else if (shape != known && shape != earth.common_shape) {
      // Each thread loads some coefficients of the tile's only shape.
      const auto& one = earth.shapes[shape];
      auto& to = coefficients[0];
      if (t < 3) to.t2[t] = one.t2[t];
      if (t < 6) to.t4[t] = one.t4[t];
      if (t < 10) to.t6[t] = one.t6[t];
      if (t < 15) to.t8[t] = one.t8[t];
    }
    known = shape;
  }

  TERRANE_FN int count() const { return static_cast<int>(tile.count); }
  /// Step in `coefficients` from one prism to the next.
  TERRANE_FN int stride() const { return tile.shape == DeviceTile::no_shape ? 1 : 0; }
  /// A length in units of the tile.
  TERRANE_FN Real in_units(double metres) const {
    if constexpr (sizeof(Real) == sizeof(double)) return metres;
    else return static_cast<Real>(metres * tile.inverse_length);
  }
};

/// The state of a thread, which computes one station.
struct StationThread {
  double x, y, z;
  std::size_t first;  ///< index of the group's first tile in the lists; stored because computing it is slow
  std::uint32_t steps;
  std::uint32_t known_shape;
};

/// The running sums of a group's stations, in shared memory: they are needed only once per tile.
template <unsigned Bits>
struct RunningSums {
  using Sums = DeviceSums<Bits, double>;
  static constexpr int count = Sums::count;
  /// Γuu is not summed but computed at the end as −(Γee + Γnn): all pairs of the kernels lie outside prisms.
  static constexpr bool by_laplace = Sums::uu_by_laplace && Sums::has(Channel::g_uu);
  double of[count][device_tile];

  TERRANE_FN void clear(int t) {
    unrolled<count>([&](auto c) { of[c][t] = 0; });
  }
  /// Adds other sums, whose V, g and Γ are in the units potential, vector and tensor.
  template <class Other>
  TERRANE_FN void add(int t, const DeviceSums<Bits, Other>& other, double potential, double vector,
                      double tensor) {
    int c = 0;
    for (unsigned channel = 0; channel < channel_count; ++channel)
      if ((Bits >> channel) & 1U) {
        const double unit = channel == 0 ? potential : channel <= 3 ? vector : tensor;
        if (!(by_laplace && channel == static_cast<unsigned>(Channel::g_uu)))
          of[c][t] += unit * static_cast<double>(other.sum[c]);
        ++c;
      }
  }
  TERRANE_FN void add(int t, const DeviceSums<Bits, double>& other) {
    unrolled<count>([&](auto c) {
      if constexpr (!(by_laplace && c == Sums::place(Channel::g_uu))) of[c][t] += other.sum[c];
    });
  }
  TERRANE_FN void complete(int t) {
    if constexpr (by_laplace)
      of[Sums::place(Channel::g_uu)][t] =
          -(of[Sums::place(Channel::g_ee)][t] + of[Sums::place(Channel::g_nn)][t]);
  }
};

/// The base of FarField and NearField: a thread computes one station, and stores its sums at the index that
/// lists.place() returns.
template <unsigned Bits, class Real, class Lists>
struct TileKernelOnDevice {
  using Sums = DeviceSums<Bits, Real>;
  using Thread = StationThread;
  static constexpr bool uu_by_laplace = Sums::uu_by_laplace;

  DeviceEarth<Real> earth;
  DeviceStations stations;
  Lists lists;
  View<double> partial;

  template <class Shared>
  TERRANE_FN void begin(Shared& shared, Thread& thread, std::size_t group, int t) const {
    const std::size_t s = lists.station_group(group) * device_tile + static_cast<std::size_t>(t);
    thread.x = stations.at[0][s];
    thread.y = stations.at[1][s];
    thread.z = stations.at[2][s];
    thread.first = lists.first(group);
    thread.steps = static_cast<std::uint32_t>(lists.last(group) - thread.first);
    thread.known_shape = DeviceTile::no_shape;
    shared.total.clear(t);
  }
  TERRANE_FN std::size_t steps(std::size_t group) const { return lists.last(group) - lists.first(group); }
  TERRANE_FN const DeviceTile& tile(const Thread& thread, std::size_t step) const {
    return earth.tiles[lists.tile(thread.first + step)];
  }
  template <class Shared>
  TERRANE_FN void end(Shared& shared, Thread&, std::size_t group, int t) const {
    shared.total.complete(t);
    unrolled<Sums::count>(
        [&](auto c) { partial[lists.place(group, c, Sums::count, t)] = shared.total.of[c][t]; });
  }
  /// Adds the sums over a tile, which are in the tile's units, to the totals.
  template <class Shared>
  TERRANE_FN static void settle(Shared& shared, int t, const Sums& sum) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      shared.total.add(t, sum);
    } else {
      const auto& tile = shared.tile.tile;
      const double tensor = tile.density, vector = tensor * tile.length;
      shared.total.add(t, sum, vector * tile.length, vector, tensor);
    }
  }
};

template <unsigned Bits, class Real>
struct FarField : TileKernelOnDevice<Bits, Real, TileLists> {
  using Base = TileKernelOnDevice<Bits, Real, TileLists>;
  using typename Base::Sums;
  using typename Base::Thread;
  static constexpr int groups_at_once = sizeof(Real) < sizeof(double) ? 24 : 16;
  struct Shared {
    SharedTile<Real> tile;
    RunningSums<Bits> total;
    int order[group_threads];  ///< result of far_order() for this tile and the next ones
  };

  /// Each thread of the group determines the multipole order of one of the next tiles.
  TERRANE_FN void look_ahead(Shared& shared, const Thread& thread, std::size_t group, std::size_t step,
                             int t) const {
    if (step % group_threads != 0) return;
    const std::size_t next = step + static_cast<std::size_t>(t);
    shared.order[t] = next < thread.steps
                          ? far_order(this->earth.switching, this->earth.least_gap, this->tile(thread, next),
                                      this->stations.boxes[this->lists.station_group(group)])
                          : 4;
  }

  TERRANE_FN void load(Shared& shared, Thread& thread, std::size_t, std::size_t step, int t) const {
    const int order = shared.order[step % group_threads];
    if (order < 4)
      shared.tile.load(this->earth, this->tile(thread, step), thread.known_shape, 2 * order + 2, t);
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t, std::size_t step, int t) const {
    switch (shared.order[step % group_threads]) {
      case 0:
        return run<2>(shared, thread, t);
      case 1:
        return run<4>(shared, thread, t);
      case 2:
        return run<6>(shared, thread, t);
      case 3:
        return run<8>(shared, thread, t);
      default:
        return;
    }
  }

 private:
  template <int Order>
  TERRANE_FN void run(Shared& shared, const Thread& thread, int t) const {
    const auto& tile = shared.tile;
    const auto& origin = tile.tile.low;
    const Real x = tile.in_units(thread.x - origin[0]), y = tile.in_units(thread.y - origin[1]),
               z = tile.in_units(thread.z - origin[2]);
    Sums sum;
    sum.clear();
    if (tile.tile.shape == this->earth.common_shape) add<Order>(tile, x, y, z, &this->earth.common, 0, sum);
    else add<Order>(tile, x, y, z, tile.coefficients, tile.stride(), sum);
    Base::settle(shared, t, sum);
  }

  /// The distance to the next prism is computed together with the field of this one: a square root takes
  /// long, and the two do not depend on each other.
  template <int Order>
  TERRANE_FN static void add(const SharedTile<Real>& tile, Real x, Real y, Real z,
                             const TileCoefficients<Real>* coefficients, int stride, Sums& sum) {
    struct Way {
      Real x, y, z, inverse, mass;
    };
    const auto way = [&](int p) {
      const auto source = tile.source[p];
      Way w{x - source.x, y - source.y, z - source.z, Real(0), source.mass};
      w.inverse = inverse_square_root(w.x * w.x + (w.y * w.y + w.z * w.z));
      return w;
    };
    constexpr int turns = 4;
    static_assert(device_tile % turns == 0);
    Way next = way(0);
    for (int first = 0; first < tile.count(); first += turns)
      unrolled<turns>([&](auto turn) {
        const Way w = next;
        next = way(first + turn + 1);
        add_multipole<Order>(coefficients[(first + turn) * stride], w.x, w.y, w.z, w.inverse, w.mass, sum);
      });
  }
};

template <unsigned Bits, class Real>
struct NearField : TileKernelOnDevice<Bits, Real, TilePieces> {
  using Base = TileKernelOnDevice<Bits, Real, TilePieces>;
  using typename Base::Sums;
  using typename Base::Thread;
  static constexpr bool uu_by_laplace = Base::uu_by_laplace;
  static constexpr int groups_at_once = 8;
  struct Shared {
    SharedTile<Real> tile;
    RunningSums<Bits> total;
    double low[3][device_tile], high[3][device_tile], density[device_tile];
    double longest[device_tile], multipole2[device_tile], stable_h2[device_tile];
    bool stretched[device_tile];
    std::uint32_t first;
  };

  View<HostPair> host_pairs;  ///< the pairs that the host computes; those beyond its size are not stored
  View<std::uint64_t> found;  ///< one element: number of all pairs for the host, also those not stored

  TERRANE_FN void load(Shared& shared, Thread& thread, std::size_t, std::size_t step, int t) const {
    const auto& tile = this->tile(thread, step);
    shared.tile.load(this->earth, tile, thread.known_shape, 8, t);
    if (t == 0) shared.first = tile.first;
    if (t >= static_cast<int>(tile.count)) return;
    const std::size_t n = tile.first + static_cast<std::size_t>(t);
    for (int a = 0; a < 3; ++a) {
      shared.low[a][t] = this->earth.low[a][n];
      shared.high[a][t] = this->earth.high[a][n];
    }
    shared.density[t] = this->earth.density[n];
    const PrismSwitching limits(this->earth.switching, shared.high[0][t] - shared.low[0][t],
                                shared.high[1][t] - shared.low[1][t], shared.high[2][t] - shared.low[2][t]);
    shared.longest[t] = limits.longest;
    shared.multipole2[t] = limits.multipole2_8;
    shared.stable_h2[t] = limits.stable_h2;
    shared.stretched[t] = limits.stretched;
  }

  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t group, std::size_t, int t) const {
    const auto& tile = shared.tile;
    const std::size_t station = this->lists.station_group(group) * device_tile + static_cast<std::size_t>(t);
    Sums sum;
    DeviceSums<Bits, double> close;  // sums of close pairs, in SI units
    sum.clear();
    close.clear();
    for (int p = 0; p < tile.count(); ++p) {
      RelativePrism<double> prism{{shared.low[0][p] - thread.x, shared.high[0][p] - thread.x},
                                  {shared.low[1][p] - thread.y, shared.high[1][p] - thread.y},
                                  {shared.low[2][p] - thread.z, shared.high[2][p] - thread.z},
                                  shared.high[0][p] - shared.low[0][p],
                                  shared.high[1][p] - shared.low[1][p],
                                  shared.high[2][p] - shared.low[2][p]};
      const double xc = -0.5 * (prism.x[0] + prism.x[1]), yc = -0.5 * (prism.y[0] + prism.y[1]),
                   zc = -0.5 * (prism.z[0] + prism.z[1]);  // the station, relative to the centre
      const double r2 = xc * xc + (yc * yc + zc * zc);
      if (group_all(r2 >= shared.multipole2[p])) {
        // The differences are computed in double: a tile may be large compared with the distance.
        sum.add(multipole<8, true>(
            tile.tile.shape == this->earth.common_shape ? this->earth.common
                                                        : tile.coefficients[p * tile.stride()],
            tile.in_units(xc), tile.in_units(yc), tile.in_units(zc), tile.source[p].mass));
        continue;
      }
      if (group_all(r2 >= BeyondThreeSides::from2 * shared.longest[p] * shared.longest[p])) {
        add_stable(prism, shared.density[p], tile, sum);
        continue;
      }
      const double hx = outside(prism.x), hy = outside(prism.y), hz = outside(prism.z);
      const double h2 = hx * hx + (hy * hy + hz * hz);
      const bool apart = h2 >= shared.stable_h2[p];
      // Whether the station is on the surface, inside, or near a stretched prism.
      const bool single = !apart && (shared.stretched[p] || h2 == 0);
      if (apart) close.add(shared.density[p], stable<AnyDistance, true>(prism));
      else if (!single) close.add(shared.density[p], edge_face<false>(prism));
      else if (station < this->stations.count) {
        const std::uint64_t at = fetch_add(found[0], 1);
        if (at < host_pairs.size)
          host_pairs[at] = {static_cast<std::uint32_t>(station),
                            shared.first + static_cast<std::uint32_t>(p)};
      }
    }
    Base::settle(shared, t, sum);
    shared.total.add(t, close);
  }

 private:
  /// Distance along one axis from the station to the prism, 0 between its faces.
  TERRANE_FN static double outside(const double (&faces)[2]) {
    return maximum(maximum(faces[0], -faces[1]), 0.0);
  }

  TERRANE_FN static void add_stable(const RelativePrism<double>& p, double density,
                                    const SharedTile<Real>& tile, Sums& sum) {
    if constexpr (sizeof(Real) == sizeof(double)) {
      sum.add(density, stable<BeyondThreeSides, true>(p));
    } else {
      const RelativePrism<Real> q{{tile.in_units(p.x[0]), tile.in_units(p.x[1])},
                                  {tile.in_units(p.y[0]), tile.in_units(p.y[1])},
                                  {tile.in_units(p.z[0]), tile.in_units(p.z[1])},
                                  tile.in_units(p.lx),
                                  tile.in_units(p.ly),
                                  tile.in_units(p.lz)};
      sum.add(static_cast<Real>(density / tile.tile.density), stable<BeyondThreeSides, true>(q));
    }
  }
};

/// The kernels of distant and of near pairs, for one set of channels. Real: the number type of pairs.
template <class Real>
struct DeviceKernels {
  void (*far)(Stream&, const DeviceEarth<Real>&, const DeviceStations&, const TileLists&,
              View<double> partial);
  void (*near)(Stream&, const DeviceEarth<Real>&, const DeviceStations&, const TilePieces&,
               View<double> partial, View<HostPair> host_pairs, View<std::uint64_t> found);
};

/// set: index in kernel_sets.
template <class Real>
const DeviceKernels<Real>& device_kernels(std::size_t set);

template <unsigned Bits, class Real>
DeviceKernels<Real> make_device_kernels() {
  return {[](Stream& stream, const DeviceEarth<Real>& earth, const DeviceStations& stations,
             const TileLists& lists, View<double> partial) {
            for_each_group(stream, std::size_t{lists.stations} * lists.chunks,
                           FarField<Bits, Real>{{earth, stations, lists, partial}});
          },
          [](Stream& stream, const DeviceEarth<Real>& earth, const DeviceStations& stations,
             const TilePieces& pieces, View<double> partial, View<HostPair> host_pairs,
             View<std::uint64_t> found) {
            for_each_group(stream, pieces.pieces.size,
                           NearField<Bits, Real>{{earth, stations, pieces, partial}, host_pairs, found});
          }};
}

}  // namespace terrane::gravity
