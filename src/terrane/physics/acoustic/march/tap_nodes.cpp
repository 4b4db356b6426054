#include "terrane/physics/acoustic/march/tap_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/progress.hpp"
#include "terrane/parallel/arrays/strides.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/parallel/threads/sort.hpp"

namespace terrane::acoustic {

namespace {

/// The weight of one source at one node.
template <class T>
struct WeightOfSource {
  int source;
  Part part;
  T weight;
};

/// Weights of sources, and for each the offset of its node in a field, from the field's first value.
template <class T>
struct WeightsAtNodes {
  std::vector<std::uint64_t> node;
  std::vector<WeightOfSource<T>> weights;

  void append(const WeightsAtNodes& more) {
    node.insert(node.end(), more.node.begin(), more.node.end());
    weights.insert(weights.end(), more.weights.begin(), more.weights.end());
  }
  bool only_pressures() const {
    return std::all_of(weights.begin(), weights.end(),
                       [](const auto& one) { return one.part == Part::pressure; });
  }
};

/// Sorts weights by node.  corner: offset of a field's first value; parts: whether to list the fields
template <class T>
SourceNodes<T> sorted_by_node(WeightsAtNodes<T> all, Index corner, bool parts, int threads) {
  const auto count = all.weights.size();
  if (count > std::numeric_limits<std::uint32_t>::max())
    throw InputError("acoustic: sources", fmt::format("{} weights of sources at nodes", count),
                     "Take fewer sources in a shot, or fewer receivers of a shot that is migrated.");
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  Progress silent;
  sort_by_key(all.node, order, threads, silent);  // weights of a node stay in the order of the sources
  SourceNodes<T> nodes;
  for (std::size_t n = 0; n < count; ++n) {
    if (n > 0 && all.node[n] == all.node[n - 1]) continue;
    nodes.offset.push_back(static_cast<Index>(all.node[n]) + corner);
    nodes.first.push_back(static_cast<Index>(n));
  }
  nodes.first.push_back(static_cast<Index>(count));
  nodes.source.resize(count);
  nodes.part.resize(parts ? count : 0);
  nodes.weight.resize(count);
  for_each_stretch(count, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const auto& one = all.weights[order[n]];
      nodes.source[n] = one.source;
      nodes.weight[n] = one.weight;
      if (parts) nodes.part[n] = one.part;
    }
  });
  return nodes;
}

int rank_of(const Cartesian<3>& cut, const std::array<Index, 3>& node) {
  for (int rank = 0; rank < cut.ranks(); ++rank)
    if (cut.part(rank).contains(node[0], node[1], node[2])) return rank;
  return -1;
}

/// The rows of one tap, as in ReceiverRows; `weights` of a row counts from the tap's first weight.
template <class T>
struct RowsOfTap {
  std::vector<int> owner;
  std::vector<Index> planes;
  std::vector<ReceiverRow> rows;
  std::vector<T> weights;
};

/// weights: sorted by node
template <class T>
RowsOfTap<T> rows_of_tap(const Medium<T>& medium, const std::vector<Weight>& weights) {
  RowsOfTap<T> tap;
  const auto apart = strides(medium.box());
  const Weight* before = nullptr;
  Index begin = 0;  // index along easting of the row's first node
  for (const Weight& at : weights) {
    const auto& node = at.node;
    const bool goes_on = before != nullptr && before->part == at.part && before->node[0] == node[0] &&
                         before->node[1] == node[1];
    before = &at;
    if (!goes_on) {
      begin = node[2];
      tap.owner.push_back(rank_of(medium.cut(), node));
      tap.planes.push_back(node[0]);
      if (tap.owner.back() == medium.rank())
        tap.rows.push_back(
            {static_cast<std::int32_t>(node[0]), at.part, apart.to(node), 0, tap.weights.size()});
    }
    if (tap.owner.back() != medium.rank()) continue;
    auto& row = tap.rows.back();
    row.count = node[2] - begin + 1;
    tap.weights.resize(row.weights + static_cast<std::size_t>(row.count), T(0));
    tap.weights.back() = static_cast<T>(at.weight);
  }
  const bool one_rank =
      std::all_of(tap.owner.begin(), tap.owner.end(), [&](int rank) { return rank == tap.owner.front(); });
  if (one_rank && !tap.owner.empty()) tap.owner.resize(1);
  return tap;
}

}  // namespace

template <class T>
std::array<SourceNodes<T>, 2> nodes_of_sources(const Medium<T>& medium, std::span<const Tap> taps,
                                               std::span<const double> scales, const IndexBox<3>& within,
                                               int threads) {
  using EdgesAndInner = std::array<WeightsAtNodes<T>, 2>;
  const auto here = overlap(within, medium.part());
  const auto apart = strides(medium.box());
  const Index corner = apart.to(medium.box().first);
  const auto make = [&](std::size_t n, const std::vector<Weight>& weights) {
    EdgesAndInner both;
    for (const auto& [node, weight, part] : weights) {
      if (!here.contains(node[0], node[1], node[2])) continue;
      auto& of = both[medium.on_edge(node) ? 0 : 1];
      of.node.push_back(static_cast<std::uint64_t>(apart.to(node) - corner));
      of.weights.push_back({static_cast<int>(n), part, static_cast<T>(weight * scales[n])});
    }
    return both;
  };
  EdgesAndInner all;
  each_of_weights(medium.problem(), taps, threads, make, [&](std::size_t, const EdgesAndInner& both) {
    all[0].append(both[0]);
    all[1].append(both[1]);
  });
  const bool parts = !all[0].only_pressures() || !all[1].only_pressures();
  return {sorted_by_node(std::move(all[0]), corner, parts, threads),
          sorted_by_node(std::move(all[1]), corner, parts, threads)};
}

template <class T>
ReceiverRows<T> rows_of_receivers(const Medium<T>& medium, std::span<const Tap> taps, int threads) {
  ReceiverRows<T> all;
  all.first.push_back(0);
  const auto make = [&](std::size_t, const std::vector<Weight>& weights) {
    return rows_of_tap(medium, weights);
  };
  each_of_weights(medium.problem(), taps, threads, make, [&](std::size_t, RowsOfTap<T>& tap) {
    const bool one_sum = tap.owner.size() == 1;
    for (auto row : tap.rows) {
      row.weights += all.weights.size();
      all.rows.push_back(row);
      if (!one_sum) all.first.push_back(std::ssize(all.rows));
    }
    if (one_sum && !tap.rows.empty()) all.first.push_back(std::ssize(all.rows));
    all.weights.insert(all.weights.end(), tap.weights.begin(), tap.weights.end());
    all.owner.push_back(std::move(tap.owner));
    all.planes.push_back(std::move(tap.planes));
  });
  return all;
}

template std::array<SourceNodes<float>, 2> nodes_of_sources(const Medium<float>&, std::span<const Tap>,
                                                            std::span<const double>, const IndexBox<3>&, int);
template std::array<SourceNodes<double>, 2> nodes_of_sources(const Medium<double>&, std::span<const Tap>,
                                                             std::span<const double>, const IndexBox<3>&,
                                                             int);
template ReceiverRows<float> rows_of_receivers(const Medium<float>&, std::span<const Tap>, int);
template ReceiverRows<double> rows_of_receivers(const Medium<double>&, std::span<const Tap>, int);

}  // namespace terrane::acoustic
