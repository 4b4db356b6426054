// Minimum cost for expansions of order P: computing them needs (P + 1)(P + 2)(P + 3) / 6 operations per
// prism, once; evaluating them needs about 15 (P + 2)² per cluster and pack of stations. The number of
// clusters per station is of the order of log(prisms) / θ³, with θ the ratio of a cluster's size to its
// distance.
#include "terrane/physics/gravity/tree/tree.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/mesh/octree.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/sum/candidate.hpp"
#include "terrane/physics/gravity/sum/kinds.hpp"
#include "terrane/physics/gravity/tree/tile_sums.hpp"

namespace terrane::gravity {

namespace {

/// Number of stations in a tile. The tree is traversed once per tile. Few stations lie farther apart, so
/// their tiles contain fewer.
std::size_t tile_for(std::size_t stations) { return stations <= 512 ? 8 : 16; }
constexpr std::size_t stations_per_task = 512;
// Share of the tolerance that truncation may use; calibrated, see docs/theory/fast.md.
constexpr double truncation_share = 1;

double distance(const double (&a)[3], const double (&b)[3]) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

PrismColumns columns_of(const Prisms& prisms) {
  return {{prisms.west.data(), prisms.south.data(), prisms.bottom.data()},
          {prisms.east.data(), prisms.north.data(), prisms.top.data()},
          prisms.density.data()};
}

}  // namespace

double Tree::evaluation_work(int order, bool tensor) {
  const double n = order + 1, d = order + (tensor ? 3 : 2);
  return (tensor ? 9.0 : 4.0) * n * n + 6.5 * d * d + 30;
}

// Operations per pair: the more accurate, the fewer pairs are far enough for a multipole.
double Tree::pair_work(double accuracy) { return accuracy < 1e-10 ? 650 : accuracy < 1e-7 ? 480 : 300; }

Tree::Tree(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
           Progress& progress, Leaves leaves)
    : prisms_(prisms),
      stations_(stations),
      channels_(channels),
      accuracy_(accuracy),
      threads_(threads),
      least_expanded_(leaves.least_expanded),
      kernels_(expansion_kernels()) {
  for (const auto c : channels.list()) wanted_[kind_of(c)] = true;
  const double digits = -std::log10(accuracy);
  order_ = leaves.order > 0 ? leaves.order
                            : std::clamp(static_cast<int>(std::lround(5 + 1.15 * digits)), 4, most_order);
  // With few stations per prism, most of the time is spent on computing expansions. Larger leaves mean fewer
  // expansions.
  leaf_ = leaves.prisms > 0                      ? leaves.prisms
          : prisms.size() > 64 * stations.size() ? 256
          : prisms.size() > 4 * stations.size()  ? 128
                                                 : 64;
  stations_per_tile_ = leaves.stations > 0 ? leaves.stations : tile_for(stations.size());
  receivers_ = std::make_shared<const Receivers>(
      stations, Turn{{0, 1, 2}, channels}, kernel_target().kernels[0].lanes, stations_per_tile_, threads);
  auto octree = grow_octree(boxes(prisms_), leaf_, threads_, progress);
  nodes_.resize(octree.cells.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) static_cast<Octree::Cell&>(nodes_[n]) = octree.cells[n];
  levels_ = std::move(octree.levels);
  sources_ = std::make_unique<Sources>(prisms_, Turn{{0, 1, 2}, channels_},
                                       Switching::for_accuracy(accuracy_), std::move(octree.order));
}

Tree::~Tree() = default;

/// Computes, from the leaves up, boxes and masses of the clusters and the error bounds of those with
/// expansions; the expansions themselves are computed when they are needed.
void Tree::measure(Progress& progress) {
  if (measured_) return;
  number_expansions();
  progress.start("clusters", nodes_.size());
  for (std::size_t l = levels_.size() - 1; l-- > 0;) {
    constexpr std::size_t chunk = 16;
    const std::size_t first = levels_[l], count = levels_[l + 1] - first;
    for_each((count + chunk - 1) / chunk, threads_, [&](std::size_t c) {
      if (progress.cancelled()) throw Cancelled();
      for (std::size_t i = c * chunk; i < std::min((c + 1) * chunk, count); ++i) {
        Node& node = nodes_[first + i];
        weigh(node);
        node.scale = reach(node);
        if (node.expanded()) bound_moments(node);
      }
      progress.advance(std::min(chunk, count - c * chunk));
    });
  }
  progress.finish();
  measured_ = true;
}

/// Numbers the clusters that have an expansion; clusters of too few prisms have none and are summed pair by
/// pair.
void Tree::number_expansions() {
  const auto least = least_expanded_ > 0
                         ? least_expanded_
                         : static_cast<std::uint32_t>(std::max(4.0, 0.06 * (order_ + 1) * (order_ + 1)));
  std::size_t expansions = 0;
  for (auto& node : nodes_)
    if (node.children > 0 || node.size() >= least) node.expansion = expansions++;
  radial_.assign(expansions * radials(), 0.0F);
  expansions_ = room_for_expansions(order_);
}

Bounds Tree::box_of(std::size_t place) const { return boxes(prisms_)[prism_order()[place]]; }

/// Computes the cluster's bounds, mass and centre of mass.
void Tree::weigh(Node& node) const {
  std::fill_n(node.low, 3, INFINITY);
  std::fill_n(node.high, 3, -INFINITY);
  // Centres relative to a fixed point, so that large coordinates lose no digits.
  const Bounds first = box_of(node.first);
  const auto& anchor = first.low;
  double mass = 0, weighted[3] = {};
  const auto add = [&](const double(&low)[3], const double(&high)[3], const double(&at)[3], double m) {
    for (int a = 0; a < 3; ++a) {
      node.low[a] = std::min(node.low[a], low[a]);
      node.high[a] = std::max(node.high[a], high[a]);
      weighted[a] += m * (at[a] - anchor[a]);
    }
    mass += m;
  };
  if (node.children == 0) {
    for (std::size_t i = node.first; i < node.last; ++i) {
      const Bounds box = box_of(i);
      double volume = 1, at[3];
      for (int a = 0; a < 3; ++a) {
        volume *= box.high[a] - box.low[a];
        at[a] = box.low[a] + 0.5 * (box.high[a] - box.low[a]);
      }
      add(box.low, box.high, at, std::fabs(prisms_.density[prism_order()[i]]) * volume);
    }
  } else {
    for (const auto& child : children(node)) add(child.low, child.high, child.centre, child.mass);
  }
  node.mass = mass;
  for (int a = 0; a < 3; ++a)
    node.centre[a] = mass > 0 ? anchor[a] + weighted[a] / mass : 0.5 * (node.low[a] + node.high[a]);
}

/// Distance from the centre to the farthest corner of a prism, or an upper bound: the least of the bounds
/// from the cluster's box and from its prisms or children.
double Tree::reach(const Node& node) const {
  const auto to_corner = [&](const double(&low)[3], const double(&high)[3]) {
    double sum = 0;
    for (int a = 0; a < 3; ++a) {
      const double d = std::max(high[a] - node.centre[a], node.centre[a] - low[a]);
      sum += d * d;
    }
    return std::sqrt(sum);
  };
  double farthest = 0;
  if (node.children == 0) {
    for (std::size_t i = node.first; i < node.last; ++i) {
      const Bounds box = box_of(i);
      farthest = std::max(farthest, to_corner(box.low, box.high));
    }
  } else {
    for (const auto& child : children(node))
      farthest = std::max(farthest, std::min(to_corner(child.low, child.high),
                                             child.scale + distance(child.centre, node.centre)));
  }
  return std::min(to_corner(node.low, node.high), farthest);
}

/// Computes the bounds of the absolute moments, from those of the children or from the prisms.
void Tree::bound_moments(const Node& node) {
  double even[most_order / 2 + 2] = {};  // absolute moments Σ |m| |η|^(2i)
  const auto columns = columns_of(prisms_);
  const auto look = [&](const Node& some) {
    kernels_.gather(columns, prism_order().data() + some.first, some.size(), node.centre, node.scale, order_,
                    nullptr, even);
  };
  if (gathers(node)) look(node);
  else
    for (const auto& child : children(node)) {
      if (!child.expanded()) look(child);
      if (child.expanded() && child.mass != 0) add_moments(child, node, even);
    }
  const auto bound = [&](double sum) {
    return static_cast<float>(std::min(1.0, node.mass > 0 ? sum / node.mass * (1 + 1e-6) : 0.0));
  };
  float* const b = radial_.data() + node.expansion * radials();
  for (int n = 0; n < static_cast<int>(radials()); ++n)
    b[n] = n % 2 == 0 ? bound(even[n / 2]) : bound(std::sqrt(even[n / 2] * even[n / 2 + 1]));
}

/// Adds the bounds of a child's moments to those of its parent, about the parent's centre. By Minkowski's
/// inequality, the norm of |y| about the new centre is at most that about the old one plus their distance.
void Tree::add_moments(const Node& child, const Node& node, double* even) const {
  const double apart = distance(child.centre, node.centre) / node.scale, ratio = child.scale / node.scale;
  even[0] += child.mass;
  for (int i = 1; i < order_ / 2 + 2; ++i) {
    // Because |η| ≤ 1, the moment of a lower power is an upper limit.
    const int n = std::min(2 * i, order_ + 1);
    const double norm = std::pow(
        static_cast<double>(radial_[child.expansion * radials() + static_cast<std::size_t>(n)]), 1.0 / n);
    even[i] += child.mass * std::pow(std::min(norm * ratio + apart, 1.0), n);
  }
}

/// Whether the expansion is computed from the prisms directly rather than from the children's expansions: a
/// translation costs about as much as sixteen packs of prisms.
bool Tree::gathers(const Node& node) const {
  std::size_t moves = 0;
  for (std::uint32_t c = 0; c < node.children; ++c) moves += nodes_[node.child + c].expanded() ? 1 : 0;
  return moves == 0 || node.size() <= 16 * static_cast<std::size_t>(kernel_target().kernels[0].lanes) * moves;
}

/// The coefficients are not set to zero here: each thread does that for the expansions it computes.
Tree::Expansions Tree::room_for_expansions(int order) const {
  return {order,
          std::make_unique_for_overwrite<double[]>(expansions() *
                                                   static_cast<std::size_t>(coefficient_count(order))),
          std::vector<std::uint8_t>(nodes_.size())};
}

void Tree::make(const Node& node, Expansions& to) const {
  const auto terms = static_cast<std::size_t>(coefficient_count(to.order));
  const auto columns = columns_of(prisms_);
  double* const c = to.coefficients.get() + node.expansion * terms;
  std::fill_n(c, terms, 0.0);
  const auto gather = [&](const Node& from) {
    kernels_.gather(columns, prism_order().data() + from.first, from.size(), node.centre, node.scale,
                    to.order, c, nullptr);
  };
  if (gathers(node)) return gather(node);
  for (std::uint32_t i = 0; i < node.children; ++i) {
    const Node& child = nodes_[node.child + i];
    if (!child.expanded()) gather(child);
    else if (child.mass > 0)
      kernels_.move({{child.centre[0], child.centre[1], child.centre[2]},
                     child.scale,
                     to.coefficients.get() + child.expansion * terms},
                    node.centre, node.scale, to.order, c);
  }
}

/// Computes the wanted [nodes] expansions, and the children's expansions that they are computed from.
void Tree::make_expansions(std::vector<std::uint8_t> wanted, Expansions& to, Progress& progress) const {
  std::vector<std::uint32_t> todo;  // indices of nodes, level by level; parents come before their children
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (!wanted[n] || to.made[n] || !node.expanded()) continue;
    todo.push_back(static_cast<std::uint32_t>(n));
    if (!gathers(node)) std::fill_n(wanted.begin() + node.child, node.children, std::uint8_t{1});
  }
  for (std::size_t l = levels_.size() - 1; l-- > 0 && !todo.empty();) {
    const auto first = std::lower_bound(todo.begin(), todo.end(), levels_[l]);
    if (first == todo.end()) continue;
    for_each(static_cast<std::size_t>(todo.end() - first), threads_, [&](std::size_t i) {
      if (progress.cancelled()) throw Cancelled();
      make(nodes_[first[static_cast<std::ptrdiff_t>(i)]], to);
    });
    std::for_each(first, todo.end(), [&](std::uint32_t n) { to.made[n] = 1; });
    todo.erase(first, todo.end());
  }
}

