// Minimum cost of a product: reading the near entries once, 4 bytes each; (p + 1)(p + 2)(p + 3) / 6
// operations per cell; (p + 2)⁴ / 6 per pair of cluster and box, for a pack at a time; about 9 (p + 3)² per
// station.
#include "terrane/physics/gravity/sensitivity/cell_fmm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t cells_per_chunk = 2048, moments_per_task = 8, boxes_per_task = 4;
// A near pair needs 0.8e-9 s in a product. Three times as much is counted, so that fewer pairs are computed
// as near ones: their stored entries need most of the memory, and most of the time to make G.
constexpr double seconds_per_kept_pair = 2.4e-9;
constexpr double point_angle = 0.25;  // largest size / distance of cells that the diagonal takes as points

PrismColumns prisms_from(const PrismSet& p, std::size_t first, const double* density) {
  return {{p.west.data() + first, p.south.data() + first, p.bottom.data() + first},
          {p.east.data() + first, p.north.data() + first, p.top.data() + first},
          density};
}

Expansion expansion_at(const LocalPlace& place, const double* numbers, double sign = 1) {
  return {{sign * place.centre[0], sign * place.centre[1], sign * place.centre[2]}, place.scale, numbers};
}
LocalPlace turned(const LocalPlace& place) {
  return {{-place.centre[0], -place.centre[1], -place.centre[2]}, place.scale};
}

double distance(const double (&a)[3], const double (&b)[3]) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/// The ten quantities of a unit of mass, G = 1, in the order of Channel; d: from it to the station.
std::array<double, channel_count> field_of_point(const double (&d)[3]) {
  const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], inverse = 1 / std::sqrt(r2),
               inverse3 = inverse / r2, five = 3 * inverse3 / r2;
  return {inverse,
          -d[0] * inverse3,
          -d[1] * inverse3,
          -d[2] * inverse3,
          five * d[0] * d[0] - inverse3,
          five * d[1] * d[1] - inverse3,
          five * d[2] * d[2] - inverse3,
          five * d[0] * d[1],
          five * d[0] * d[2],
          five * d[1] * d[2]};
}

}  // namespace

// ---- what a product needs ----

/// The highest order is lower than for fields. Some distant pairs thereby become near ones, which cost little
/// because their entries are stored. So products are as fast, and as accurate.
Fmm::Kept CellFmm::kept(double accuracy, std::size_t cells, std::size_t stations, std::size_t observables) {
  const int order =
      std::clamp(static_cast<int>(std::lround(8 - 1.5 * std::log10(accuracy))), 4, most_order - most_added);
  const double pair =
      seconds_per_kept_pair * static_cast<double>(observables) * kernel_target().kernels[0].lanes / 0.25e-9;
  return {cells > 16 * stations ? std::size_t{128} : std::size_t{32}, order, pair};
}

CellFmm::CellFmm(PrismSet cells, std::vector<std::uint32_t> columns, const SensitivityColumns& source,
                 double accuracy, int threads, Progress& progress)
    : cells_(std::move(cells)),
      columns_(std::move(columns)),
      stations_(source.stations().size()),
      observables_(source.observables()),
      threads_(threads),
      kernels_(expansion_kernels()),
      local_kernels_(local_kernels()) {
  const std::vector<double> unit_density(cells_.size(), 1.0);
  const auto view = [&] {
    return Prisms{cells_.west,   cells_.east, cells_.south, cells_.north,
                  cells_.bottom, cells_.top,  unit_density};
  };
  Switching switching = Switching::for_accuracy(1e-7);
  {
    Fmm fmm(view(), source.stations().view(), channels_of(observables_), accuracy, threads, progress,
            kept(accuracy, cells_.size(), stations_, observables_.size()));
    const auto served = fmm.served(progress);
    const Tree& tree = fmm.tree();
    receivers_ = tree.shared_receivers();
    tensor_ = tree.wants_tensor();
    added_ = fmm.added();
    take_boxes(fmm);
    take_pairs(fmm, served);
    take_clusters(fmm);
    list_gathered(fmm);
    list_by_cluster();
    number_expansions();
    switching = Switching::for_accuracy(std::min(tree.pair_accuracy(), 1e-7));
    PrismSet sorted;
    sorted.reserve(cells_.size());
    std::vector<std::uint32_t> sorted_columns;
    sorted_columns.reserve(cells_.size());
    for (const auto n : tree.prism_order()) {
      sorted.push_back(cells_[n]);
      sorted_columns.push_back(columns_[n]);
    }
    cells_ = std::move(sorted);
    columns_ = std::move(sorted_columns);
  }
  near_.make(cells_, *receivers_, observables_, switching, threads_, progress);
  tile_tasks_ = cut_by_cost(receivers_->tiles(), [&](std::size_t t) {
    return near_.work_of_tile(t, observables_.size(), *receivers_) + 3e4;
  });
  leaf_tasks_ = cut_by_cost(
      near_.leaves(), [&](std::size_t l) { return near_.work_of_leaf(l, observables_.size(), *receivers_); });
}

