// Kernels of the tree on a device (cell_tree_device.cu): a group of threads does one step of cell_tree.hpp
// for one piece, cluster, gathering, or some stations or cells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "terrane/parallel/device/launch.hpp"
#include "terrane/physics/gravity/formula/harmonics.hpp"
#include "terrane/physics/gravity/tiles/device_kernels.hpp"
#include "terrane/physics/gravity/tree/expansion.hpp"

namespace terrane::gravity {

inline constexpr int halves = tile_size / device_tile;  // number of groups of stations in a tile
inline constexpr std::uint32_t slices_of_far = 4;  // parts of a tile's list of clusters, summed in parallel
/// The most cells whose moments one group of threads computes: few, so that a GPU has enough groups even if a
/// block has few clusters.
inline constexpr std::uint32_t cells_of_piece = 512;
inline constexpr std::uint32_t nobody = 0xffffffffU;  // index of no station, in padded tiles
inline constexpr int padded =
    device_tile + 1;  // row length in shared memory; an odd one spreads columns over all banks
inline constexpr int most_numbers = 2 * harmonic_count(most_degree);

constexpr int moment_count(int p) { return (p + 1) * (p + 2) * (p + 3) / 6; }
/// Index of the moment of x^a y^(s−a) z^c: moments are ordered by degree s + c.
TERRANE_FN constexpr int moment_place(int s, int a, int c) {
  const int n = s + c;
  return n * (n + 1) * (n + 2) / 6 + s * (s + 1) / 2 + a;
}

/// A cluster whose series are evaluated at some tiles of stations.
struct ServingCluster {
  double centre[3], inverse_scale;  ///< m, 1/m
  std::uint64_t series, factors;    ///< indices of the cluster's first numbers in the arrays of all clusters
  int order;                        ///< highest order that is used
  std::uint32_t first, count;       ///< range of the cluster's cells in the order of the tree
  /// Ranges of the cluster's pieces and gatherings in the lists of TreeView.
  std::uint32_t pieces, piece_count, gatherings, gathering_count;
};
/// Cells of a cluster whose moments one group of threads computes.
struct PieceOfCluster {
  std::uint64_t moments;                ///< index of the piece's first moment in the array of all pieces
  std::uint32_t cluster, first, count;  ///< index of the cluster; range of cells in the order of the tree
};
/// Tiles of stations over which one group of threads sums the series of a cluster.
struct GatheringOfCluster {
  std::uint64_t series;  ///< index of the gathering's first number in the array of all gatherings
  std::uint32_t cluster, first, last;  ///< index of the cluster; range of tiles in TreeView::by_cluster
};
/// A cluster and a tile of stations at which the cluster's series are evaluated, in one of two lists.
struct Served {
  std::uint32_t other;  ///< index of the cluster (in by_tile) or of the tile (in by_cluster)
  int order;            ///< order of the expansion that is accurate enough for the cluster and the tile
};
/// At most device_tile cells of a leaf near a tile of stations.
struct NearChunk {
  std::uint64_t entries;  ///< index in TreeView::near of the first cell, station and observable
  /// Range of the chunk's cells in the order of the tree; distance between the entries of successive
  /// stations.
  std::uint32_t first, count, stride;
};
/// A tile of stations near the cells of a leaf.
struct NearTile {
  std::uint64_t entries;  ///< index in TreeView::near of the leaf's first cell, first station and observable
  std::uint32_t tile, stations, stride;  ///< index of the tile; number of its stations; stride of NearChunk
};
/// At most device_tile cells of a leaf.
struct CellsOfLeaf {
  /// Range of the chunk's cells in the order of the tree; number of cells of the leaf before the chunk.
  std::uint32_t first, count, column;
  std::uint32_t first_tile, last_tile;  ///< range in TreeView::near_tiles of the tiles near the leaf
};

/// An entry of the sparse matrix that converts moments of a cluster to series; to be multiplied by
/// 1/scale^(1 + derivatives).
struct Factor {
  double value;
  std::uint32_t other;       ///< the column (in by_row) or the row (in by_column)
  std::int32_t derivatives;  ///< number of derivatives of the potential in the observable's quantities: 0 V,
                             ///< 1 g, 2 Γ
};

/// Divides the harmonics F_nm of a series of degree `top` into batches of at most device_tile. A batch
/// consists of whole columns; a column contains all n = m .. top of one m.
struct Batches {
  std::int32_t count[most_degree + 1];                   ///< [top] number of batches
  std::int32_t first[most_degree + 1][most_degree + 3];  ///< [top][batch] first m, and the end
  Batches() {
    for (int top = 0; top <= most_degree; ++top) {
      int batch = 0, numbers = 0;
      first[top][0] = 0;
      for (int m = 0; m <= top; ++m) {
        const int column = top - m + 1;
        if (numbers + column > device_tile) {
          first[top][++batch] = m;
          numbers = 0;
        }
        numbers += column;
      }
      count[top] = batch + 1;
      first[top][batch + 1] = top + 1;
    }
  }
};
static_assert(most_degree + 1 <= device_tile);
inline constexpr int most_columns = 7;  // most columns in a batch: the seven shortest, of 1, 2, … 7
                                        // harmonics, have 28 together
static_assert(most_columns * (most_columns + 1) / 2 <= device_tile);
static_assert((most_columns + 1) * (most_columns + 2) / 2 > device_tile);

struct MatrixView {
  /// [observables][rows or columns] index of the first Factor of each in by_row or by_column, and the end
  View<const std::uint32_t> row_start, column_start;
  View<const Factor> by_row, by_column;
  std::size_t rows, columns;  ///< size of the matrix of one observable
};

/// One tree on the device.
struct TreeView {
  View<const double> low[3], high[3];  ///< faces of cells, m, in the order of the tree
  View<const std::uint32_t> columns;   ///< index of each cell in the model
  View<const double> at[3];            ///< stations, m, in padded tiles
  View<const std::uint32_t> station;   ///< index of the station at each position in the tiles, or nobody
  View<const std::uint32_t> count;     ///< number of stations in each tile
  View<const ServingCluster> clusters;
  View<const PieceOfCluster> pieces;
  View<const GatheringOfCluster> gatherings;
  View<const Served> by_tile, by_cluster;  ///< pairs of a cluster and a tile, sorted by tile and by cluster
  View<const std::uint64_t> tile_start, cluster_start;  ///< first pair of each tile and cluster, and the end
  /// Chunk after chunk of device_tile cells: the clusters that contain at least one cell of the chunk.
  View<const std::uint32_t> around;
  View<const std::uint64_t> around_start;  ///< [chunks] index in `around` of the first cluster, and the end
  View<const NearChunk> near_chunks;       ///< chunks, tile after tile of stations
  View<const std::uint64_t> near_start;    ///< [tiles] index of the first in near_chunks, and the end
  View<const NearTile> near_tiles;         ///< tiles, leaf after leaf
  View<const CellsOfLeaf> leaves;
  View<const float> near;  ///< entries of G for near cells: [observable][station][cell] for a leaf and a tile
  std::size_t observables, stations;
  int degrees;  ///< degrees that the observables add to expansions

