// The tree of cell_tree.hpp on a device, which stores its lists, its near entries and all vectors of a
// product.
//
//   moments of clusters, Σ ρ <x^a><y^b><z^c>  →  series in harmonics  →  their sums at the stations
//   weights of the stations  →  series  →  factors of the moments  →  sums over clusters at the cells
//
// One sparse matrix converts moments to series for all clusters, with powers of their scales; its columns are
// used for the transpose. A series is stored by degree, N_nm at n (n + 1)/2 + m, so that its first numbers
// are the series of any lower order. The order of summation depends on the lists alone: products are bitwise
// the same on one kind of device, and equal those of the CPU to rounding.
//
// Minimum cost of a product: reading 4 bytes of every near entry; per cell (p + 1)(p + 2)(p + 3)/6
// multiply-adds for each cluster that contains it, and per station 4 (p + 1)² for each cluster evaluated
// there, both in double precision.
#include <algorithm>
#include <array>
#include <cmath>

#include "terrane/parallel/device/pinned.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/sensitivity/cell_tree_kernels.hpp"
#include "terrane/physics/gravity/sensitivity/device_operators.hpp"
#include "terrane/physics/gravity/sensitivity/tree_operator.hpp"
#include "terrane/physics/gravity/tree/harmonic_series.hpp"

namespace terrane::gravity {

namespace {

/// The matrix that converts moments to series of all observables, on the host.
struct SeriesMatrix {
  std::vector<std::uint32_t> row_start{0}, column_start{0};
  std::vector<Factor> by_row, by_column;
  std::size_t rows, columns;

  SeriesMatrix(const std::vector<Observable>& observables, int order, int degrees)
      : rows(static_cast<std::size_t>(2 * harmonic_count(order + degrees))),
        columns(static_cast<std::size_t>(moment_count(order))) {
    for (const auto& one : observables) {
      std::vector<std::vector<Factor>> of_row(rows), of_column(columns);
      for (int derivatives = 0; derivatives <= 2; ++derivatives) {
        std::array<double, channel_count> weight{};
        for (std::size_t c = 0; c < channel_count; ++c)
          if ((c == 0 ? 0 : c < 4 ? 1 : 2) == derivatives) weight[c] = one.weight[c];
        if (std::all_of(weight.begin(), weight.end(), [](double w) { return w == 0; })) continue;
        add(weight, order, order + degrees, derivatives, of_row, of_column);
      }
      append(of_row, by_row, row_start);
      append(of_column, by_column, column_start);
    }
  }

 private:
  using Lists = std::vector<std::vector<Factor>>;