void CellFmm::take_boxes(const Fmm& fmm) {
  boxes_.resize(fmm.cells().size());
  box_of_tile_.resize(receivers_->tiles());
  std::uint32_t level = 0;
  box_levels_.assign(1, 0);
  for (std::size_t b = 0; b < boxes_.size(); ++b) {
    const auto& cell = fmm.cells()[b];
    auto& box = boxes_[b];
    box.place = cell.place;
    box.radius = cell.radius;
    box.tile = cell.first;
    box.child = cell.child;
    box.children = cell.children;
    if (b == 0) box.parent = 0;
    for (std::uint32_t c = 0; c < cell.children; ++c)
      boxes_[cell.child + c].parent = static_cast<std::uint32_t>(b);
    if (cell.leaf()) box_of_tile_[cell.first] = static_cast<std::uint32_t>(b);
    if (cell.level == level) continue;
    level = cell.level;
    box_levels_.push_back(b);
  }
  box_levels_.push_back(boxes_.size());
}

/// Lists the near entries, and the pairs of cluster and box, highest orders first. All pairs of a pack get
/// the order of its first, as M2L requires.
void CellFmm::take_pairs(const Fmm& fmm, const std::vector<Fmm::Served>& served) {
  const auto lanes = static_cast<std::size_t>(kernel_target().kernels[0].lanes);
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> near(receivers_->tiles());
  for (std::size_t b = 0; b < boxes_.size(); ++b) {
    auto& box = boxes_[b];
    auto local = served[b].local;
    std::stable_sort(local.begin(), local.end(),
                     [](const auto& one, const auto& other) { return one.order > other.order; });
    box.first_source = by_box_.size();
    for (std::size_t i = 0; i < local.size(); ++i)
      by_box_.push_back({local[i].cluster, local[i / lanes * lanes].order});
    box.last_source = by_box_.size();
    box.degree = b > 0 ? boxes_[box.parent].degree : -1;
    if (!local.empty()) box.degree = std::max(box.degree, local.front().order + added_);
    for (const auto leaf : served[b].near) near[box.tile].push_back(fmm.tree().prisms_of(leaf));
  }
  near_.list(near, *receivers_, observables_.size());
}

/// Determines which clusters have expansions, and of which order: the highest that a box needs, or that a
/// parent needs whose expansion is computed from those of its children.
void CellFmm::take_clusters(const Fmm& fmm) {
  const auto nodes = fmm.tree().nodes();
  clusters_.resize(nodes.size());
  for (const auto& pair : by_box_)
    clusters_[pair.other].order = std::max(clusters_[pair.other].order, pair.order);
  std::vector<std::uint32_t> level(nodes.size());
  cluster_levels_.assign(1, 0);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const auto& node = nodes[n];
    auto& cluster = clusters_[n];
    cluster.place = {{node.centre[0], node.centre[1], node.centre[2]}, node.scale};
    cluster.first = node.first;
    cluster.count = node.size();
    cluster.child = node.child;
    cluster.children = node.children;
    cluster.moves = cluster.order >= 0 && !fmm.tree().gathers(node);
    if (n > 0 && level[n] != level[n - 1]) cluster_levels_.push_back(n);
    for (std::uint32_t c = 0; c < node.children; ++c) {
      auto& child = clusters_[node.child + c];
      level[node.child + c] = level[n] + 1;
      if (cluster.moves && nodes[node.child + c].expanded())
        child.order = std::max(child.order, cluster.order);
    }
    if (node.children == 0) leaves_.push_back(static_cast<std::uint32_t>(n));
  }
  cluster_levels_.push_back(clusters_.size());
}