  TERRANE_FN std::size_t places() const { return station.size; }
  TERRANE_FN std::size_t station_groups() const { return station.size / device_tile; }
  TERRANE_FN int top(int order) const { return order + degrees; }
  TERRANE_FN int numbers(const ServingCluster& cluster) const {
    return 2 * harmonic_count(top(cluster.order));
  }
};

// ---- G ----

struct TakeCells {
  View<const double> model;
  View<const std::uint32_t> columns;
  View<double> own;
  TERRANE_FN void operator()(std::size_t i) const { own[i] = model[columns[i]]; }
};

/// Calls use(s, a) for the powers x^a y^(s−a), s ≤ order, whose moments thread t computes.
template <class Use>
TERRANE_FN void each_of_thread(int order, int t, const Use& use) {
  const int pairs = (order + 1) * (order + 2) / 2;
  int s = 0;
  for (int i = t; i < pairs; i += device_tile) {
    while ((s + 1) * (s + 2) / 2 <= i) ++s;
    use(s, i - s * (s + 1) / 2);
  }
}

/// Calls to(k, mean) with the mean of t^k over low ≤ t ≤ high, for k = 0 .. order.
template <class To>
TERRANE_FN void means_of(double low, double high, int order, const To& to) {
  double sum = 1, power = 1;
  to(0, 1.0);
  for (int k = 1; k <= order; ++k) {
    power *= low;
    sum = sum * high + power;
    to(k, sum / (k + 1));
  }
}

/// Computes the moments of pieces. A group of threads computes a piece; each thread computes, for some pairs
/// of powers of x and y, the moments with all powers of z. most: at least the order of every cluster
template <int most>
struct GatherMoments {
  static constexpr int groups_at_once = 6;
  struct Shared {
    double mean[3][most + 1][padded];
    double sum[moment_count(most)];
  };
  struct Thread {};
  TreeView tree;
  View<const double> own;
  View<double> moments;