  static void append(const Lists& lists, std::vector<Factor>& all, std::vector<std::uint32_t>& start) {
    for (const auto& list : lists) {
      all.insert(all.end(), list.begin(), list.end());
      start.push_back(static_cast<std::uint32_t>(all.size()));
    }
  }
  /// The coefficients C_k of the moment <x^a><y^b><z^c> alone: (−1)^|k|/k!, with ∂z² = −∂x² − ∂y² for all
  /// pairs of z.
  static std::vector<double> expansion_of(int order, int a, int b, int c) {
    std::vector<double> made(static_cast<std::size_t>(coefficient_count(order)));
    double value = (a + b + c) % 2 ? -1 : 1;
    for (const int k : {a, b, c})
      for (int i = 2; i <= k; ++i) value /= i;
    const int pairs = c / 2, m = a + b + 2 * pairs;
    if (pairs % 2) value = -value;
    for (int j = 0; j <= pairs; ++j) {
      const int x = a + 2 * j, place = c % 2 ? (m + 1) * (m + 1) + m + 2 + x : m * m + x;
      made[static_cast<std::size_t>(place)] += value;
      value = value * (pairs - j) / (j + 1);
    }
    return made;
  }
  static void add(const std::array<double, channel_count>& weight, int order, int top, int derivatives,
                  Lists& of_row, Lists& of_column) {
    std::vector<double> series(static_cast<std::size_t>(series_count(top)));
    for (int s = 0; s <= order; ++s)
      for (int a = 0; a <= s; ++a)
        for (int c = 0; s + c <= order; ++c) {
          const auto column = static_cast<std::size_t>(moment_place(s, a, c));
          make_series(weight, 1, order, expansion_of(order, a, s - a, c).data(), top, series.data());
          const int n = s + c + derivatives;  // a moment of one degree gives harmonics of one degree
          double odd = 1;                     // (2n − 1)!!, a factor in make_series() only
          for (int i = 1; i < n; ++i) odd *= 2 * i + 1;
          for (int m = 0; m <= n; ++m) {
            int place = 0;
            for (int k = 0; k < m; ++k) place += 2 * (top - k + 1);
            place += 2 * (n - m);
            for (int part = 0; part < 2; ++part) {
              const double value = series[static_cast<std::size_t>(place + part)] / odd;
              if (value == 0) continue;
              const auto row = static_cast<std::size_t>(2 * harmonic_place(n, m) + part);
              of_row[row].push_back({value, static_cast<std::uint32_t>(column), derivatives});
              of_column[column].push_back({value, static_cast<std::uint32_t>(row), derivatives});
            }
          }
        }
  }
};

/// One of several trees, copied from the host.
class CellTreeOnDevice {
 public:
  CellTreeOnDevice(Stream& stream, const CellTree::Contents& tree) {
    bring_cells(stream, tree);
    bring_stations(stream, tree);
    bring_clusters(stream, tree);
    bring_near(stream, tree);
    view_.observables = tree.observables;
    view_.stations = tree.stations;
    view_.degrees = tree.degrees;
  }
  const TreeView& view() const { return view_; }
  std::size_t cells() const { return cells_; }
  int order() const { return order_; }
  std::size_t moments() const { return moments_; }
  std::size_t factors() const { return factors_; }
  std::size_t series() const { return series_; }
  std::size_t collected() const { return collected_; }
  double bytes() const { return bytes_; }