void Tree::make_expansions(std::vector<std::uint8_t> wanted, Progress& progress) {
  make_expansions(std::move(wanted), expansions_, progress);
}

/// Computes the expansions that are evaluated at these tiles of stations.
void Tree::make_expansions(std::span<const std::size_t> tiles, std::span<const Tolerance> tolerances,
                           Expansions& to, Progress& progress) const {
  std::vector<std::uint8_t> wanted(nodes_.size(), 1);
  // If tiles are far more numerous than clusters, nearly all clusters are used, and finding the others would
  // take longer than computing their expansions.
  if (tiles.size() < 4 * nodes_.size()) {
    std::fill(wanted.begin(), wanted.end(), std::uint8_t{0});
    constexpr std::size_t chunk = 4;
    for_each((tiles.size() + chunk - 1) / chunk, threads_, [&](std::size_t c) {
      if (progress.cancelled()) throw Cancelled();
      for (std::size_t t = c * chunk; t < std::min((c + 1) * chunk, tiles.size()); ++t)
        traverse(
            receivers_->bounds(tiles[t]), tolerances[t], to.order,
            [&](const Node& node, int) {
              std::atomic_ref(wanted[static_cast<std::size_t>(&node - nodes_.data())])
                  .store(1, std::memory_order_relaxed);
            },
            [](const Node&) {});
    });
  }
  make_expansions(std::move(wanted), to, progress);
}