  TERRANE_FN int order(std::size_t group) const { return tree.clusters[tree.pieces[group].cluster].order; }
  TERRANE_FN void begin(Shared& shared, Thread&, std::size_t group, int t) const {
    const int p = order(group);
    each_of_thread(p, t, [&](int s, int a) {
      for (int c = 0; s + c <= p; ++c) shared.sum[moment_place(s, a, c)] = 0;
    });
  }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    return (tree.pieces[group].count + device_tile - 1) / device_tile;
  }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const auto& piece = tree.pieces[group];
    const auto& cluster = tree.clusters[piece.cluster];
    const std::size_t place = step * device_tile + static_cast<std::size_t>(t);
    const bool real = place < piece.count;
    const std::size_t cell = piece.first + (real ? place : std::size_t{0});
    double mass = real ? own[cell] : 0.0;
    for (int axis = 0; axis < 3; ++axis) mass *= tree.high[axis][cell] - tree.low[axis][cell];
    for (int axis = 0; axis < 3; ++axis)
      means_of((tree.low[axis][cell] - cluster.centre[axis]) * cluster.inverse_scale,
               (tree.high[axis][cell] - cluster.centre[axis]) * cluster.inverse_scale, cluster.order,
               [&](int k, double mean) { shared.mean[axis][k][t] = axis == 0 ? mass * mean : mean; });
  }
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t group, std::size_t, int t) const {
    const int p = order(group);
    each_of_thread(p, t, [&](int s, int a) {
      double sum[most + 1];
      unrolled<most + 1>([&](auto c) { sum[c] = 0; });
      for (int cell = 0; cell < device_tile; ++cell) {
        const double q = shared.mean[0][a][cell] * shared.mean[1][s - a][cell];
        unrolled<most + 1>([&](auto c) {
          if (s + c <= p) sum[c] += q * shared.mean[2][c][cell];
        });
      }
      unrolled<most + 1>([&](auto c) {
        if (s + c <= p) shared.sum[moment_place(s, a, c)] += sum[c];
      });
    });
  }
  TERRANE_FN void end(Shared& shared, Thread&, std::size_t group, int t) const {
    const int p = order(group);
    each_of_thread(p, t, [&](int s, int a) {
      for (int c = 0; s + c <= p; ++c)
        moments[tree.pieces[group].moments + static_cast<std::size_t>(moment_place(s, a, c))] =
            shared.sum[moment_place(s, a, c)];
    });
  }
};

/// 1/scale^(1 + derivatives)
struct PowersOfScale {
  double of[3];
  TERRANE_FN explicit PowersOfScale(double inverse)
      : of{inverse, inverse * inverse, inverse * inverse * inverse} {}
};

/// Converts moments to series. A group of threads computes a cluster.
struct MakeSeries {
  static constexpr int groups_at_once = 8;
  struct Shared {
    double moment[moment_count(most_order)];
  };
  struct Thread {};
  TreeView tree;
  MatrixView matrix;
  View<const double> moments;
  View<double> series;

  TERRANE_FN void begin(Shared&, Thread&, std::size_t, int) const {}
  TERRANE_FN std::size_t steps(std::size_t) const { return 1; }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t, int t) const {
    const auto& cluster = tree.clusters[group];
    for (int k = t; k < moment_count(cluster.order); k += device_tile) {
      double sum = 0;
      for (std::uint32_t p = 0; p < cluster.piece_count; ++p)
        sum += moments[tree.pieces[cluster.pieces + p].moments + static_cast<std::size_t>(k)];
      shared.moment[k] = sum;
    }
  }
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t group, std::size_t, int t) const {
    const auto& cluster = tree.clusters[group];
    const PowersOfScale scale(cluster.inverse_scale);
    const auto moments_here = static_cast<std::uint32_t>(moment_count(cluster.order));
    const auto numbers = static_cast<std::size_t>(tree.numbers(cluster));
    for (auto i = static_cast<std::size_t>(t); i < tree.observables * numbers; i += device_tile) {
      const std::size_t row = i / numbers * matrix.rows + i % numbers;
      double value = 0;
      for (auto e = matrix.row_start[row]; e < matrix.row_start[row + 1]; ++e) {
        const Factor& f = matrix.by_row[e];
        if (f.other < moments_here) value += f.value * scale.of[f.derivatives] * shared.moment[f.other];
      }
      series[cluster.series + i] = value;
    }
  }
  TERRANE_FN void end(Shared&, Thread&, std::size_t, int) const {}
};

/// The harmonics F_nm (formula/harmonics.hpp) at a point (x, y, z) relative to a centre, in units of the
/// scale, computed column by column: m = 0 first, then next() for the next m.
struct HarmonicPoint {
  /// −z/r², 1/r², −(x + iy)/r² (real, imaginary part); F_mm and 2m + 1 of the present column.
  double down, inverse2, turn[2], first[2], odd;