void CellFmm::number_expansions() {
  for (auto& cluster : clusters_) {
    cluster.numbers = cluster_numbers_;
    if (cluster.order >= 0) cluster_numbers_ += count_of(cluster.order);
  }
  for (auto& box : boxes_) {
    box.numbers = box_numbers_;
    if (box.degree >= 0) box_numbers_ += count_of(box.degree);
  }
}

/// Lists the cells from which each cluster's expansion is computed directly: all of its cells, or, if it is
/// computed from the children's expansions, the cells of children that have none.
void CellFmm::list_gathered(const Fmm& fmm) {
  const auto nodes = fmm.tree().nodes();
  for (std::size_t n = 0; n < clusters_.size(); ++n) {
    auto& cluster = clusters_[n];
    const auto number = static_cast<std::uint32_t>(n);
    cluster.first_gathered = gathered_.size();
    if (cluster.order >= 0 && !cluster.moves) gathered_.push_back({number, cluster.first, cluster.count});
    if (cluster.moves)
      for (std::uint32_t c = cluster.child; c < cluster.child + cluster.children; ++c)
        if (!nodes[c].expanded()) gathered_.push_back({number, nodes[c].first, nodes[c].size()});
    cluster.last_gathered = gathered_.size();
  }
  around_.resize((cells_.size() + cells_per_chunk - 1) / cells_per_chunk);
  for (std::size_t g = 0; g < gathered_.size(); ++g) {
    const std::size_t last = std::size_t{gathered_[g].first} + gathered_[g].count;
    for (std::size_t chunk = gathered_[g].first / cells_per_chunk; chunk * cells_per_chunk < last; ++chunk)
      around_[chunk].push_back(static_cast<std::uint32_t>(g));
  }
}

void CellFmm::list_by_cluster() {
  std::vector<std::size_t> start(clusters_.size() + 1);
  for (const auto& pair : by_box_) ++start[pair.other + 1];
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    start[c + 1] += start[c];
    clusters_[c].first_box = clusters_[c].last_box = start[c];
  }
  by_cluster_.resize(by_box_.size());
  for (std::size_t b = 0; b < boxes_.size(); ++b)
    for (std::size_t i = boxes_[b].first_source; i < boxes_[b].last_source; ++i)
      by_cluster_[clusters_[by_box_[i].other].last_box++] = {static_cast<std::uint32_t>(b), by_box_[i].order};
  for (const auto& cluster : clusters_)
    std::stable_sort(by_cluster_.begin() + static_cast<std::ptrdiff_t>(cluster.first_box),
                     by_cluster_.begin() + static_cast<std::ptrdiff_t>(cluster.last_box),
                     [](const Pair& a, const Pair& b) { return a.order > b.order; });
}

double CellFmm::bytes() const {
  std::size_t around = 0;
  for (const auto& some : around_) around += some.size();
  const std::size_t tiles = receivers_->tiles(), numbers = cluster_numbers_ + box_numbers_ + cells_.size();
  return near_.bytes() +
         static_cast<double>(2 * by_box_.size() * sizeof(Pair) + clusters_.size() * sizeof(Cluster) +
                             boxes_.size() * sizeof(Box) + gathered_.size() * sizeof(Gathered) +
                             (around + leaves_.size() + tiles + stations_) * sizeof(std::uint32_t) +
                             numbers * sizeof(double) + tiles * (sizeof(StationTile) + sizeof(Bounds)) +
                             cells_.size() * (6 * sizeof(double) + sizeof(std::uint32_t)));
}