/// The lowest order p whose error is within the tolerance of V, g and Γ, those that are requested, at this
/// distance r from the centre; −1: no order up to `highest` is. The error is bounded by that of the neglected
/// terms, of degree n = p + 1 and more. Relative to Σ|m| / r^(k + 1), k = 0, 1, 2 for V, g, Γ, it is at most
///   c_k(n) b_n q^n / (1 − q c_k(n + 1)/c_k(n)),   q = s/r
///   c_0(n) = 1,   c_1(n) = n + 1,   c_2(n) = √1.5 (n + 1)(n + 2)
/// with b_n of moment_bounds(), s the scale and Σ|m| the mass of the cluster.
int Tree::serving_order(const Node& node, double distance, const Tolerance& tolerance, int highest) const {
  const double q = node.scale / distance;
  if (!(q < 0.95)) return -1;
  const float* const b = radial_.data() + node.expansion * static_cast<std::size_t>(order_ + 2);
  double power = 1;
  for (int n = 1; n <= highest + 1; ++n) {
    power *= q;
    const double term = power * static_cast<double>(b[n]), m = n + 1;
    if (wanted_[0] && !(term <= tolerance.of[0] * (1 - q))) continue;
    if (wanted_[1] && !(m * term <= tolerance.of[1] * (1 - q * (m + 1) / m))) continue;
    if (wanted_[2] && !(1.2247449 * m * (m + 1) * term <= tolerance.of[2] * (1 - q * (m + 2) / m))) continue;
    return n - 1;
  }
  return -1;
}