  TERRANE_FN void place(double x, double y, double z) {
    const double inverse = inverse_square_root(x * x + (y * y + z * z));
    inverse2 = inverse * inverse;
    down = -z * inverse2;
    turn[0] = -x * inverse2;
    turn[1] = -y * inverse2;
    first[0] = inverse;
    first[1] = 0;
    odd = 1;
  }
  /// Calls use(n, F_nm / F_mm) for n = m .. top: F_(n+1)m r² = −(2n + 1) z F_nm − (n² − m²) F_(n−1)m
  template <class Use>
  TERRANE_FN void column(int m, int top, const Use& use) const {
    double f = 1, before = 0, a = odd, b = 0;
    for (int n = m; n <= top; ++n) {
      use(n, f);
      const double next = a * down * f - b * inverse2 * before;
      before = f;
      f = next;
      b += a;
      a += 2;
    }
  }
  /// Replaces F_mm by that of the next m: F_(m+1)(m+1) = (2m + 1) turn F_mm.
  TERRANE_FN void next() {
    const double real = odd * (first[0] * turn[0] - first[1] * turn[1]);
    first[1] = odd * (first[0] * turn[1] + first[1] * turn[0]);
    first[0] = real;
    odd += 2;
  }
};

/// Adds the values of `together` series at a point, Σ Re(N_nm F_nm) (tree/harmonic_series.hpp), to total.
/// number: the N_nm of the first series, n, m ≤ top; stride: distance in `number` between successive series
template <int together>
TERRANE_FN void add_series_at(HarmonicPoint point, const double* number, int stride, int top,
                              double (&total)[together]) {
  for (int m = 0; m <= top; ++m) {
    double re[together], im[together];
    unrolled<together>([&](auto k) { re[k] = im[k] = 0; });
    point.column(m, top, [&](int n, double f) {
      const double* const at = number + 2 * harmonic_place(n, m);
      unrolled<together>([&](auto k) {
        re[k] += at[k * stride] * f;
        im[k] += at[k * stride + 1] * f;
      });
    });
    unrolled<together>([&](auto k) { total[k] += re[k] * point.first[0] - im[k] * point.first[1]; });
    point.next();
  }
}

/// Evaluates series: sums [slice][observable][position in the tiles]. A group of threads computes device_tile
/// stations, one slice, and `together` observables.
template <int together>
struct EvaluateSeries {
  static constexpr int groups_at_once = together == 1 ? 20 : 12;
  struct Shared {
    double number[together * most_numbers];
    double centre[3], inverse_scale;
    int top;
  };
  struct Thread {
    double x, y, z, total[together];
  };
  TreeView tree;
  View<const double> series;
  View<double> sums;

  TERRANE_FN std::size_t passes() const { return (tree.observables + together - 1) / together; }
  TERRANE_FN std::size_t place(std::size_t group, int t) const {
    return group % tree.station_groups() * device_tile + static_cast<std::size_t>(t);
  }
  TERRANE_FN std::size_t tile(std::size_t group) const { return group % tree.station_groups() / halves; }
  TERRANE_FN std::size_t observable(std::size_t group) const {
    return group / tree.station_groups() % passes() * together;
  }
  TERRANE_FN std::size_t slice(std::size_t group) const { return group / tree.station_groups() / passes(); }
  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t group, int t) const {
    const std::size_t at = place(group, t);
    thread.x = tree.at[0][at];
    thread.y = tree.at[1][at];
    thread.z = tree.at[2][at];
    unrolled<together>([&](auto k) { thread.total[k] = 0; });
  }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    const std::size_t t = tile(group), count = tree.tile_start[t + 1] - tree.tile_start[t];
    if (group % halves * device_tile >= tree.count[t]) return 0;
    return (count + slices_of_far - 1 - slice(group)) / slices_of_far;
  }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const Served far = tree.by_tile[tree.tile_start[tile(group)] + slice(group) + step * slices_of_far];
    const auto& cluster = tree.clusters[far.other];
    const int top = tree.top(far.order), used = 2 * harmonic_count(top), stored = tree.numbers(cluster);
    if (t == 0) {
      for (int a = 0; a < 3; ++a) shared.centre[a] = cluster.centre[a];
      shared.inverse_scale = cluster.inverse_scale;
      shared.top = top;
    }
    unrolled<together>([&](auto k) {
      const std::size_t o = observable(group) + static_cast<std::size_t>(k);
      const double* const from = series.data + cluster.series + o * static_cast<std::size_t>(stored);
      for (int i = t; i < used; i += device_tile)
        shared.number[k * most_numbers + i] = o < tree.observables ? from[i] : 0.0;
    });
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t, std::size_t, int) const {
    HarmonicPoint point;
    point.place((thread.x - shared.centre[0]) * shared.inverse_scale,
                (thread.y - shared.centre[1]) * shared.inverse_scale,
                (thread.z - shared.centre[2]) * shared.inverse_scale);
    add_series_at<together>(point, shared.number, most_numbers, shared.top, thread.total);
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    unrolled<together>([&](auto k) {
      const std::size_t o = observable(group) + static_cast<std::size_t>(k);
      if (o < tree.observables)
        sums[(slice(group) * tree.observables + o) * tree.places() + place(group, t)] = thread.total[k];
    });
  }
};