double CellFmm::bytes(const Fmm& whole, const FmmCost& counted, std::size_t observables, std::size_t blocks) {
  const Tree& tree = whole.tree();
  const auto in = [](std::size_t n) { return static_cast<double>(n); };
  // A quarter is added, because the count is from a sample of the stations, and because several blocks
  // together have more interactions of boxes and clusters than one.
  constexpr double rather_more = 1.25;
  const double cells = in(tree.prisms().size()), stations = in(tree.stations().size()), times = in(blocks),
               tiles = in(tree.receivers().tiles()) * times, boxes = in(whole.cells().size()) * times,
               near = rather_more * counted.near_pairs, a_tile = std::max(1.0, stations * times / tiles);
  const int order = tree.order();
  const double numbers = in(tree.clusters()) * coefficient_count(order) +
                         boxes * coefficient_count(order + whole.added()) + cells;
  return near * in(observables) * sizeof(float) +
         2 * near / a_tile * in(tree.clusters()) / std::max(1.0, cells) * sizeof(NearEntries::Near) +
         2 * rather_more * counted.translations * sizeof(Pair) + in(tree.clusters()) * sizeof(Cluster) +
         boxes * sizeof(Box) + numbers * sizeof(double) + tiles * (sizeof(StationTile) + sizeof(Bounds)) +
         stations * times * sizeof(std::uint32_t) + cells * (6 * sizeof(double) + sizeof(std::uint32_t)) +
         1e6;
}

/// Adds one step for each level, from the coarsest to the finest; upwards: from the finest to the coarsest.
void CellFmm::add_level_steps(Steps& steps, bool upwards, const std::vector<std::size_t>& levels,
                              const std::function<void(std::size_t)>& body) const {
  for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
    const std::size_t l = upwards ? levels.size() - 2 - i : i, first = levels[l];
    steps.push_back(in_tasks(levels[l + 1] - first, boxes_per_task, [=](std::size_t n) { body(first + n); }));
  }
}

// ---- G ----

void CellFmm::gather(const Cluster& cluster, const double* model, double* numbers) const {
  if (cluster.order < 0) return;
  double* const to = numbers + cluster.numbers;
  std::fill_n(to, count_of(cluster.order), 0.0);
  for (std::size_t g = cluster.first_gathered; g < cluster.last_gathered; ++g)
    kernels_.gather(prisms_from(cells_, gathered_[g].first, model + gathered_[g].first), nullptr,
                    gathered_[g].count, cluster.place.centre, cluster.place.scale, cluster.order, to,
                    nullptr);
}

void CellFmm::move(const Cluster& cluster, double* numbers) const {
  if (!cluster.moves) return;
  for (std::uint32_t c = cluster.child; c < cluster.child + cluster.children; ++c) {
    const auto& child = clusters_[c];
    if (child.order >= 0)
      kernels_.move(expansion_at(child.place, numbers + child.numbers), cluster.place.centre,
                    cluster.place.scale, cluster.order, numbers + cluster.numbers);
  }
}

void CellFmm::make_local(const Box& box, const double* clusters, double* boxes) const {
  if (box.degree < 0) return;
  double* const to = boxes + box.numbers;
  std::fill_n(to, count_of(box.degree), 0.0);
  const auto& parent = boxes_[box.parent];
  if (&parent != &box && parent.degree >= 0)
    local_kernels_.shift(parent.place, parent.degree, boxes + parent.numbers, box.place, to);
  std::vector<FarSource> sources;
  sources.reserve(box.last_source - box.first_source);
  for (std::size_t i = box.first_source; i < box.last_source; ++i) {
    const auto& cluster = clusters_[by_box_[i].other];
    sources.push_back({expansion_at(cluster.place, clusters + cluster.numbers), by_box_[i].order});
  }
  local_kernels_.collect(sources, added_, box.place, to);
}