 private:
  template <class T>
  View<const T> bring(Stream& stream, const std::vector<T>& list) {
    auto buffer = std::make_shared<Buffer<T>>(stream.device(), std::max<std::size_t>(1, list.size()));
    buffer->upload(stream, list);
    kept_.push_back(buffer);
    bytes_ += static_cast<double>(buffer->size() * sizeof(T));
    return {buffer->view().data, list.size()};
  }
  void bring_cells(Stream& stream, const CellTree::Contents& tree) {
    const auto& c = tree.cells;
    cells_ = c.size();
    const std::vector<double>*const low[3] = {&c.west, &c.south, &c.bottom}, *const high[3] = {
                                                                                 &c.east, &c.north, &c.top};
    for (int a = 0; a < 3; ++a) {
      view_.low[a] = bring(stream, *low[a]);
      view_.high[a] = bring(stream, *high[a]);
    }
    view_.columns = bring(stream, tree.columns);
  }
  void bring_stations(Stream& stream, const CellTree::Contents& tree) {
    const auto& receivers = tree.receivers;
    std::vector<double> at[3];
    std::vector<std::uint32_t> station, count;
    for (std::size_t t = 0; t < receivers.tiles(); ++t) {
      const auto& tile = receivers.tile(t);
      count.push_back(static_cast<std::uint32_t>(tile.count));
      for (int s = 0; s < tile_size; ++s) {
        const int here = std::min(s, tile.count - 1);
        at[0].push_back(tile.x[here]);
        at[1].push_back(tile.y[here]);
        at[2].push_back(tile.z[here]);
        station.push_back(s < tile.count ? static_cast<std::uint32_t>(receivers.station(t, s)) : nobody);
      }
    }
    for (int a = 0; a < 3; ++a) view_.at[a] = bring(stream, at[a]);
    view_.station = bring(stream, station);
    view_.count = bring(stream, count);
  }
  /// Uploads clusters with their pieces, gatherings, tiles and cells.
  void bring_clusters(Stream& stream, const CellTree::Contents& tree) {
    std::vector<ServingCluster> clusters;
    std::vector<PieceOfCluster> pieces;
    std::vector<GatheringOfCluster> gatherings;
    for (const auto& c : tree.clusters) {
      order_ = std::max(order_, c.order);
      const auto numbers =
          static_cast<std::size_t>(2 * harmonic_count(c.order + tree.degrees)) * tree.observables;
      clusters.push_back({{c.at.centre[0], c.at.centre[1], c.at.centre[2]},
                          1 / c.at.scale,
                          series_,
                          factors_,
                          c.order,
                          c.first,
                          c.count,
                          0,
                          0,
                          static_cast<std::uint32_t>(c.gathers),
                          0});
      series_ += numbers;
      factors_ += static_cast<std::size_t>(moment_count(c.order));
    }
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      auto& cluster = clusters[c];
      cluster.pieces = static_cast<std::uint32_t>(pieces.size());
      cluster.piece_count = (cluster.count + cells_of_piece - 1) / cells_of_piece;
      for (std::uint32_t first = 0; first < cluster.count; first += cells_of_piece) {
        pieces.push_back({moments_, static_cast<std::uint32_t>(c), cluster.first + first,
                          std::min(cells_of_piece, cluster.count - first)});
        moments_ += static_cast<std::size_t>(moment_count(cluster.order));
      }
    }
    for (const auto& g : tree.gatherings) {
      auto& cluster = clusters[g.cluster];
      ++cluster.gathering_count;
      gatherings.push_back(
          {collected_, g.cluster, static_cast<std::uint32_t>(g.first), static_cast<std::uint32_t>(g.last)});
      collected_ +=
          static_cast<std::size_t>(2 * harmonic_count(cluster.order + tree.degrees)) * tree.observables;
    }
    std::vector<Served> by_tile, by_cluster;
    for (const auto& far : tree.far_by_tile) by_tile.push_back({far.cluster, far.order});
    for (const auto& far : tree.far_by_cluster) by_cluster.push_back({far.tile, far.order});
    view_.clusters = bring(stream, clusters);
    view_.pieces = bring(stream, pieces);
    view_.gatherings = bring(stream, gatherings);
    view_.by_tile = bring(stream, by_tile);
    view_.by_cluster = bring(stream, by_cluster);
    view_.tile_start = bring(stream, as_64_bits(tree.far_tile_start));
    view_.cluster_start = bring(stream, as_64_bits(tree.far_cluster_start));
    bring_around(stream, clusters);
  }
  void bring_around(Stream& stream, const std::vector<ServingCluster>& clusters) {
    const std::size_t chunks = (cells_ + device_tile - 1) / device_tile;
    std::vector<std::uint64_t> start(chunks + 1);
    const auto each = [&](const auto& use) {
      for (std::size_t c = 0; c < clusters.size(); ++c)
        for (std::size_t chunk = clusters[c].first / device_tile;
             chunk * device_tile < std::size_t{clusters[c].first} + clusters[c].count; ++chunk)
          use(chunk, static_cast<std::uint32_t>(c));
    };
    each([&](std::size_t chunk, std::uint32_t) { ++start[chunk + 1]; });
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) start[chunk + 1] += start[chunk];
    std::vector<std::uint32_t> around(start.back());
    auto next = start;
    each([&](std::size_t chunk, std::uint32_t c) { around[next[chunk]++] = c; });
    view_.around = bring(stream, around);
    view_.around_start = bring(stream, start);
  }
  void bring_near(Stream& stream, const CellTree::Contents& tree) {
    std::vector<NearChunk> chunks;
    std::vector<std::uint64_t> start{0};
    for (std::size_t t = 0; t + 1 < tree.near_tile_start.size(); ++t) {
      for (std::size_t i = tree.near_tile_start[t]; i < tree.near_tile_start[t + 1]; ++i) {
        const auto& near = tree.near_by_tile[i];
        for (std::uint32_t first = 0; first < near.count; first += device_tile)
          chunks.push_back({near.entries + first, near.first + first,
                            std::min<std::uint32_t>(device_tile, near.count - first), near.count});
      }
      start.push_back(chunks.size());
    }
    std::vector<NearTile> tiles;
    std::vector<CellsOfLeaf> leaves;
    for (std::size_t l = 0; l + 1 < tree.near_leaf_start.size(); ++l) {
      const auto first_tile = static_cast<std::uint32_t>(tiles.size());
      for (std::size_t i = tree.near_leaf_start[l]; i < tree.near_leaf_start[l + 1]; ++i) {
        const auto& near = tree.near_by_leaf[i];
        tiles.push_back({near.entries, near.tile,
                         static_cast<std::uint32_t>(tree.receivers.tile(near.tile).count), near.count});
      }
      const auto& leaf = tree.near_by_leaf[tree.near_leaf_start[l]];
      for (std::uint32_t first = 0; first < leaf.count; first += device_tile)
        leaves.push_back({leaf.first + first, std::min<std::uint32_t>(device_tile, leaf.count - first), first,
                          first_tile, static_cast<std::uint32_t>(tiles.size())});
    }
    view_.near_chunks = bring(stream, chunks);
    view_.near_start = bring(stream, start);
    view_.near_tiles = bring(stream, tiles);
    view_.leaves = bring(stream, leaves);
    view_.near = bring(stream, tree.near);
  }
  static std::vector<std::uint64_t> as_64_bits(const std::vector<std::size_t>& list) {
    return {list.begin(), list.end()};
  }