template <class Far, class Near>
void Tree::traverse(const Bounds& bounds, const Tolerance& tolerance, int highest, const Far& far,
                    const Near& near) const {
  if (nodes_.empty()) return;
  std::uint32_t stack[8 * 64];
  int depth = 0;
  std::vector<std::uint32_t> overflow;
  const auto push = [&](std::uint32_t n) {
    if (depth < static_cast<int>(std::size(stack))) stack[depth++] = n;
    else overflow.push_back(n);
  };
  push(0);
  while (depth > 0 || !overflow.empty()) {
    std::uint32_t index;
    if (!overflow.empty()) {
      index = overflow.back();
      overflow.pop_back();
    } else {
      index = stack[--depth];
    }
    const Node& node = nodes_[index];
    const double distance = node.distance(bounds);
    if (distance > node.scale) {
      if (node.mass == 0) continue;
      if (node.expanded()) {
        const int order = serving_order(node, distance, tolerance, highest);
        if (order >= 0 && evaluation_work(order, wanted_[2]) < pair_work(accuracy_) * node.size()) {
          far(node, order);
          continue;
        }
      }
    }
    if (node.children == 0) near(node);
    else
      for (std::uint32_t c = node.children; c-- > 0;) push(node.child + c);
  }
}

/// Adds, at each tile of the list, distant clusters by expansions up to order `highest`, and near leaves.
void Tree::add_to(TileSums& sums, std::span<const Tolerance> tolerances, int highest) const {
  for (std::size_t t = 0; t < sums.size(); ++t) {
    sums.stop_if_cancelled();
    traverse(
        receivers_->bounds(sums.tile(t)), tolerances[t], highest,
        [&](const Node& node, int order) { sums.add_far(node, order, t); },
        [&](const Node& node) { sums.meet(node, t); });
  }
  sums.add_near();
}