void CellFmm::evaluate(std::size_t t, const double* model, const double* boxes,
                       std::span<double> data) const {
  const auto& tile = receivers_->tile(t);
  const auto& box = boxes_[box_of_tile_[t]];
  std::vector<double> sums(channel_count * tile_size);
  if (box.degree >= 0)
    local_kernels_.evaluate(box.place, box.degree, boxes + box.numbers, tensor_, tile, sums.data());
  const auto count = static_cast<std::size_t>(tile.count);
  for (std::size_t o = 0; o < observables_.size(); ++o)
    for (std::size_t s = 0; s < count; ++s) {
      double value = 0;
      for (std::size_t c = 0; c < channel_count; ++c)
        value += observables_[o].weight[c] * sums[c * tile_size + s];
      data[o * stations_ + receivers_->station(t, static_cast<int>(s))] =
          near_.add_product(value, model, t, count, o, s);
    }
}

Steps CellFmm::product(std::span<const double> model, std::span<double> data) const {
  const auto own = scratch_.take(cells_.size()), clusters = scratch_.take(cluster_numbers_),
             boxes = scratch_.take(box_numbers_);
  Steps steps;
  steps.push_back(
      in_tasks(cells_.size(), cells_per_chunk, [=, this](std::size_t i) { own[i] = model[columns_[i]]; }));
  steps.push_back(in_tasks(clusters_.size(), moments_per_task,
                           [=, this](std::size_t c) { gather(clusters_[c], own.get(), clusters.get()); }));
  add_level_steps(steps, true, cluster_levels_,
                  [=, this](std::size_t c) { move(clusters_[c], clusters.get()); });
  add_level_steps(steps, false, box_levels_,
                  [=, this](std::size_t b) { make_local(boxes_[b], clusters.get(), boxes.get()); });
  steps.push_back(
      in_tasks(tile_tasks_, [=, this](std::size_t t) { evaluate(t, own.get(), boxes.get(), data); }));
  return steps;
}

// ---- Gᵀ ----

void CellFmm::weigh(std::size_t t, std::span<const double> data, double* boxes) const {
  const auto& box = boxes_[box_of_tile_[t]];
  if (box.degree < 0) return;
  const auto& tile = receivers_->tile(t);
  std::vector<double> weights(channel_count * tile_size);
  for (std::size_t o = 0; o < observables_.size(); ++o)
    for (std::size_t c = 0; c < channel_count; ++c) {
      const double weight = observables_[o].weight[c];
      if (weight == 0) continue;
      for (int s = 0; s < tile.count; ++s)
        weights[c * tile_size + static_cast<std::size_t>(s)] +=
            weight * data[o * stations_ + receivers_->station(t, s)];
    }
  std::fill_n(boxes + box.numbers, count_of(box.degree), 0.0);
  local_kernels_.weigh(box.place, box.degree, tensor_, tile, weights.data(), boxes + box.numbers);
}

/// Computes the sums of a box from those of its children.
void CellFmm::gather_boxes(const Box& box, double* boxes) const {
  if (box.degree < 0 || box.children == 0) return;
  std::fill_n(boxes + box.numbers, count_of(box.degree), 0.0);
  const auto at = turned(box.place);
  for (std::uint32_t c = box.child; c < box.child + box.children; ++c)
    kernels_.move(expansion_at(boxes_[c].place, boxes + boxes_[c].numbers, -1), at.centre, at.scale,
                  box.degree, boxes + box.numbers);
}

void CellFmm::gather_from_boxes(const Cluster& cluster, const double* boxes, double* clusters) const {
  if (cluster.order < 0) return;
  std::fill_n(clusters + cluster.numbers, count_of(cluster.order), 0.0);
  std::vector<ServedBox> served;
  served.reserve(cluster.last_box - cluster.first_box);
  for (std::size_t i = cluster.first_box; i < cluster.last_box; ++i) {
    const auto& box = boxes_[by_cluster_[i].other];
    served.push_back({box.place, boxes + box.numbers, by_cluster_[i].order});
  }
  local_kernels_.gather(served, added_, cluster.place, clusters + cluster.numbers);
}