/// Products with near entries: sums [observable][position in the tiles]. A group of threads computes
/// device_tile stations and one observable.
struct NearProduct {
  static constexpr int groups_at_once = 16;
  struct Shared {
    float entry[device_tile][padded];
    double model[device_tile];
  };
  struct Thread {
    double sum;
  };
  TreeView tree;
  View<const double> own;
  View<double> sums;

  TERRANE_FN std::size_t tile(std::size_t group) const { return group % tree.station_groups() / halves; }
  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t, int) const { thread.sum = 0; }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    const std::size_t t = tile(group);
    if (group % halves * device_tile >= tree.count[t]) return 0;
    return tree.near_start[t + 1] - tree.near_start[t];
  }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const std::size_t place = tile(group);
    const NearChunk& near = tree.near_chunks[tree.near_start[place] + step];
    const std::uint32_t count = tree.count[place], first = group % halves * device_tile,
                        here = minimum_of(count - first, std::uint32_t{device_tile});
    const bool real = static_cast<std::uint32_t>(t) < near.count;
    const std::size_t row = group / tree.station_groups() * count + first;
    const float* const from = tree.near.data + near.entries + row * near.stride + static_cast<std::size_t>(t);
    for (std::uint32_t s = 0; s < here; ++s)
      shared.entry[s][t] = real ? from[static_cast<std::size_t>(s) * near.stride] : 0.0F;
    shared.model[t] = real ? own[near.first + static_cast<std::size_t>(t)] : 0.0;
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t, std::size_t, int t) const {
    double sum = 0;
    for (int c = 0; c < device_tile; ++c) sum += double{shared.entry[t][c]} * shared.model[c];
    thread.sum += sum;
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    sums[group * device_tile + static_cast<std::size_t>(t)] = thread.sum;
  }

 private:
  TERRANE_FN static std::uint32_t minimum_of(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }
};

/// Adds far and near sums of a station, and stores the result at the caller's index of the station.
struct SumAtStations {
  TreeView tree;
  View<const double> far, near;
  View<double> sums;
  std::size_t first;  ///< index in `sums` of the first sum of this part
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t places = tree.places(), o = i / places;
    const std::uint32_t station = tree.station[i % places];
    if (station == nobody) return;
    double sum = 0;
    for (std::uint32_t s = 0; s < slices_of_far; ++s) sum += far[s * tree.observables * places + i];
    sums[first + o * tree.stations + station] = sum + near[i];
  }
};

// ---- Gᵀ ----

struct TakeData {
  TreeView tree;
  View<const double> data;
  View<double> weights;  ///< [observable][position in the tiles]
  TERRANE_FN void operator()(std::size_t i) const {
    const std::size_t o = i / tree.places();
    const std::uint32_t station = tree.station[i % tree.places()];
    weights[i] = station == nobody ? 0.0 : data[o * tree.stations + station];
  }
};

/// Collects series: Σ over stations of weight times F_nm (tree/harmonic_series.hpp). A group of threads
/// computes a gathering and an observable: first each thread fills the columns of a batch for one station,
/// then each adds up one number of the batch.
struct CollectSeries {
  static constexpr int groups_at_once = 12;
  struct Shared {
    double f[device_tile][padded];                              ///< [number within the batch][station]
    double re[most_columns][padded], im[most_columns][padded];  ///< [column within the batch][station]
    double sum[most_numbers];
    int top, first, numbers;
  };
  struct Thread {
    HarmonicPoint point;
    double weight;
  };
  TreeView tree;
  View<const Batches> batches;
  View<const double> weights;
  View<double> series;