/// Sums over clusters, with |m| the mass of a cluster and r its distance from the nearest point of the box:
/// Σ |m| / r^(k + 1) estimates V, g and Γ (k = 0, 1, 2) as if no contributions cancelled. If every
/// cluster has the same relative error, and these errors are independent, the error of the sum is this
/// relative error times the root of the sum of the squared terms.
Tree::AbsoluteFields Tree::absolute_fields(const Bounds& bounds) const {
  AbsoluteFields fields{};
  if (nodes_.empty()) return fields;
  std::vector<std::uint32_t> open{0};
  while (!open.empty()) {
    const Node& node = nodes_[open.back()];
    open.pop_back();
    const double distance = node.distance(bounds);
    if (node.children > 0 && node.scale > 0.5 * distance) {
      for (std::uint32_t c = 0; c < node.children; ++c) open.push_back(node.child + c);
      continue;
    }
    const double inverse = 1 / std::max(distance, 0.6 * node.scale);
    double value = node.mass;
    for (int k = 0; k < 3; ++k) {
      value *= inverse;
      fields.sum[k] += value;
      fields.square[k] += value * value;
    }
  }
  return fields;
}

Tree::Tolerance Tree::tolerance_at(const Bounds& bounds) const {
  const auto fields = absolute_fields(bounds);
  Tolerance t{};
  for (int k = 0; k < 3; ++k) t.of[k] = tolerance_of(std::sqrt(fields.square[k]), k);
  return t;
}

Tree::Tolerance Tree::tolerance(std::size_t tile) const {
  Tolerance t{};
  for (int k = 0; k < 3; ++k)
    t.of[k] = tolerance_of(static_cast<double>(together_[tile][static_cast<std::size_t>(k)]), k);
  return t;
}

double Tree::tolerance_of(double together, int kind) const {
  return together > 0 ? std::clamp(truncation_share * accuracy_ * largest_[kind] / together, 1e-15, 0.1)
                      : 0.1;
}

/// Estimates the largest value of each kind, at the stations close to most mass and at others spread over the
/// survey, more and more accurately until the estimate is well above its own error.
void Tree::find_tolerance(Progress& progress) {
  if (tolerance_known_) return;
  const auto fields = absolute_fields_of_tiles(progress);
  const auto sample = tiles_to_try(fields);
  // A few digits mostly suffice, so the first estimates use expansions of low order.
  auto rough = room_for_expansions(std::min(order_, 6));
  std::fill_n(largest_, 3, 0.0);
  for (double relative = 1e-2; relative > 1e-14; relative *= 1e-3) {
    const auto found = largest_at(sample, relative, relative > 1e-3 ? rough : expansions_, progress);
    bool clear = true;
    for (std::size_t k = 0; k < 3; ++k) {
      if (!wanted_[k]) continue;
      double most = 0;
      for (std::size_t i = 0; i < sample.size(); ++i)
        most = std::max(most, found[i][k] - 2 * relative * fields[sample[i]][k]);
      largest_[k] = std::max(largest_[k], most);
      double absolute = 0;
      for (const auto i : sample) absolute = std::max(absolute, fields[i][k]);
      clear = clear && most > 4 * relative * absolute;
    }
    if (clear) break;
  }
  double pair = accuracy_;  // relative error allowed for one prism at one station
  for (std::size_t k = 0; k < 3; ++k) {
    if (!wanted_[k]) continue;
    double absolute = 0;
    for (const auto& f : fields) absolute = std::max(absolute, f[k]);
    if (absolute > 0) pair = std::min(pair, accuracy_ * largest_[k] / (4 * absolute));
  }
  sources_->set_switching(Switching::for_accuracy(std::clamp(pair, best_accuracy, 1e-3)));
  pair_accuracy_ = std::clamp(pair, best_accuracy, 1e-3);
  error_bound_ = accuracy_;
  tolerance_known_ = true;
}