/// Passes the sums of a cluster down to the children from which its expansion is computed.
void CellFmm::pass_to_children(const Cluster& cluster, double* clusters) const {
  if (!cluster.moves) return;
  double passed[coefficient_count(most_order)];
  for (std::uint32_t c = cluster.child; c < cluster.child + cluster.children; ++c) {
    const auto& child = clusters_[c];
    if (child.order < 0) continue;
    local_kernels_.shift(turned(cluster.place), cluster.order, clusters + cluster.numbers,
                         turned(child.place), passed);
    for (std::size_t k = 0; k < count_of(cluster.order); ++k) clusters[child.numbers + k] += passed[k];
  }
}

void CellFmm::pass_to_cells(std::size_t chunk, const double* clusters, std::span<double> model) const {
  const std::size_t first = chunk * cells_per_chunk, last = std::min(first + cells_per_chunk, cells_.size());
  std::vector<double> sum(last - first);
  double factors[coefficient_count(most_order)];
  for (const auto g : around_[chunk]) {
    const auto& some = gathered_[g];
    const auto& cluster = clusters_[some.cluster];
    const std::size_t from = std::max<std::size_t>(first, some.first),
                      to = std::min<std::size_t>(last, std::size_t{some.first} + some.count);
    for (std::size_t k = 0; k < count_of(cluster.order); ++k)
      factors[k] = clusters[cluster.numbers + k] / cluster.place.scale;
    kernels_.scatter(prisms_from(cells_, from, nullptr), nullptr, to - from, cluster.place.centre,
                     cluster.place.scale, cluster.order, factors, sum.data() + (from - first));
  }
  for (std::size_t i = first; i < last; ++i) model[columns_[i]] = sum[i - first];
}

/// Adds near entries times data to the model, leaf by leaf: add(entries of a row of G at the leaf's cells,
/// index of its datum, sums of the cells, number of cells) adds one row.
template <class Add>
Tasks CellFmm::add_near(std::span<double> model, const Add& add) const {
  return in_tasks(leaf_tasks_, [=, this](std::size_t l) {
    const auto& leaf = near_.by_leaf[near_.leaf_start[l]];
    std::vector<double> sum(leaf.count);
    near_.each_row(l, observables_.size(), stations_, *receivers_,
                   [&](const float* entries, std::size_t row) { add(entries, row, sum.data(), leaf.count); });
    for (std::size_t p = 0; p < leaf.count; ++p) model[columns_[leaf.first + p]] += sum[p];
  });
}

Steps CellFmm::transpose(std::span<const double> data, std::span<double> model) const {
  const auto clusters = scratch_.take(cluster_numbers_), boxes = scratch_.take(box_numbers_);
  Steps steps;
  steps.push_back(in_tasks(receivers_->tiles(), boxes_per_task,
                           [=, this](std::size_t t) { weigh(t, data, boxes.get()); }));
  add_level_steps(steps, true, box_levels_,
                  [=, this](std::size_t b) { gather_boxes(boxes_[b], boxes.get()); });
  steps.push_back(in_tasks(clusters_.size(), moments_per_task, [=, this](std::size_t c) {
    gather_from_boxes(clusters_[c], boxes.get(), clusters.get());
  }));
  add_level_steps(steps, false, cluster_levels_,
                  [=, this](std::size_t c) { pass_to_children(clusters_[c], clusters.get()); });
  steps.push_back(
      {around_.size(), [=, this](std::size_t chunk) { pass_to_cells(chunk, clusters.get(), model); }});
  steps.push_back(
      add_near(model, [=, this](const float* entries, std::size_t row, double* to, std::size_t count) {
        near_.kernels.add(data[row], entries, to, count);
      }));
  return steps;
}

// ---- diag(GᵀWG) ----