  TERRANE_FN const GatheringOfCluster& gathering(std::size_t group) const {
    return tree.gatherings[group / tree.observables];
  }
  TERRANE_FN const ServingCluster& cluster(std::size_t group) const {
    return tree.clusters[gathering(group).cluster];
  }
  TERRANE_FN std::size_t batches_at_most(std::size_t group) const {
    return static_cast<std::size_t>(batches[0].count[tree.top(cluster(group).order)]);
  }
  TERRANE_FN void begin(Shared& shared, Thread&, std::size_t group, int t) const {
    for (int i = t; i < tree.numbers(cluster(group)); i += device_tile) shared.sum[i] = 0;
  }
  /// One step for each half tile and batch, and a last one, in which all sums are complete.
  TERRANE_FN std::size_t steps(std::size_t group) const {
    return std::size_t{gathering(group).last - gathering(group).first} * halves * batches_at_most(group) + 1;
  }
  TERRANE_FN void load(Shared& shared, Thread& thread, std::size_t group, std::size_t step, int t) const {
    const std::size_t all = batches_at_most(group), half = step / all % halves,
                      served = gathering(group).first + step / all / halves;
    const int batch = static_cast<int>(step % all);
    if (t == 0) shared.numbers = 0;
    if (served >= gathering(group).last) return;
    const Served far = tree.by_cluster[served];
    const int top = tree.top(far.order);
    if (batch >= batches[0].count[top] || half * device_tile >= tree.count[far.other]) return;
    if (batch == 0)
      place(thread, group, far.other * tile_size + half * device_tile + static_cast<std::size_t>(t));
    const int first = batches[0].first[top][batch], last = batches[0].first[top][batch + 1];
    int number = 0;
    for (int m = first; m < last; ++m) {
      shared.re[m - first][t] = thread.weight * thread.point.first[0];
      shared.im[m - first][t] = -thread.weight * thread.point.first[1];
      thread.point.column(m, top, [&](int, double f) { shared.f[number++][t] = f; });
      thread.point.next();
    }
    if (t > 0) return;
    shared.top = top;
    shared.first = first;
    shared.numbers = number;
  }
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t, std::size_t, int t) const {
    if (t >= shared.numbers) return;
    int m = shared.first, n = t;
    while (n > shared.top - m) n -= shared.top - m++ + 1;
    const double *const f = shared.f[t], *const re = shared.re[m - shared.first],
                        *const im = shared.im[m - shared.first];
    double sum[2] = {0, 0};
    for (int s = 0; s < device_tile; ++s) {
      sum[0] += f[s] * re[s];
      sum[1] += f[s] * im[s];
    }
    double* const to = shared.sum + 2 * harmonic_place(m + n, m);
    to[0] += sum[0];
    to[1] += sum[1];
  }
  TERRANE_FN void end(Shared& shared, Thread&, std::size_t group, int t) const {
    const int numbers = tree.numbers(cluster(group));
    double* const to =
        series.data + gathering(group).series + group % tree.observables * static_cast<std::size_t>(numbers);
    for (int i = t; i < numbers; i += device_tile) to[i] = shared.sum[i];
  }

 private:
  TERRANE_FN void place(Thread& thread, std::size_t group, std::size_t at) const {
    const auto& c = cluster(group);
    thread.point.place((tree.at[0][at] - c.centre[0]) * c.inverse_scale,
                       (tree.at[1][at] - c.centre[1]) * c.inverse_scale,
                       (tree.at[2][at] - c.centre[2]) * c.inverse_scale);
    thread.weight = weights[group % tree.observables * tree.places() + at];
  }
};

/// Adds the gatherings of a cluster, and computes the factor of each of its moments. A group of threads
/// computes a cluster, in one step per observable.
struct BringSeriesBack {
  static constexpr int groups_at_once = 16;
  struct Shared {
    double series[most_numbers];
  };
  struct Thread {};
  TreeView tree;
  MatrixView matrix;
  View<const double> series;
  View<double> factors;

  TERRANE_FN void begin(Shared&, Thread&, std::size_t, int) const {}
  TERRANE_FN std::size_t steps(std::size_t) const { return tree.observables; }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const auto& cluster = tree.clusters[group];
    const int numbers = tree.numbers(cluster);
    for (int i = t; i < numbers; i += device_tile) {
      double sum = 0;
      for (std::uint32_t g = 0; g < cluster.gathering_count; ++g)
        sum += series[tree.gatherings[cluster.gatherings + g].series +
                      step * static_cast<std::size_t>(numbers) + static_cast<std::size_t>(i)];
      shared.series[i] = sum;
    }
  }
  TERRANE_FN void work(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const auto& cluster = tree.clusters[group];
    const PowersOfScale scale(cluster.inverse_scale);
    for (int k = t; k < moment_count(cluster.order); k += device_tile) {
      const std::size_t column = step * matrix.columns + static_cast<std::size_t>(k);
      double value = 0;
      for (auto e = matrix.column_start[column]; e < matrix.column_start[column + 1]; ++e) {
        const Factor& f = matrix.by_column[e];
        value += f.value * scale.of[f.derivatives] * shared.series[f.other];
      }
      double& to = factors[cluster.factors + static_cast<std::size_t>(k)];
      to = step == 0 ? value : to + value;
    }
  }
  TERRANE_FN void end(Shared&, Thread&, std::size_t, int) const {}
};

