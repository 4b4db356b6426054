// Minimum cost of a product: reading the near entries once, 4 bytes each; per cell (p + 1)(p + 2)(p + 3) / 6
// operations for each cluster that contains it and is evaluated at any station; per station 2.5
// (p + 2)(p + 3) for each cluster and observable evaluated there (harmonic_series.hpp).
#include "terrane/physics/gravity/sensitivity/cell_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"
#include "terrane/physics/gravity/tree/harmonic_series.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t clusters_per_task = 32, tiles_at_once = 8;

Prisms view_of(const PrismSet& p, std::span<const double> density) {
  return {p.west, p.east, p.south, p.north, p.bottom, p.top, density};
}

/// The cells from `first` on.
PrismColumns prism_columns(const PrismSet& p, std::size_t first, const double* density) {
  return {{p.west.data() + first, p.south.data() + first, p.bottom.data() + first},
          {p.east.data() + first, p.north.data() + first, p.top.data() + first},
          density};
}

double moments_of(int order) { return (order + 1) * (order + 2) * (order + 3) / 6.0; }

}  // namespace

// ---- what a product needs ----

CellTree::CellTree(PrismSet cells, std::vector<std::uint32_t> columns, const SensitivityColumns& source,
                   double accuracy, int threads, Progress& progress, const TaskSizes& sizes)
    : cells_(std::move(cells)),
      columns_(std::move(columns)),
      stations_(source.stations().size()),
      observables_(source.observables()),
      threads_(threads),
      sizes_(sizes),
      kernels_(expansion_kernels()) {
  for (const auto& o : observables_) degrees_ = std::max(degrees_, degrees_added(o.weight));
  const std::vector<double> unit_density(cells_.size(), 1.0);
  Tree tree(view_of(cells_, unit_density), source.stations().view(), channels_of(observables_), accuracy,
            threads, progress);
  tree.prepare(progress);
  receivers_ = tree.shared_receivers();
  constexpr int whole_packs = 8;
  for (std::size_t t = 0; t < receivers_->tiles(); ++t)
    stride_ = std::max<std::size_t>(
        stride_, (receivers_->tile(t).count + whole_packs - 1) / whole_packs * whole_packs);
  find_lists(tree, progress);
  cut_clusters();
  cut_tasks();
  const auto switching = Switching::for_accuracy(std::min(tree.pair_accuracy(), 1e-7));
  sort_cells(tree.prism_order());  // the tree is not needed from here on
  near_.make(cells_, *receivers_, observables_, switching, threads_, progress);
}

void CellTree::find_lists(const Tree& tree, Progress& progress) {
  const std::size_t tiles = receivers_->tiles(), observables = observables_.size();
  std::vector<std::vector<Tree::Meetings::Far>> far(tiles);
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> near(tiles);
  const auto meet = in_tasks(tiles, tiles_at_once, [&](std::size_t t) {
    if (progress.cancelled()) throw Cancelled();
    auto met = tree.meetings(receivers_->bounds(t));
    far[t] = std::move(met.far);
    for (const auto leaf : met.near) near[t].push_back(tree.prisms_of(leaf));
  });
  for_each(meet.count, threads_, meet.run);
  near_.list(near, *receivers_, observables);
  list_clusters(tree, far);
}