/// Weights of all data, and their sums over the stations of each box: [boxes][observables].
struct CellFmm::PointWeights {
  std::span<const double> weight;
  const double* of_boxes;
};

/// Σ over observables of weight · (datum of a unit of mass at `mass`, observed at `station`)².
template <class WeightOf>
double CellFmm::squares(const double (&mass)[3], const double (&station)[3],
                        const WeightOf& weight_of) const {
  const double d[3] = {station[0] - mass[0], station[1] - mass[1], station[2] - mass[2]};
  const auto field = field_of_point(d);
  double sum = 0;
  for (std::size_t o = 0; o < observables_.size(); ++o) {
    double value = 0;
    for (std::size_t c = 0; c < channel_count; ++c) value += observables_[o].weight[c] * field[c];
    sum += weight_of(o) * value * value;
  }
  return sum;
}

/// Sets the diagonal, for the cells of a leaf, to the sum over all stations without stored entries for them.
/// A distant box of stations and the leaf count as points; if they are closer, each cell and station does.
void CellFmm::add_squares(const Cluster& leaf, const PointWeights& from, std::span<double> diagonal) const {
  std::vector<double> single(leaf.count);
  double together = 0;
  const auto kept = near_.tiles_of(leaf.first);
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const std::uint32_t b = open.back();
    const auto& box = boxes_[b];
    open.pop_back();
    if (box.radius + leaf.place.scale < point_angle * distance(box.place.centre, leaf.place.centre)) {
      together += squares(leaf.place.centre, box.place.centre,
                          [&](std::size_t o) { return from.of_boxes[b * observables_.size() + o]; });
    } else if (box.children > 0) {
      for (std::uint32_t c = box.children; c-- > 0;) open.push_back(box.child + c);
    } else if (!std::binary_search(kept.begin(), kept.end(), box.tile)) {
      const auto& tile = receivers_->tile(box.tile);
      for (std::uint32_t i = 0; i < leaf.count; ++i) {
        const auto p = cells_[leaf.first + i];
        const double mass[3] = {0.5 * (p.west + p.east), 0.5 * (p.south + p.north), 0.5 * (p.bottom + p.top)};
        for (int s = 0; s < tile.count; ++s)
          single[i] += squares(mass, {tile.x[s], tile.y[s], tile.z[s]}, [&](std::size_t o) {
            return from.weight[o * stations_ + receivers_->station(box.tile, s)];
          });
      }
    }
  }
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    const auto p = cells_[leaf.first + i];
    const double volume = (p.east - p.west) * (p.north - p.south) * (p.top - p.bottom);
    diagonal[columns_[leaf.first + i]] = volume * volume * (together + single[i]);
  }
}

Steps CellFmm::diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  const auto of_boxes = scratch_.take(boxes_.size() * observables_.size());
  Steps steps;
  steps.push_back({1, [=, this](std::size_t) {
                     for (std::size_t b = boxes_.size(); b-- > 0;)
                       for (std::size_t o = 0; o < observables_.size(); ++o) {
                         const auto& box = boxes_[b];
                         double sum = 0;
                         for (std::uint32_t c = box.child; c < box.child + box.children; ++c)
                           sum += of_boxes[c * observables_.size() + o];
                         if (box.children == 0)
                           for (int s = 0; s < receivers_->tile(box.tile).count; ++s)
                             sum += weight[o * stations_ + receivers_->station(box.tile, s)];
                         of_boxes[b * observables_.size() + o] = sum;
                       }
                   }});
  steps.push_back(in_tasks(leaves_.size(), std::size_t{2}, [=, this](std::size_t l) {
    add_squares(clusters_[leaves_[l]], {weight, of_boxes.get()}, diagonal);
  }));
  steps.push_back(
      add_near(diagonal, [=](const float* entries, std::size_t row, double* to, std::size_t count) {
        for (std::size_t p = 0; p < count; ++p)
          to[p] += weight[row] * double{entries[p]} * double{entries[p]};
      }));
  return steps;
}

}  // namespace terrane::gravity