/// Sets the value of each cell to the sum over the clusters that contain the cell. A group of threads
/// computes device_tile cells.
template <int most>
struct PassDown {
  static constexpr int groups_at_once = most > 12 ? 6 : 12;
  struct Shared {
    double factor[moment_count(most)];
    /// [axis][power][thread] means of powers of x and of y over a cell.
    double mean[2][most + 1][device_tile];
  };
  struct Thread {
    double low[3], high[3], volume, sum;
  };
  TreeView tree;
  View<const double> factors;
  View<double> own;

  TERRANE_FN std::size_t cell(std::size_t group, int t) const {
    return group * device_tile + static_cast<std::size_t>(t);
  }
  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t group, int t) const {
    thread.sum = 0;
    if (cell(group, t) >= own.size) return;
    thread.volume = 1;
    for (int a = 0; a < 3; ++a) {
      thread.low[a] = tree.low[a][cell(group, t)];
      thread.high[a] = tree.high[a][cell(group, t)];
      thread.volume *= thread.high[a] - thread.low[a];
    }
  }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    return tree.around_start[group + 1] - tree.around_start[group];
  }
  TERRANE_FN const ServingCluster& cluster(std::size_t group, std::size_t step) const {
    return tree.clusters[tree.around[tree.around_start[group] + step]];
  }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const auto& c = cluster(group, step);
    for (int k = t; k < moment_count(c.order); k += device_tile)
      shared.factor[k] = factors[c.factors + static_cast<std::size_t>(k)];
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t group, std::size_t step, int t) const {
    const auto& c = cluster(group, step);
    const std::size_t here = cell(group, t);
    if (here < c.first || here >= std::size_t{c.first} + c.count) return;
    const int p = c.order;
    double low[3], high[3], z[most + 1];
    for (int a = 0; a < 3; ++a) {
      low[a] = (thread.low[a] - c.centre[a]) * c.inverse_scale;
      high[a] = (thread.high[a] - c.centre[a]) * c.inverse_scale;
    }
    for (int a = 0; a < 2; ++a)
      means_of(low[a], high[a], p, [&](int k, double mean) { shared.mean[a][k][t] = mean; });
    double power = 1, sum_z = 1, sum = 0;
    z[0] = 1;
    unrolled<most>([&](auto k) {
      power *= low[2];
      sum_z = sum_z * high[2] + power;
      z[k + 1] = sum_z * (1.0 / (k + 2));
    });
    for (int s = 0; s <= p; ++s)
      for (int a = 0; a <= s; ++a) {
        double q = 0;
        int place = moment_place(s, a, 0), further = (s + 1) * (s + 2) / 2;
        unrolled<most + 1>([&](auto k) {
          if (s + k > p) return;
          q += shared.factor[place] * z[k];
          place += further;
          further += s + k + 2;
        });
        sum += shared.mean[0][a][t] * shared.mean[1][s - a][t] * q;
      }
    thread.sum += thread.volume * sum;
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    if (cell(group, t) < own.size) own[cell(group, t)] = thread.sum;
  }
};

/// Adds to the value of each cell the sum, over near stations, of entries or of their squares, times weights.
/// A group of threads computes some cells of a leaf, in one step per tile and observable.
template <bool squares>
struct AddNear {
  static constexpr int groups_at_once = 24;
  struct Shared {
    double weight[tile_size];
  };
  struct Thread {
    double sum;
  };
  TreeView tree;
  View<const double> weights;
  View<double> own;

  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t, int) const { thread.sum = 0; }
  TERRANE_FN std::size_t steps(std::size_t group) const {
    const auto& leaf = tree.leaves[group];
    return (leaf.last_tile - leaf.first_tile) * tree.observables;
  }
  TERRANE_FN const NearTile& near(std::size_t group, std::size_t step) const {
    return tree.near_tiles[tree.leaves[group].first_tile + step / tree.observables];
  }
  TERRANE_FN void load(Shared& shared, Thread&, std::size_t group, std::size_t step, int t) const {
    const double* const from = weights.data + step % tree.observables * tree.places() +
                               std::size_t{near(group, step).tile} * tile_size;
    for (int s = t; s < tile_size; s += device_tile) shared.weight[s] = from[s];
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t group, std::size_t step, int t) const {
    const auto& leaf = tree.leaves[group];
    if (static_cast<std::uint32_t>(t) >= leaf.count) return;
    const NearTile& at = near(group, step);
    const float* from = tree.near.data + at.entries + step % tree.observables * at.stations * at.stride +
                        leaf.column + static_cast<std::size_t>(t);
    double sum = 0;
    for (std::uint32_t s = 0; s < at.stations; ++s, from += at.stride) {
      const double entry = *from;
      sum += (squares ? entry * entry : entry) * shared.weight[s];
    }
    thread.sum += sum;
  }
  TERRANE_FN void end(Shared&, Thread& thread, std::size_t group, int t) const {
    const auto& leaf = tree.leaves[group];
    if (static_cast<std::uint32_t>(t) < leaf.count)
      own[leaf.first + static_cast<std::size_t>(t)] += thread.sum;
  }
};