/// Lists the clusters that are evaluated at any tile of stations, each with its highest order; and the pairs
/// of cluster and tile, sorted by tile and sorted by cluster.
void CellTree::list_clusters(const Tree& tree, const std::vector<std::vector<Tree::Meetings::Far>>& met) {
  constexpr std::uint32_t none = 0xffffffffU;
  std::vector<int> order(tree.clusters(), -1);
  for (const auto& of_tile : met)
    for (const auto& one : of_tile) order[one.cluster] = std::max(order[one.cluster], int(one.order));
  std::vector<std::uint32_t> slot(tree.clusters(), none);
  for (std::size_t c = 0; c < tree.clusters(); ++c) {
    if (order[c] < 0) continue;
    slot[c] = static_cast<std::uint32_t>(clusters_.size());
    const auto [first, count] = tree.prisms_of(c);
    clusters_.push_back({tree.expansion(c), first, count, order[c], 0, 0, 0});
    clusters_.back().at.coefficients = nullptr;
  }
  far_tile_start_.assign(1, 0);
  for (std::size_t t = 0; t < met.size(); ++t) {
    for (const auto& one : met[t])
      far_by_tile_.push_back({slot[one.cluster], static_cast<std::uint32_t>(t), static_cast<int>(one.order)});
    far_tile_start_.push_back(far_by_tile_.size());
  }
  far_by_cluster_ = far_by_tile_;
  std::stable_sort(far_by_cluster_.begin(), far_by_cluster_.end(),
                   [](const Far& a, const Far& b) { return a.cluster < b.cluster; });
  far_cluster_start_.assign(clusters_.size() + 1, 0);
  for (const auto& one : far_by_cluster_) ++far_cluster_start_[one.cluster + 1];
  std::partial_sum(far_cluster_start_.begin(), far_cluster_start_.end(), far_cluster_start_.begin());
}

std::size_t CellTree::numbers_of(const Cluster& cluster) const {
  return observables_.size() * static_cast<std::size_t>(series_count(top_of(cluster.order)));
}

/// Divides large clusters into pieces and gatherings, whose sums are added in order; lists for each chunk of
/// cells the clusters that contain at least one of them.
void CellTree::cut_clusters() {
  const auto [cells_per_chunk, cells_per_piece, tiles_per_gathering] = sizes_;
  around_.resize((cells_.size() + cells_per_chunk - 1) / cells_per_chunk);
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    auto& cluster = clusters_[c];
    const auto number = static_cast<std::uint32_t>(c);
    const std::size_t last = std::size_t{cluster.first} + cluster.count;
    for (std::size_t chunk = cluster.first / cells_per_chunk; chunk * cells_per_chunk < last; ++chunk)
      around_[chunk].push_back(number);
    cluster.pieces = pieces_.size();
    for (std::size_t first = cluster.first; first < last; first += cells_per_piece) {
      pieces_.push_back({number, static_cast<std::uint32_t>(first),
                         static_cast<std::uint32_t>(std::min(cells_per_piece, last - first)), coefficients_});
      coefficients_ += static_cast<std::size_t>(coefficient_count(cluster.order));
    }
    cluster.gathers = gatherings_.size();
    const std::size_t end = far_cluster_start_[c + 1];
    for (std::size_t first = far_cluster_start_[c]; first < end; first += tiles_per_gathering) {
      gatherings_.push_back({number, first, std::min(first + tiles_per_gathering, end), collected_});
      collected_ += numbers_of(cluster);
    }
    cluster.series = series_;
    series_ += numbers_of(cluster);
  }
}

/// Divides the work into tasks of about the same cost: otherwise the last task of a product would occupy one
/// thread while the others wait.
void CellTree::cut_tasks() {
  const auto observables = static_cast<double>(observables_.size());
  const auto meeting = [&](const Far& far) {
    return 2.5 * static_cast<double>(stride_) * observables * series_count(top_of(far.order));
  };
  piece_tasks_ = cut_by_cost(pieces_.size(), [&](std::size_t i) {
    return moments_of(clusters_[pieces_[i].cluster].order) * pieces_[i].count;
  });
  gathering_tasks_ = cut_by_cost(gatherings_.size(), [&](std::size_t i) {
    const auto& g = gatherings_[i];
    return meeting(far_by_cluster_[g.first]) * static_cast<double>(g.last - g.first);
  });
  tile_tasks_ = cut_by_cost(receivers_->tiles(), [&](std::size_t t) {
    double sum = near_.work_of_tile(t, observables_.size(), *receivers_);
    for (std::size_t i = far_tile_start_[t]; i < far_tile_start_[t + 1]; ++i) sum += meeting(far_by_tile_[i]);
    return sum;
  });
  leaf_tasks_ = cut_by_cost(
      near_.leaves(), [&](std::size_t l) { return near_.work_of_leaf(l, observables_.size(), *receivers_); });
}