/// For each tile and kind of field, the sum of the absolute values of all contributions. Also sets
/// `together_`.
std::vector<std::array<double, 3>> Tree::absolute_fields_of_tiles(Progress& progress) {
  const std::size_t count = receivers_->tiles();
  std::vector<std::array<double, 3>> fields(count);
  together_.resize(count);
  for_each((count + 15) / 16, threads_, [&](std::size_t c) {
    if (progress.cancelled()) throw Cancelled();
    for (std::size_t t = c * 16; t < std::min((c + 1) * 16, count); ++t) {
      const auto f = absolute_fields(receivers_->bounds(t));
      std::copy_n(f.sum, 3, fields[t].begin());
      for (std::size_t k = 0; k < 3; ++k) together_[t][k] = static_cast<float>(std::sqrt(f.square[k]));
    }
  });
  return fields;
}

/// The indices of up to eight tiles of stations spread over all, and, for each of V, g and Γ that is
/// requested, of the three tiles where it may be largest.
std::vector<std::size_t> Tree::tiles_to_try(const std::vector<std::array<double, 3>>& fields) const {
  const std::size_t count = fields.size(), spread = std::min<std::size_t>(8, count);
  std::vector<std::size_t> sample;
  for (std::size_t i = 0; i < spread; ++i) sample.push_back(i * count / spread);
  for (std::size_t k = 0; k < 3; ++k) {
    if (!wanted_[k]) continue;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const std::size_t top = std::min<std::size_t>(3, count);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return fields[a][k] > fields[b][k] || (fields[a][k] == fields[b][k] && a < b);
                      });
    sample.insert(sample.end(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top));
  }
  std::sort(sample.begin(), sample.end());
  sample.erase(std::unique(sample.begin(), sample.end()), sample.end());
  return sample;
}

/// The largest field of each kind at the stations of these tiles, summed to a relative tolerance.
std::vector<std::array<double, 3>> Tree::largest_at(const std::vector<std::size_t>& sample, double relative,
                                                    Expansions& expansions, Progress& progress) {
  const auto switching = Switching::for_accuracy(std::clamp(relative, best_accuracy, 1e-3));
  sources_->set_switching(switching);
  const std::vector<Tolerance> tolerances(sample.size(), {{relative, relative, relative}});
  make_expansions(sample, tolerances, expansions, progress);
  std::vector<std::array<double, 3>> found(sample.size());
  for_each(sample.size(), threads_, [&](std::size_t i) {
    TileSums task(*this, expansions, switching, {sample[i]}, progress);
    add_to(task, {&tolerances[i], 1}, expansions.order);
    const int stations = receivers_->tile(sample[i]).count;
    std::vector<std::array<double, 3>> square(static_cast<std::size_t>(stations));
    task.each_channel(0, [&](std::size_t, Channel channel, const double* sums) {
      for (int s = 0; s < stations; ++s)
        square[static_cast<std::size_t>(s)][static_cast<std::size_t>(kind_of(channel))] +=
            weight_of(channel) * sums[s] * sums[s];
    });
    // On surfaces the tensor has no value to compare with.
    for (const auto& contact : task.contacts())
      if (!contact.inside())
        for (int s = 0; s < stations; ++s)
          if (receivers_->station(sample[i], s) == contact.station)
            square[static_cast<std::size_t>(s)][2] = 0;
    for (const auto& values : square)
      for (std::size_t k = 0; k < 3; ++k) found[i][k] = std::max(found[i][k], std::sqrt(values[k]));
  });
  return found;
}

