// Floor of a product: the near entries once, 4 bytes each; of a cell (p + 1)(p + 2)(p + 3) / 6 operations for
// each cluster that it lies in and that serves any station; and what evaluating expansions takes (tree.cpp).
#include "terrane/physics/gravity/sensitivity/cell_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/tiles/tile_sets.hpp"
#include "terrane/solve/matrix_kernels.hpp"

namespace terrane::gravity {

namespace {

constexpr std::size_t cells_a_chunk = 4096;   // that one task passes moments down to
constexpr std::size_t cells_a_piece = 16384;  // whose moments one task gathers
constexpr std::size_t clusters_a_task = 8, tiles_at_once = 8;

Prisms view_of(const PrismSet& p, std::span<const double> density) {
  return {p.west, p.east, p.south, p.north, p.bottom, p.top, density};
}

PrismColumns prism_columns(const PrismSet& p, const double* density) {
  return {{p.west.data(), p.south.data(), p.bottom.data()},
          {p.east.data(), p.north.data(), p.top.data()},
          density};
}

/// body(i) for i below count, some of them by one task.
template <class Body>
void for_each_in_tasks(std::size_t count, std::size_t a_task, int threads, const Body& body) {
  for_each((count + a_task - 1) / a_task, threads, [&](std::size_t task) {
    for (std::size_t i = task * a_task; i < std::min((task + 1) * a_task, count); ++i) body(i);
  });
}

}  // namespace

CellTree::CellTree(std::shared_ptr<const SensitivityColumns> source, double accuracy, int threads,
                   Progress& progress)
    : source_(std::move(source)), threads_(threads), unit_density_(source_->columns(), 1.0) {
  const auto channels = channels_of(source_->observables());
  tensor_ = !(channels & tensor_channels).empty();
  tree_ = std::make_unique<Tree>(view_of(source_->cells(), unit_density_), source_->stations().view(),
                                 channels, accuracy, threads, progress);
  tree_->prepare(progress);
  find_lists(progress);
  make_near(progress);
}

CellTree::~CellTree() = default;

std::size_t CellTree::station_of(std::size_t tile, std::size_t s) const {
  return tree_->receivers().station(tile, static_cast<int>(s));
}

void CellTree::find_lists(Progress& progress) {
  const auto& receivers = tree_->receivers();
  const std::size_t tiles = receivers.tiles(), observables = source_->observables().size();
  std::vector<std::vector<Tree::Meetings::Far>> far(tiles);
  std::vector<std::vector<std::uint32_t>> near(tiles);
  for_each_in_tasks(tiles, tiles_at_once, threads_, [&](std::size_t t) {
    if (progress.cancelled()) throw Cancelled();
    auto met = tree_->meetings(receivers.bounds(t));
    far[t] = std::move(met.far);
    near[t] = std::move(met.near);
  });
  std::size_t entries = 0;
  near_tile_start_.assign(1, 0);
  for (std::size_t t = 0; t < tiles; ++t) {
    for (const auto leaf : near[t]) {
      const auto [first, count] = tree_->prisms_of(leaf);
      near_by_tile_.push_back({first, count, static_cast<std::uint32_t>(t), entries});
      entries += observables * static_cast<std::size_t>(receivers.tile(t).count) * count;
    }
    near_tile_start_.push_back(near_by_tile_.size());
  }
  near_.resize(entries);
  near_by_leaf_ = near_by_tile_;
  std::sort(near_by_leaf_.begin(), near_by_leaf_.end(), [](const Near& a, const Near& b) {
    return a.first < b.first || (a.first == b.first && a.tile < b.tile);
  });
  near_leaf_start_.assign(1, 0);
  for (std::size_t i = 1; i <= near_by_leaf_.size(); ++i)
    if (i == near_by_leaf_.size() || near_by_leaf_[i].first != near_by_leaf_[i - 1].first)
      near_leaf_start_.push_back(i);
  list_clusters(far);
}

/// Clusters that are met, each with the highest order that is asked for; their meetings by tile and by
/// cluster; their pieces; and those around each chunk of cells.
void CellTree::list_clusters(const std::vector<std::vector<Tree::Meetings::Far>>& met) {
  constexpr std::uint32_t none = 0xffffffffU;
  std::vector<int> order(tree_->clusters(), -1);
  for (const auto& of_tile : met)
    for (const auto& one : of_tile) order[one.cluster] = std::max(order[one.cluster], int(one.order));
  std::vector<std::uint32_t> slot(tree_->clusters(), none);
  for (std::size_t c = 0; c < tree_->clusters(); ++c) {
    if (order[c] < 0) continue;
    slot[c] = static_cast<std::uint32_t>(clusters_.size());
    const auto [first, count] = tree_->prisms_of(c);
    clusters_.push_back({tree_->expansion(c), first, count, order[c], coefficients_});
    coefficients_ += static_cast<std::size_t>(coefficient_count(order[c]));
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

  around_.resize((columns() + cells_a_chunk - 1) / cells_a_chunk);
  all_coefficients_ = coefficients_;
  for (std::size_t c = 0; c < clusters_.size(); ++c) {
    const auto& cluster = clusters_[c];
    const std::size_t last = std::size_t{cluster.first} + cluster.count;
    for (std::size_t chunk = cluster.first / cells_a_chunk; chunk * cells_a_chunk < last; ++chunk)
      around_[chunk].push_back(static_cast<std::uint32_t>(c));
    for (std::size_t first = cluster.first; first < last; first += cells_a_piece) {
      const bool whole = first == cluster.first;
      pieces_.push_back({static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(first),
                         static_cast<std::uint32_t>(std::min(cells_a_piece, last - first)),
                         whole ? cluster.coefficients : all_coefficients_});
      if (!whole) all_coefficients_ += static_cast<std::size_t>(coefficient_count(cluster.order));
    }
  }
}

/// Leaf by leaf, cell by cell, at the tiles of stations that meet it.
void CellTree::make_near(Progress& progress) {
  const auto& receivers = tree_->receivers();
  const auto& observables = source_->observables();
  const auto channels = channels_of(observables);
  const std::size_t set = smallest_kernel_set(channels), leaves = near_leaf_start_.size() - 1;
  const auto list = kernel_sets[set].list();
  const auto switching = Switching::for_accuracy(std::min(tree_->pair_accuracy(), 1e-7));
  const TileKernels& kernels = kernel_target().kernels[set];
  progress.start("sensitivities", near_.size());
  for_each(leaves, threads_, [&](std::size_t l) {
    if (progress.cancelled()) throw Cancelled();
    const Sources sources(view_of(source_->cells(), unit_density_), Turn{{0, 1, 2}, channels}, switching,
                          std::vector<std::uint32_t>{});
    auto tile = std::make_unique<PrismTile>();
    PlainNearPairs near_pairs(switching);
    std::vector<double> sums(list.size() * tile_size);
    const auto here =
        std::span(near_by_leaf_).subspan(near_leaf_start_[l], near_leaf_start_[l + 1] - near_leaf_start_[l]);
    for (std::uint32_t p = 0; p < here.front().count; ++p) {
      const auto centre = sources.load_one(tree_->prism_order()[here.front().first + p], *tile);
      const Bounds at{{centre[0], centre[1], centre[2]}, {centre[0], centre[1], centre[2]}};
      for (const auto& near : here) {
        const auto& stations = receivers.tile(near.tile);
        const auto kernel =
            choose_kernel(kernels, switching, squared_gap(at, receivers.bounds(near.tile)), tile->longest[0]);
        std::fill(sums.begin(), sums.end(), 0.0);
        kernel(*tile, stations, near_pairs, sums.data());
        float* to = near_.data() + near.entries + p;
        for (const auto& observable : observables)
          for (int s = 0; s < stations.count; ++s, to += near.count) {
            double value = 0;
            for (std::size_t c = 0; c < list.size(); ++c)
              value += observable.weight[static_cast<std::size_t>(list[c])] *
                       sums[c * tile_size + static_cast<std::size_t>(s)];
            *to = static_cast<float>(value);
          }
      }
    }
    for (const auto& near : here)
      progress.advance(observables.size() * static_cast<std::size_t>(receivers.tile(near.tile).count) *
                       near.count);
  });
  progress.finish();
}

double CellTree::bytes() const {
  return static_cast<double>(near_.size() * sizeof(float) + 2 * near_by_tile_.size() * sizeof(Near) +
                             2 * far_by_tile_.size() * sizeof(Far) + 2 * all_coefficients_ * sizeof(double));
}

// ---- G ----

std::vector<double> CellTree::expansions(std::span<const double> model) const {
  const auto& kernels = expansion_kernels();
  const auto columns = prism_columns(source_->cells(), model.data());
  std::vector<double> made(all_coefficients_);
  for_each_in_tasks(pieces_.size(), clusters_a_task, threads_, [&](std::size_t i) {
    const auto& piece = pieces_[i];
    const auto& cluster = clusters_[piece.cluster];
    kernels.gather(columns, tree_->prism_order().data() + piece.first, piece.count, cluster.at.centre,
                   cluster.at.scale, cluster.order, made.data() + piece.coefficients, nullptr);
  });
  for (const auto& piece : pieces_) {
    const auto& cluster = clusters_[piece.cluster];
    if (piece.coefficients == cluster.coefficients) continue;
    for (int k = 0; k < coefficient_count(cluster.order); ++k)
      made[cluster.coefficients + static_cast<std::size_t>(k)] +=
          made[piece.coefficients + static_cast<std::size_t>(k)];
  }
  return made;
}

void CellTree::apply(std::span<const double> model, std::span<double> data) const {
  solve::expect_shapes(*this, model.size(), data.size());
  const auto& receivers = tree_->receivers();
  const auto& observables = source_->observables();
  const auto& order = tree_->prism_order();
  const std::size_t stations = source_->stations().size();
  std::vector<double> sorted(columns());
  for_each_in_tasks(columns(), cells_a_chunk, threads_, [&](std::size_t i) { sorted[i] = model[order[i]]; });
  const auto moments = expansions(model);
  for_each_in_tasks(receivers.tiles(), tiles_at_once, threads_, [&](std::size_t t) {
    const auto& tile = receivers.tile(t);
    double fields[channel_count * tile_size] = {};
    for (std::size_t i = far_tile_start_[t]; i < far_tile_start_[t + 1]; ++i) {
      const auto& far = far_by_tile_[i];
      auto cluster = clusters_[far.cluster].at;
      cluster.coefficients = moments.data() + clusters_[far.cluster].coefficients;
      expansion_kernels().evaluate(cluster, far.order, tensor_, tile, fields);
    }
    for (std::size_t o = 0; o < observables.size(); ++o)
      for (std::size_t s = 0; s < static_cast<std::size_t>(tile.count); ++s) {
        double value = 0;
        for (std::size_t c = 0; c < channel_count; ++c)
          value += observables[o].weight[c] * fields[c * tile_size + s];
        for (std::size_t i = near_tile_start_[t]; i < near_tile_start_[t + 1]; ++i) {
          const auto& near = near_by_tile_[i];
          value += solve::matrix_kernels().dot(
              near_.data() + near.entries + (o * static_cast<std::size_t>(tile.count) + s) * near.count,
              sorted.data() + near.first, near.count);
        }
        data[o * stations + station_of(t, s)] = value;
      }
  });
}

// ---- Gᵀ ----

/// What each channel at each station is multiplied by: [tiles][channels][tile_size].
std::vector<double> CellTree::weights_at_tiles(std::span<const double> data) const {
  const auto& receivers = tree_->receivers();
  const auto& observables = source_->observables();
  const std::size_t stations = source_->stations().size();
  std::vector<double> weights(receivers.tiles() * channel_count * tile_size);
  for_each_in_tasks(receivers.tiles(), tiles_at_once, threads_, [&](std::size_t t) {
    double* const to = weights.data() + t * channel_count * tile_size;
    for (std::size_t s = 0; s < static_cast<std::size_t>(receivers.tile(t).count); ++s)
      for (std::size_t o = 0; o < observables.size(); ++o)
        for (std::size_t c = 0; c < channel_count; ++c)
          to[c * tile_size + s] += observables[o].weight[c] * data[o * stations + station_of(t, s)];
  });
  return weights;
}

/// pass(places first .. last − 1 in the order of the tree, a cluster that they lie in), and before it
/// begin(first, last), for all cells.
template <class Begin, class Pass>
void CellTree::pass_down(const Begin& begin, const Pass& pass) const {
  for_each(around_.size(), threads_, [&](std::size_t chunk) {
    const std::size_t first = chunk * cells_a_chunk, last = std::min(first + cells_a_chunk, columns());
    begin(first, last);
    for (const auto c : around_[chunk]) {
      const auto& cluster = clusters_[c];
      pass(std::max<std::size_t>(first, cluster.first),
           std::min<std::size_t>(last, std::size_t{cluster.first} + cluster.count), c);
    }
  });
}

void CellTree::apply_transpose(std::span<const double> data, std::span<double> model) const {
  solve::expect_shapes(*this, model.size(), data.size());
  const auto& receivers = tree_->receivers();
  const auto& order = tree_->prism_order();
  const auto& kernels = expansion_kernels();
  const auto weights = weights_at_tiles(data);
  std::vector<double> collected(coefficients_);
  for_each_in_tasks(clusters_.size(), clusters_a_task, threads_, [&](std::size_t c) {
    for (std::size_t i = far_cluster_start_[c]; i < far_cluster_start_[c + 1]; ++i) {
      const auto& far = far_by_cluster_[i];
      kernels.collect(clusters_[c].at, far.order, tensor_, receivers.tile(far.tile),
                      weights.data() + far.tile * channel_count * tile_size, tile_size,
                      collected.data() + clusters_[c].coefficients);
    }
  });
  const auto columns = prism_columns(source_->cells(), nullptr);
  pass_down(
      [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) model[order[i]] = 0;
      },
      [&](std::size_t first, std::size_t last, std::uint32_t c) {
        const auto& cluster = clusters_[c];
        kernels.scatter(columns, order.data() + first, last - first, cluster.at.centre, cluster.at.scale,
                        cluster.order, collected.data() + cluster.coefficients, model.data());
      });
  add_near(data, model, [](const float* entries, double datum, double* to, std::size_t count) {
    solve::matrix_kernels().add(datum, entries, to, count);
  });
}

/// model += Σ add(entries of a row at the cells of a leaf, its datum), leaf by leaf.
template <class Add>
void CellTree::add_near(std::span<const double> data, std::span<double> model, const Add& add) const {
  const auto& receivers = tree_->receivers();
  const std::size_t stations = source_->stations().size(), observables = source_->observables().size();
  for_each_in_tasks(near_leaf_start_.size() - 1, clusters_a_task, threads_, [&](std::size_t l) {
    const auto& leaf = near_by_leaf_[near_leaf_start_[l]];
    std::vector<double> sum(leaf.count);
    for (std::size_t i = near_leaf_start_[l]; i < near_leaf_start_[l + 1]; ++i) {
      const auto& near = near_by_leaf_[i];
      const auto count = static_cast<std::size_t>(receivers.tile(near.tile).count);
      for (std::size_t row = 0; row < observables * count; ++row)
        add(near_.data() + near.entries + row * near.count,
            data[row / count * stations + station_of(near.tile, row % count)], sum.data(), near.count);
    }
    for (std::size_t p = 0; p < leaf.count; ++p) model[tree_->prism_order()[leaf.first + p]] += sum[p];
  });
}

// ---- diag(GᵀWG) ----

void CellTree::weighted_diagonal(std::span<const double> weight, std::span<double> diagonal) const {
  solve::expect_shapes(*this, diagonal.size(), weight.size());
  const auto& receivers = tree_->receivers();
  const auto& observables = source_->observables();
  const auto& order = tree_->prism_order();
  const auto& cells = source_->cells();
  const std::size_t stations = source_->stations().size();
  std::vector<double> squares(clusters_.size());  // of what a unit of mass in the centre gives
  for_each_in_tasks(clusters_.size(), clusters_a_task, threads_, [&](std::size_t c) {
    const double one = 1;
    auto mass = clusters_[c].at;
    mass.coefficients = &one;
    for (std::size_t i = far_cluster_start_[c]; i < far_cluster_start_[c + 1]; ++i) {
      const std::size_t t = far_by_cluster_[i].tile;
      double fields[channel_count * tile_size] = {};
      expansion_kernels().evaluate(mass, 0, tensor_, receivers.tile(t), fields);
      for (std::size_t o = 0; o < observables.size(); ++o)
        for (std::size_t s = 0; s < static_cast<std::size_t>(receivers.tile(t).count); ++s) {
          double value = 0;
          for (std::size_t k = 0; k < channel_count; ++k)
            value += observables[o].weight[k] * fields[k * tile_size + s];
          squares[c] += weight[o * stations + station_of(t, s)] * value * value;
        }
    }
  });
  pass_down(
      [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) diagonal[order[i]] = 0;
      },
      [&](std::size_t first, std::size_t last, std::uint32_t c) {
        for (std::size_t i = first; i < last; ++i) {
          const std::size_t n = order[i];
          const double volume = (cells.east[n] - cells.west[n]) * (cells.north[n] - cells.south[n]) *
                                (cells.top[n] - cells.bottom[n]);
          diagonal[n] += squares[c] * volume * volume;
        }
      });
  add_near(weight, diagonal, [](const float* entries, double w, double* to, std::size_t count) {
    for (std::size_t p = 0; p < count; ++p) to[p] += w * double{entries[p]} * double{entries[p]};
  });
}

}  // namespace terrane::gravity