void CellTree::sort_cells(const std::vector<std::uint32_t>& order) {
  PrismSet sorted;
  sorted.reserve(order.size());
  std::vector<std::uint32_t> columns;
  columns.reserve(order.size());
  for (const auto n : order) {
    sorted.push_back(cells_[n]);
    columns.push_back(columns_[n]);
  }
  cells_ = std::move(sorted);
  columns_ = std::move(columns);
}

double CellTree::bytes() const {
  std::size_t around = 0;
  for (const auto& clusters : around_) around += clusters.size();
  const std::size_t tiles = receivers_->tiles(), numbers = coefficients_ + std::max(series_, collected_) +
                                                           clusters_.size() + cells_.size() +
                                                           tiles * observables_.size() * stride_;
  return near_.bytes() +
         static_cast<double>(2 * far_by_tile_.size() * sizeof(Far) + clusters_.size() * sizeof(Cluster) +
                             pieces_.size() * sizeof(Piece) + gatherings_.size() * sizeof(Gathering) +
                             around * sizeof(std::uint32_t) + numbers * sizeof(double) +
                             tiles * (sizeof(StationTile) + sizeof(Bounds)) +
                             stations_ * sizeof(std::uint32_t) +
                             cells_.size() * (6 * sizeof(double) + sizeof(std::uint32_t)));
}

CellTree::Numbers CellTree::numbers(const Tree& whole, const TreeCost& counted,
                                    const std::vector<Observable>& observables, std::size_t trees) {
  const TaskSizes sizes;
  const auto in = [](std::size_t n) { return static_cast<double>(n); };
  Numbers n{};
  for (const auto& o : observables) n.degrees = std::max(n.degrees, degrees_added(o.weight));
  // The estimated counts are multiplied by this factor for two reasons. First, they are from a sample of the
  // tiles. Second, they are for one tree: with several blocks, the accuracy of a block is relative to the
  // largest value of its own cells, which is less than that of all cells, so blocks have more near cells (up
  // to 17 % more for g_e and 16 blocks).
  constexpr double rather_more = 1.25;
  const double stations = in(whole.stations().size());
  n.cells = in(whole.prisms().size());
  n.rows = stations * in(observables.size());
  n.tiles = in(whole.receivers().tiles() * trees);
  n.clusters = in(whole.clusters());
  const double a_tile = std::max(1.0, stations * in(trees) / std::max(1.0, n.tiles));
  n.near = rather_more * counted.near_pairs * in(observables.size());
  n.meetings = rather_more * counted.expansions / a_tile + n.tiles;
  n.leaves_met = rather_more * counted.near_pairs / a_tile * n.clusters / std::max(1.0, n.cells);
  n.gatherings = n.clusters + n.meetings / in(sizes.tiles_per_gathering);
  n.levels = std::log2(std::max(2.0, n.clusters)) / 3;
  n.pieces = n.clusters + n.levels * n.cells / in(sizes.cells_per_piece);
  n.around = n.clusters + n.levels * n.cells / in(sizes.cells_per_chunk);
  return n;
}