void Tree::prepare(Progress& progress) {
  measure(progress);
  find_tolerance(progress);
}

std::size_t Tree::clusters() const { return nodes_.size(); }

std::pair<std::uint32_t, std::uint32_t> Tree::prisms_of(std::size_t cluster) const {
  return {nodes_[cluster].first, nodes_[cluster].size()};
}

bool Tree::is_leaf(std::size_t cluster) const { return nodes_[cluster].children == 0; }

Expansion Tree::expansion(std::size_t cluster) const {
  const Node& node = nodes_[cluster];
  return {{node.centre[0], node.centre[1], node.centre[2]},
          node.scale,
          node.expanded() ? expansions_.coefficients.get() +
                                node.expansion * static_cast<std::size_t>(coefficient_count(order_))
                          : nullptr};
}

Tree::Meetings Tree::meetings(const Bounds& bounds) const {
  const Tolerance tolerance = tolerance_at(bounds);
  Meetings found;
  const auto number = [&](const Node& node) { return static_cast<std::uint32_t>(&node - nodes_.data()); };
  traverse(
      bounds, tolerance, order_,
      [&](const Node& node, int order) {
        found.far.push_back({number(node), static_cast<std::uint32_t>(order)});
      },
      [&](const Node& node) { found.near.push_back(number(node)); });
  return found;
}

/// Number of pairs of a prism of a leaf and a station of a tile that touch, or are too close to a stretched
/// prism for the stable form.
std::size_t Tree::pairs_one_by_one(const Node& leaf, std::size_t tile, const Switching& switching) const {
  const std::span<const double> low[3] = {prisms_.west, prisms_.south, prisms_.bottom},
                                high[3] = {prisms_.east, prisms_.north, prisms_.top};
  const auto& stations = receivers_->tile(tile);
  const double* const at[3] = {stations.x, stations.y, stations.z};
  std::size_t pairs = 0;
  for (std::size_t i = leaf.first; i < leaf.last; ++i) {
    const std::size_t n = prism_order()[i];
    const Bounds box{{low[0][n], low[1][n], low[2][n]}, {high[0][n], high[1][n], high[2][n]}};
    const PrismSwitching limits(switching, high[0][n] - low[0][n], high[1][n] - low[1][n],
                                high[2][n] - low[2][n]);
    const double reach2 = limits.stretched ? limits.stable_h2 : 0;
    if (squared_gap(box, receivers_->bounds(tile)) > reach2) continue;
    for (int s = 0; s < stations.count; ++s) {
      double h2 = 0;
      for (int a = 0; a < 3; ++a) {
        const double gap = std::max({low[a][n] - at[a][s], at[a][s] - high[a][n], 0.0});
        h2 += gap * gap;
      }
      if (h2 == 0 || h2 < reach2) ++pairs;
    }
  }
  return pairs;
}