  TreeView view_{};
  std::vector<std::shared_ptr<void>> kept_;
  std::size_t cells_ = 0, moments_ = 0, factors_ = 0, series_ = 0, collected_ = 0;
  int order_ = 0;
  double bytes_ = 0;
};

class TreeSensitivityOnDevice final : public solve::PartedOperator {
 public:
  TreeSensitivityOnDevice(Device device, TreeSensitivity host, const std::vector<Observable>& observables,
                          int threads)
      : stream_(device, false, threads), rows_(host.rows()), columns_(host.columns()), held_(host.held()) {
    for (std::size_t p = 0; p < host.parts(); ++p) blocks_.push_back(host.columns_of({p, p + 1}));
    int order = 0;
    for (std::size_t p = held_.first; p < held_.last; ++p) {
      const auto tree = host.take(p);
      trees_.push_back(std::make_unique<CellTreeOnDevice>(stream_, tree->contents()));
      order = std::max(order, trees_.back()->order());
    }
    int degrees = 0;
    for (const auto& one : observables) degrees = std::max(degrees, degrees_added(one.weight));
    const SeriesMatrix matrix(observables, order, degrees);
    row_start_ = Buffer(stream_, matrix.row_start);
    column_start_ = Buffer(stream_, matrix.column_start);
    by_row_ = Buffer(stream_, matrix.by_row);
    by_column_ = Buffer(stream_, matrix.by_column);
    matrix_ = {row_start_.view(), column_start_.view(), by_row_.view(),
               by_column_.view(), matrix.rows,          matrix.columns};
    order_ = order;
    batches_ = Buffer(stream_, std::vector<Batches>{Batches()});
    make_room();
  }

  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  std::size_t parts() const override { return blocks_.size(); }
  Range held() const override { return held_; }
  std::vector<std::uint32_t> columns_of(const Range& parts) const override {
    std::vector<std::uint32_t> all;
    for (std::size_t p = parts.first; p < parts.last; ++p)
      all.insert(all.end(), blocks_[p].begin(), blocks_[p].end());
    return all;
  }

  /// Bytes on the device.
  double bytes() const {
    std::size_t numbers = 0;
    for (const auto* vector : {&model_, &data_, &own_, &moments_, &series_, &far_, &near_, &sums_})
      numbers += vector->size();
    double sum = static_cast<double>(numbers * sizeof(double));
    for (const auto& tree : trees_) sum += tree->bytes();
    return sum;
  }

  void apply_parts(const Range& parts, std::span<const double> model, std::span<double> sums) const override {
    if (parts.size() == 0) return;
    upload_model(model);
    for (std::size_t p = parts.first; p < parts.last; ++p) product(tree(p), (p - parts.first) * rows_);
    sums_.download(stream_, sums.first(parts.size() * rows_));
  }
  void transpose_parts(const Range& parts, std::span<const double> data,
                       std::span<double> model) const override {
    each_part(parts, data, model, [&](const CellTreeOnDevice& tree) { transpose(tree); });
  }
  void diagonal_parts(const Range& parts, std::span<const double> weight,
                      std::span<double> diagonal) const override {
    each_part(parts, weight, diagonal, [&](const CellTreeOnDevice& tree) { add_squares(tree); });
  }