/// Counts bytes as if every cluster were evaluated at some stations with the highest order. Large problems
/// needed 0.5 to 0.74 of this count (`met`: the mean of both), small ones more (`of_small_ones`).
double CellTree::bytes(const Tree& whole, const TreeCost& counted, const std::vector<Observable>& observables,
                       std::size_t trees) {
  const auto n = numbers(whole, counted, observables, trees);
  const double kinds = static_cast<double>(observables.size());
  const double doubles = n.pieces * coefficient_count(whole.order()) +
                         n.gatherings * kinds * series_count(whole.order() + n.degrees) + n.clusters +
                         n.cells + n.tiles * kinds * tile_size;
  constexpr double met = 0.62, of_small_ones = 2.1e6;
  return of_small_ones +
         met * (n.near * sizeof(float) + 2 * n.leaves_met * sizeof(Near) + 2 * n.meetings * sizeof(Far) +
                n.clusters * sizeof(Cluster) + n.pieces * sizeof(Piece) + n.gatherings * sizeof(Gathering) +
                n.around * sizeof(std::uint32_t) + doubles * sizeof(double) +
                n.tiles * (sizeof(StationTile) + sizeof(Bounds)) +
                n.rows / kinds * static_cast<double>(trees) * sizeof(std::uint32_t) +
                n.cells * (6 * sizeof(double) + sizeof(std::uint32_t)));
}

Series CellTree::series_of(const Cluster& cluster, const double* numbers) const {
  const auto& at = cluster.at;
  return {{at.centre[0], at.centre[1], at.centre[2]},
          at.scale,
          top_of(cluster.order),
          static_cast<int>(observables_.size()),
          numbers};
}

// ---- G ----

void CellTree::gather(const Piece& piece, const double* model, double* coefficients) const {
  const auto& cluster = clusters_[piece.cluster];
  std::fill_n(coefficients + piece.coefficients, coefficient_count(cluster.order), 0.0);
  kernels_.gather(prism_columns(cells_, piece.first, model + piece.first), nullptr, piece.count,
                  cluster.at.centre, cluster.at.scale, cluster.order, coefficients + piece.coefficients,
                  nullptr);
}

/// Adds up a cluster's pieces and writes the series of all observables.
void CellTree::make_series_of(std::size_t c, const double* coefficients, double* series) const {
  const auto& cluster = clusters_[c];
  double sum[coefficient_count(most_order)] = {};
  for (std::size_t p = cluster.pieces; p < pieces_.size() && pieces_[p].cluster == c; ++p)
    for (int k = 0; k < coefficient_count(cluster.order); ++k)
      sum[k] += coefficients[pieces_[p].coefficients + static_cast<std::size_t>(k)];
  const int top = top_of(cluster.order);
  for (std::size_t o = 0; o < observables_.size(); ++o)
    make_series(observables_[o].weight, cluster.at.scale, cluster.order, sum, top,
                series + cluster.series + o * static_cast<std::size_t>(series_count(top)));
}

void CellTree::evaluate(std::size_t t, const double* model, const double* series,
                        std::span<double> data) const {
  const auto& tile = receivers_->tile(t);
  const auto count = static_cast<std::size_t>(tile.count);
  std::vector<double> sums(observables_.size() * tile_size);
  for (std::size_t i = far_tile_start_[t]; i < far_tile_start_[t + 1]; ++i) {
    const auto& cluster = clusters_[far_by_tile_[i].cluster];
    kernels_.add_series(series_of(cluster, series + cluster.series), top_of(far_by_tile_[i].order), tile,
                        sums.data());
  }
  for (std::size_t o = 0; o < observables_.size(); ++o)
    for (std::size_t s = 0; s < count; ++s)
      data[o * stations_ + receivers_->station(t, static_cast<int>(s))] =
          near_.add_product(sums[o * tile_size + s], model, t, count, o, s);
}

Steps CellTree::product(std::span<const double> model, std::span<double> data) const {
  const auto own = scratch_.take(cells_.size()), coefficients = scratch_.take(coefficients_),
             series = scratch_.take(std::max(series_, collected_));
  return {
      in_tasks(cells_.size(), sizes_.cells_per_chunk,
               [=, this](std::size_t i) { own[i] = model[columns_[i]]; }),
      in_tasks(piece_tasks_, [=, this](std::size_t p) { gather(pieces_[p], own.get(), coefficients.get()); }),
      in_tasks(clusters_.size(), clusters_per_task,
               [=, this](std::size_t c) { make_series_of(c, coefficients.get(), series.get()); }),
      in_tasks(tile_tasks_, [=, this](std::size_t t) { evaluate(t, own.get(), series.get(), data); })};
}