TreeCost Tree::cost(Progress& progress) {
  prepare(progress);
  const std::size_t count = receivers_->tiles(), sample = std::min<std::size_t>(count, 64);
  const auto switching = Switching::for_accuracy(pair_accuracy_);
  struct Counted {
    double expansions = 0, terms = 0, prisms = 0, pairs_one_by_one = 0, work = 0;
  };
  // [sampled tiles] counts per station; `work` excludes pairs_one_by_one.
  std::vector<Counted> counted(sample);
  for_each(sample, threads_, [&](std::size_t i) {
    const std::size_t t = i * count / sample;
    auto& c = counted[i];
    traverse(
        receivers_->bounds(t), tolerance(t), order_,
        [&](const Node&, int order) {
          c.expansions += 1;
          c.terms += coefficient_count(order);
          c.work += evaluation_work(order, wanted_[2]);
        },
        [&](const Node& node) {
          c.prisms += node.size();
          c.work += node.size() * pair_work(accuracy_);
          c.pairs_one_by_one += static_cast<double>(pairs_one_by_one(node, t, switching));
        });
  });
  TreeCost cost;
  double work = 0;
  for (std::size_t i = 0; i < sample; ++i) {
    const auto& c = counted[i];
    const std::size_t place = i * count / sample;
    const double stations = receivers_->tile(place).count;
    cost.expansions += stations * c.expansions;
    cost.expansion_terms += stations * c.terms;
    cost.near_pairs += stations * c.prisms;
    cost.one_by_one_seconds += c.pairs_one_by_one * seconds_per_pair_by_itself;
    cost.most_far = std::max(cost.most_far, c.expansions);
    cost.most_near = std::max(cost.most_near, c.prisms);
    work += stations * c.work;
  }
  const double scale = sample > 0 ? static_cast<double>(count) / static_cast<double>(sample) : 0.0,
               packs = static_cast<double>(kernel_target().kernels[0].lanes);
  cost.expansions *= scale;
  cost.expansion_terms *= scale;
  cost.near_pairs *= scale;
  cost.one_by_one_seconds *= scale;
  cost.seconds = work * scale / packs * seconds_per_pack_operation + cost.one_by_one_seconds;
  cost.memory_bytes = memory_bytes();
  return cost;
}

std::size_t Tree::tiles_per_task() const { return stations_per_task / stations_per_tile_; }

std::size_t Tree::parts() const { return (receivers_->tiles() + tiles_per_task() - 1) / tiles_per_task(); }

Summation::Part Tree::part(std::size_t index) const {
  return {receivers_->stations(index * tiles_per_task(), (index + 1) * tiles_per_task()), channels_};
}

void Tree::sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) {
  prepare(progress);
  const std::size_t begin = first * tiles_per_task(),
                    end = std::min(last * tiles_per_task(), receivers_->tiles());
  std::vector<std::size_t> tiles(end - std::min(begin, end));
  std::iota(tiles.begin(), tiles.end(), begin);
  std::vector<Tolerance> tolerances(tiles.size());
  for_each(tiles.size(), threads_, [&](std::size_t t) { tolerances[t] = tolerance(tiles[t]); });
  make_expansions(tiles, tolerances, expansions_, progress);
  std::uint64_t stations = 0;
  for (std::size_t p = first; p < last; ++p) stations += part(p).stations.size();
  progress.start("gravity", stations);
  const auto switching = Switching::for_accuracy(pair_accuracy_);
  std::mutex taking;
  for_each(last - first, threads_, [&](std::size_t i) {
    const std::size_t index = first + i;
    const std::size_t from = index * tiles_per_task(),
                      to = std::min(from + tiles_per_task(), receivers_->tiles());
    TileSums task(*this, expansions_, switching,
                  {tiles.begin() + static_cast<std::ptrdiff_t>(from - begin),
                   tiles.begin() + static_cast<std::ptrdiff_t>(to - begin)},
                  progress);
    add_to(task, std::span(tolerances).subspan(from - begin, to - from), order_);
    PartSums sums = task.part_sums();
    progress.advance(part(index).stations.size());
    const std::lock_guard lock(taking);
    take(index, std::move(sums));
  });
  progress.finish();
}

std::size_t Tree::bytes_to_grow() const {
  return nodes_.size() * sizeof(Node) + 2 * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) * prisms_.size();
}

std::size_t Tree::memory_bytes() const {
  const std::size_t prisms = prisms_.size();
  const std::size_t tile = sizeof(StationTile) / stations_per_tile_;
  // About three eighths of the memory of the expansions are used: few are of the highest order.
  const std::size_t summing =
      expansions() * static_cast<std::size_t>(coefficient_count(order_)) * sizeof(double) * 3 / 8 +
      radial_.size() * sizeof(float) + prisms * sizeof(std::uint32_t) +
      stations_.size() * (sizeof(std::uint32_t) + tile + channels_.size() * sizeof(double));
  return std::max(bytes_to_grow(), nodes_.size() * sizeof(Node) + summing);
}

}  // namespace terrane::gravity