struct PutCells {
  View<const double> own;
  View<const std::uint32_t> columns;
  View<double> model;
  TERRANE_FN void operator()(std::size_t i) const { model[columns[i]] = own[i]; }
};

// ---- diag(GᵀWG) ----

/// Weighted sum of squares of the field of a unit of mass at a cluster's centre, over the stations at which
/// the cluster is evaluated. A group of threads computes a cluster.
struct SquaresOfPoints {
  static constexpr int groups_at_once = 16;
  static constexpr int numbers = 2 * harmonic_count(2);
  struct Shared {
    double series[numbers], sum[device_tile];
  };
  struct Thread {
    double sum;
  };
  TreeView tree;
  MatrixView matrix;
  View<const double> weights;
  View<double> squares;  ///< [clusters]

  TERRANE_FN std::size_t served(std::size_t group) const {
    return tree.cluster_start[group + 1] - tree.cluster_start[group];
  }
  TERRANE_FN void begin(Shared&, Thread& thread, std::size_t, int) const { thread.sum = 0; }
  /// One step for each observable and half tile, and a last one, in which all sums are complete.
  TERRANE_FN std::size_t steps(std::size_t group) const {
    return served(group) * halves * tree.observables + 1;
  }
  TERRANE_FN void load(Shared& shared, Thread& thread, std::size_t group, std::size_t step, int t) const {
    shared.sum[t] = thread.sum;
    const std::size_t o = step / (served(group) * halves);
    if (o >= tree.observables || t >= 2 * harmonic_count(tree.degrees)) return;
    const PowersOfScale scale(tree.clusters[group].inverse_scale);
    const std::size_t row = o * matrix.rows + static_cast<std::size_t>(t);
    double value = 0;
    for (auto e = matrix.row_start[row]; e < matrix.row_start[row + 1]; ++e)
      if (matrix.by_row[e].other == 0)
        value += matrix.by_row[e].value * scale.of[matrix.by_row[e].derivatives];
    shared.series[t] = value;
  }
  TERRANE_FN void work(Shared& shared, Thread& thread, std::size_t group, std::size_t step, int t) const {
    const std::size_t of_one = served(group) * halves, o = step / of_one;
    if (o >= tree.observables) return;
    const auto& c = tree.clusters[group];
    const std::uint32_t tile = tree.by_cluster[tree.cluster_start[group] + step % of_one / halves].other;
    const std::size_t at =
        std::size_t{tile} * tile_size + step % halves * device_tile + static_cast<std::size_t>(t);
    HarmonicPoint point;
    point.place((tree.at[0][at] - c.centre[0]) * c.inverse_scale,
                (tree.at[1][at] - c.centre[1]) * c.inverse_scale,
                (tree.at[2][at] - c.centre[2]) * c.inverse_scale);
    double value[1] = {0};
    add_series_at<1>(point, shared.series, numbers, tree.degrees, value);
    thread.sum += weights[o * tree.places() + at] * value[0] * value[0];
  }
  TERRANE_FN void end(Shared& shared, Thread&, std::size_t group, int t) const {
    if (t > 0) return;
    double sum = 0;
    for (int s = 0; s < device_tile; ++s) sum += shared.sum[s];
    squares[group] = sum;
  }
};

struct PassSquaresDown {
  TreeView tree;
  View<const double> squares;
  View<double> own;
  TERRANE_FN void operator()(std::size_t i) const {
    double volume = 1, sum = 0;
    for (int a = 0; a < 3; ++a) volume *= tree.high[a][i] - tree.low[a][i];
    for (auto k = tree.around_start[i / device_tile]; k < tree.around_start[i / device_tile + 1]; ++k) {
      const auto& c = tree.clusters[tree.around[k]];
      if (i >= c.first && i < std::size_t{c.first} + c.count) sum += squares[tree.around[k]];
    }
    own[i] = sum * volume * volume;
  }
};

}  // namespace terrane::gravity