// ---- Gᵀ ----

/// to: [tiles][observables][stride_], zero beyond the stations of a tile
Tasks CellTree::weights_at_tiles(std::span<const double> data, const std::shared_ptr<double[]>& to) const {
  return in_tasks(receivers_->tiles(), tiles_at_once, [=, this](std::size_t t) {
    for (std::size_t o = 0; o < observables_.size(); ++o) {
      double* const row = to.get() + (t * observables_.size() + o) * stride_;
      std::fill_n(row, stride_, 0.0);
      for (int s = 0; s < receivers_->tile(t).count; ++s)
        row[s] = data[o * stations_ + receivers_->station(t, s)];
    }
  });
}

void CellTree::collect(const Gathering& gathering, const double* weights, double* series) const {
  std::vector<ServedTile> tiles;
  tiles.reserve(gathering.last - gathering.first);
  for (std::size_t i = gathering.first; i < gathering.last; ++i) {
    const auto& far = far_by_cluster_[i];
    tiles.push_back(
        {&receivers_->tile(far.tile), top_of(far.order), weights + far.tile * observables_.size() * stride_});
  }
  kernels_.collect_series(series_of(clusters_[gathering.cluster], nullptr), tiles, stride_,
                          series + gathering.series);
}

/// Adds the gatherings of a cluster and converts them to factors of its expansion's coefficients, which are
/// stored in place of its first piece.
void CellTree::bring_series_back(std::size_t c, const double* series, double* coefficients) const {
  const auto& cluster = clusters_[c];
  const int top = top_of(cluster.order);
  const std::size_t numbers = numbers_of(cluster);
  std::vector<double> sum(numbers);
  for (std::size_t g = cluster.gathers; g < gatherings_.size() && gatherings_[g].cluster == c; ++g)
    for (std::size_t k = 0; k < numbers; ++k) sum[k] += series[gatherings_[g].series + k];
  double* const to = coefficients + pieces_[cluster.pieces].coefficients;
  std::fill_n(to, coefficient_count(cluster.order), 0.0);
  for (std::size_t o = 0; o < observables_.size(); ++o)
    add_transposed_series(observables_[o].weight, cluster.at.scale, cluster.order,
                          sum.data() + o * static_cast<std::size_t>(series_count(top)), top, to);
}

/// Sets the model of every cell to the sum over the clusters that contain the cell. pass(first, count,
/// cluster, sums) adds one cluster to the sums of its cells first .. first + count − 1, in the tree's order.
template <class Pass>
Tasks CellTree::pass_down(std::span<double> model, const Pass& pass) const {
  return {around_.size(), [=, this](std::size_t chunk) {
            const std::size_t first = chunk * sizes_.cells_per_chunk,
                              last = std::min(first + sizes_.cells_per_chunk, cells_.size());
            std::vector<double> sum(last - first);
            for (const auto c : around_[chunk]) {
              const auto& cluster = clusters_[c];
              const std::size_t from = std::max<std::size_t>(first, cluster.first),
                                to = std::min<std::size_t>(last, std::size_t{cluster.first} + cluster.count);
              pass(from, to - from, c, sum.data() + (from - first));
            }
            for (std::size_t i = first; i < last; ++i) model[columns_[i]] = sum[i - first];
          }};
}

/// Adds near entries times data to the model, leaf by leaf: add(entries of a row of G at the leaf's cells,
/// its datum, sums of the cells, number of cells) adds one row.
template <class Add>
Tasks CellTree::add_near(std::span<const double> data, std::span<double> model, const Add& add) const {
  return in_tasks(leaf_tasks_, [=, this](std::size_t l) {
    const auto& leaf = near_.by_leaf[near_.leaf_start[l]];
    std::vector<double> sum(leaf.count);
    near_.each_row(
        l, observables_.size(), stations_, *receivers_,
        [&](const float* entries, std::size_t row) { add(entries, data[row], sum.data(), leaf.count); });
    for (std::size_t p = 0; p < leaf.count; ++p) model[columns_[leaf.first + p]] += sum[p];
  });
}