 private:
  const CellTreeOnDevice& tree(std::size_t part) const { return *trees_[part - held_.first]; }
  /// Allocates the arrays of products, as large as the largest of the trees needs.
  void make_room() {
    std::size_t cells = 1, clusters = 1, numbers = 1, moments = 1, places = 1, observables = 1;
    for (const auto& tree : trees_) {
      const auto& v = tree->view();
      cells = std::max(cells, tree->cells());
      clusters = std::max(clusters, v.clusters.size);
      numbers = std::max({numbers, tree->series(), tree->collected()});
      moments = std::max({moments, tree->moments(), tree->factors()});
      places = std::max(places, v.station.size);
      observables = v.observables;
    }
    model_ = Buffer<double>(stream_.device(), columns_);
    data_ = Buffer<double>(stream_.device(), rows_);
    own_ = Buffer<double>(stream_.device(), cells);
    moments_ = Buffer<double>(stream_.device(), std::max(moments, clusters));
    series_ = Buffer<double>(stream_.device(), numbers);
    far_ = Buffer<double>(stream_.device(), slices_of_far * observables * places);
    near_ = Buffer<double>(stream_.device(), observables * places);
    sums_ = Buffer<double>(stream_.device(), std::max<std::size_t>(1, held_.size() * rows_));
  }
  /// Copies the model through pinned memory, which all threads fill: from ordinary memory the transfer to a
  /// GPU has a tenth of the speed.
  void upload_model(std::span<const double> model) const {
    if (pinned_.size() == 0) pinned_ = PinnedBuffer<double>(stream_.device(), columns_);
    constexpr std::size_t chunk = 1 << 16;
    for_each((columns_ + chunk - 1) / chunk, stream_.threads(), [&](std::size_t c) {
      const std::size_t first = c * chunk;
      std::copy_n(model.data() + first, std::min(chunk, columns_ - first), pinned_.data() + first);
    });
    model_.upload_async(stream_, pinned_.span());
  }
  /// Calls use(a compile-time constant not less than the order).
  template <class Use>
  void with_order(const Use& use) const {
    if (order_ <= 8) use(std::integral_constant<int, 8>{});
    else if (order_ <= 12) use(std::integral_constant<int, 12>{});
    else if (order_ <= 16) use(std::integral_constant<int, 16>{});
    else use(std::integral_constant<int, most_order>{});
  }
  void product(const CellTreeOnDevice& tree, std::size_t first) const {
    const auto& v = tree.view();
    const View<double> own{own_.view().data, tree.cells()};
    terrane::for_each(stream_, tree.cells(), TakeCells{model_.view(), v.columns, own});
    with_order([&](auto most) {
      for_each_group(stream_, v.pieces.size, GatherMoments<decltype(most)::value>{v, own, moments_.view()});
    });
    for_each_group(stream_, v.clusters.size, MakeSeries{v, matrix_, moments_.view(), series_.view()});
    const auto evaluate = [&](auto together) {
      const EvaluateSeries<decltype(together)::value> kernel{v, series_.view(), far_.view()};
      for_each_group(stream_, v.station_groups() * kernel.passes() * slices_of_far, kernel);
    };
    if (v.observables == 1) evaluate(std::integral_constant<int, 1>{});
    else evaluate(std::integral_constant<int, 3>{});
    for_each_group(stream_, v.station_groups() * v.observables, NearProduct{v, own, near_.view()});
    terrane::for_each(stream_, v.places() * v.observables,
                      SumAtStations{v, far_.view(), near_.view(), sums_.view(), first});
  }
  void transpose(const CellTreeOnDevice& tree) const {
    const auto& v = tree.view();
    const View<double> own{own_.view().data, tree.cells()};
    for_each_group(stream_, v.gatherings.size * v.observables,
                   CollectSeries{v, batches_.view(), near_.view(), series_.view()});
    for_each_group(stream_, v.clusters.size, BringSeriesBack{v, matrix_, series_.view(), moments_.view()});
    with_order([&](auto most) {
      for_each_group(stream_, (tree.cells() + device_tile - 1) / device_tile,
                     PassDown<decltype(most)::value>{v, moments_.view(), own});
    });
    for_each_group(stream_, v.leaves.size, AddNear<false>{v, near_.view(), own});
  }
  void add_squares(const CellTreeOnDevice& tree) const {
    const auto& v = tree.view();
    const View<double> own{own_.view().data, tree.cells()};
    for_each_group(stream_, v.clusters.size, SquaresOfPoints{v, matrix_, near_.view(), moments_.view()});
    terrane::for_each(stream_, tree.cells(), PassSquaresDown{v, moments_.view(), own});
    for_each_group(stream_, v.leaves.size, AddNear<true>{v, near_.view(), own});
  }
  template <class Work>
  void each_part(const Range& parts, std::span<const double> data, std::span<double> model,
                 const Work& work) const {
    if (parts.size() == 0) return;
    data_.upload(stream_, data);
    for (std::size_t p = parts.first; p < parts.last; ++p) {
      const auto& v = tree(p).view();
      terrane::for_each(stream_, v.places() * v.observables, TakeData{v, data_.view(), near_.view()});
      work(tree(p));
      terrane::for_each(stream_, tree(p).cells(), PutCells{own_.view(), v.columns, model_.view()});
    }
    if (parts.size() == blocks_.size()) return model_.download(stream_, model);
    std::vector<double> all(columns_);
    model_.download(stream_, all);
    for (const auto c : columns_of(parts)) model[c] = all[c];
  }