Steps CellTree::transpose(std::span<const double> data, std::span<double> model) const {
  const auto weights = scratch_.take(receivers_->tiles() * observables_.size() * stride_),
             series = scratch_.take(std::max(series_, collected_)),
             coefficients = scratch_.take(coefficients_);
  return {weights_at_tiles(data, weights),
          in_tasks(gathering_tasks_,
                   [=, this](std::size_t g) { collect(gatherings_[g], weights.get(), series.get()); }),
          in_tasks(clusters_.size(), clusters_per_task,
                   [=, this](std::size_t c) { bring_series_back(c, series.get(), coefficients.get()); }),
          pass_down(model,
                    [=, this](std::size_t first, std::size_t count, std::uint32_t c, double* sum) {
                      const auto& cluster = clusters_[c];
                      kernels_.scatter(prism_columns(cells_, first, nullptr), nullptr, count,
                                       cluster.at.centre, cluster.at.scale, cluster.order,
                                       coefficients.get() + pieces_[cluster.pieces].coefficients, sum);
                    }),
          add_near(data, model, [this](const float* entries, double datum, double* to, std::size_t count) {
            near_.kernels.add(datum, entries, to, count);
          })};
}

// ---- diag(GᵀWG) ----

/// Weighted sum of squares of the field of a unit of mass at the cluster's centre, over the stations at which
/// the cluster is evaluated.
double CellTree::point_squares(const Cluster& cluster, std::span<const Far> met,
                               std::span<const double> weight) const {
  const double mass = 1;
  const auto count = static_cast<std::size_t>(series_count(degrees_));
  std::vector<double> numbers(observables_.size() * count), fields(observables_.size() * tile_size);
  for (std::size_t o = 0; o < observables_.size(); ++o)
    make_series(observables_[o].weight, cluster.at.scale, 0, &mass, degrees_, numbers.data() + o * count);
  auto point = series_of(cluster, numbers.data());
  point.top = degrees_;
  double sum = 0;
  for (const auto& far : met) {
    std::fill(fields.begin(), fields.end(), 0.0);
    kernels_.add_series(point, degrees_, receivers_->tile(far.tile), fields.data());
    for (std::size_t o = 0; o < observables_.size(); ++o)
      for (int s = 0; s < receivers_->tile(far.tile).count; ++s) {
        const double value = fields[o * tile_size + static_cast<std::size_t>(s)];
        sum += weight[o * stations_ + receivers_->station(far.tile, s)] * value * value;
      }
  }
  return sum;
}

Steps CellTree::diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  const auto squares = scratch_.take(clusters_.size());
  return {in_tasks(clusters_.size(), std::size_t{1},
                   [=, this](std::size_t c) {
                     const std::size_t first = far_cluster_start_[c];
                     squares[c] = point_squares(
                         clusters_[c],
                         std::span(far_by_cluster_).subspan(first, far_cluster_start_[c + 1] - first),
                         weight);
                   }),
          pass_down(diagonal,
                    [=, this](std::size_t first, std::size_t count, std::uint32_t c, double* sum) {
                      for (std::size_t i = 0; i < count; ++i) {
                        const auto p = cells_[first + i];
                        const double volume = (p.east - p.west) * (p.north - p.south) * (p.top - p.bottom);
                        sum[i] += squares[c] * volume * volume;
                      }
                    }),
          add_near(weight, diagonal, [](const float* entries, double w, double* to, std::size_t count) {
            for (std::size_t p = 0; p < count; ++p) to[p] += w * double{entries[p]} * double{entries[p]};
          })};
}

}  // namespace terrane::gravity