  mutable Stream stream_;
  std::size_t rows_, columns_;
  Range held_;
  std::vector<std::vector<std::uint32_t>> blocks_;  ///< columns of each part
  std::vector<std::unique_ptr<CellTreeOnDevice>> trees_;
  int order_ = 0;  ///< highest order of all trees
  Buffer<std::uint32_t> row_start_, column_start_;
  Buffer<Factor> by_row_, by_column_;
  MatrixView matrix_{};
  Buffer<Batches> batches_;
  mutable PinnedBuffer<double> pinned_;
  mutable Buffer<double> model_, data_, own_, moments_, series_, far_, near_, sums_;
};

}  // namespace

std::shared_ptr<const solve::PartedOperator> tree_sensitivity_on_device(
    Device device, const SensitivityColumns& source, double accuracy, int threads, Progress* progress,
    solve::ShareOfParts share, double* bytes) {
  auto made = std::make_shared<TreeSensitivityOnDevice>(
      device, TreeSensitivity(source, accuracy, threads, progress, share), source.observables(), threads);
  if (bytes != nullptr) *bytes = made->bytes();
  return made;
}

/// An upper estimate, as if every cluster were evaluated at some stations with the highest order. It counts
/// the lists of all trees and the vectors of the largest.
double bytes_of_trees_on_device(const Tree& whole, const TreeCost& counted,
                                const std::vector<Observable>& observables, std::size_t trees) {
  const auto taken = CellTree::numbers(whole, counted, observables, trees);
  const double kinds = static_cast<double>(observables.size()), all = static_cast<double>(trees),
               moments = moment_count(whole.order()), places = taken.tiles * tile_size,
               pieces = taken.clusters + taken.levels * taken.cells / cells_of_piece;
  const double lists = taken.near * sizeof(float) +
                       taken.leaves_met * (3.0 * sizeof(NearChunk) + sizeof(NearTile)) +
                       2 * taken.meetings * sizeof(Served) + taken.clusters * sizeof(ServingCluster) +
                       pieces * sizeof(PieceOfCluster) + taken.gatherings * sizeof(GatheringOfCluster) +
                       taken.cells * (6 * sizeof(double) + sizeof(std::uint32_t)) +
                       (taken.cells / device_tile + all) * (taken.levels + 2) * sizeof(std::uint32_t) +
                       places * (3 * sizeof(double) + sizeof(std::uint32_t));
  constexpr double largest = 1.5;  // assumed ratio of the largest tree to the mean
  const double of_all = taken.cells + pieces * moments +
                        taken.gatherings * kinds * series_count(whole.order() + taken.degrees) +
                        (slices_of_far + 1) * kinds * places;
  const double vectors = taken.cells + largest * of_all / all + taken.rows * (all + 1);
  return lists + vectors * sizeof(double);
}

}  // namespace terrane::gravity
