// Minimum cost: a translation of order p needs about (p + 2)⁴ / 6 multiply-adds, for a pack of clusters at a
// time; at a station one local expansion is evaluated, 9 (p + 3)². Only close pairs are computed one by one.
#include "terrane/physics/gravity/fmm/fmm.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <mutex>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/gravity/sum/candidate.hpp"
#include "terrane/physics/gravity/tree/tile_sums.hpp"

namespace terrane::gravity {

namespace {

constexpr std::uint32_t tiles_per_part = 64;
constexpr std::size_t most_sampled = 24;  // most parts that are sampled to estimate the cost
// Bytes of a part's lists and local expansion before it is summed.
constexpr std::size_t bytes_per_part = 4096;
// A cluster is split before a box of stations if its scale is larger than this times the box's radius.
constexpr double split_if_larger = 1.5;
constexpr double close_pair_work = 600;  // operations per pack of pairs if all of them are close
// Bytes per thread: sums of a part, tables of a translation.
constexpr std::size_t bytes_per_thread = 1100000;
constexpr std::size_t group_of_device = 32;  // stations in a group: device_tile of tiles/device_kernels.hpp
// Least scale of a local expansion, relative to the extent of all stations and prisms.
constexpr double least_scale = 1e-8;

/// Multiply-adds of a translation of order p.
double translation_terms(int p, int added) {
  double terms = 0;
  for (int n = 0; n <= p; ++n) terms += (2.0 * n + 1) * (p + added + 1 - n) * (p + added + 1 - n);
  return terms;
}
double collecting(int p, int added, int lanes) {
  return (1.2 * translation_terms(p, added) + 6.5 * (p + added + 1) * (p + added + 1)) / lanes +
         2.0 * (p + 1) * (p + 1);
}
/// Operations of one thread per translation: the threads of a group share the complex multiply-adds, and not
/// all threads are busy all the time.
double collecting_on_device(int p, int added) {
  return 0.15 * translation_terms(p, added) + 6.0 * (p + added + 1) * (p + added + 1);
}
double shifting(int degree) { return 1.5 * (degree + 1) * (degree + 1) * (degree + 1); }

/// Most prisms of a leaf: fewer if there are more stations per prism.
std::size_t leaf_of(std::size_t prisms, std::size_t stations) {
  return prisms > 4 * stations ? 64 : prisms > stations ? 32 : 16;
}

/// The highest order of expansions: higher than for the tree, because high orders allow translations to much
/// closer boxes, and clusters that are still closer are computed pair by pair.
int highest_order(double accuracy) {
  return std::clamp(static_cast<int>(std::lround(8 - 2 * std::log10(accuracy))), 4, most_order);
}
/// The highest order on devices, lower than on CPUs, because devices compute pairs faster in comparison with
/// translations.
int highest_device_order(double accuracy) {
  return std::clamp(static_cast<int>(std::lround(6 - 1.7 * std::log10(accuracy))), 4, most_order);
}
std::size_t device_leaf(std::size_t prisms, std::size_t stations) { return prisms > stations ? 64 : 32; }

}  // namespace

Fmm::Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
         Progress& progress)
    : Fmm(prisms, stations, channels, accuracy, threads, progress,
          Settings{{leaf_of(prisms.size(), stations.size()), 2, highest_order(accuracy), 0},
                   Tree::pair_work(accuracy),
                   std::max(close_pair_work, Tree::pair_work(accuracy)),
                   true,
                   false}) {}

Fmm::Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
         Progress& progress, const Kept& kept)
    : Fmm(prisms, stations, channels, accuracy, threads, progress,
          Settings{{kept.leaf, 2, kept.order, 0}, kept.pair_work, kept.pair_work, false, false}) {}

Fmm::Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
         Progress& progress, const ForDevice& device)
    : Fmm(prisms, stations, channels, accuracy, threads, progress,
          Settings{{device.leaf > 0 ? device.leaf : device_leaf(prisms.size(), stations.size()), 2,
                    device.order > 0 ? device.order : highest_device_order(accuracy), group_of_device},
                   Tree::pair_work(accuracy),
                   Tree::pair_work(accuracy),
                   false,
                   true}) {}

Fmm::Fmm(const Prisms& prisms, const Stations& stations, ChannelSet channels, double accuracy, int threads,
         Progress& progress, const Settings& settings)
    : tree_(prisms, stations, channels, accuracy, threads, progress, settings.leaves),
      kernels_(local_kernels()),
      added_(tree_.wants(2)   ? 2
             : tree_.wants(1) ? 1
                              : 0),
      pair_work_(settings.pair_work),
      close_pair_work_(settings.close_pair_work),
      at_stations_(settings.at_stations),
      lanes_(settings.on_device ? static_cast<int>(group_of_device) : kernel_target().kernels[0].lanes) {
  for (int p = 0; p <= tree_.order(); ++p)
    collect_work_[p] = settings.on_device ? collecting_on_device(p, added_) : collecting(p, added_, lanes_);
  cut_cells();
}

/// Cuts the stations into boxes as the compact order does (mesh/order.hpp), two cuts at a time.
void Fmm::cut_cells() {
  const auto tiles = static_cast<std::uint32_t>(tree_.receivers().tiles());
  if (tiles == 0) return;
  cells_.push_back({0, tiles});
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    const std::uint32_t first = cells_[c].first, last = cells_[c].last;
    if (last - first < 2) continue;
    const std::uint32_t child = static_cast<std::uint32_t>(cells_.size()),
                        middle = first + (last - first) / 2;
    const auto add = [&](std::uint32_t from, std::uint32_t to) {
      Cell cell{from, to};
      cell.level = cells_[c].level + 1;
      cells_.push_back(cell);
    };
    for (const auto& [from, to] : {std::pair(first, middle), std::pair(middle, last)}) {
      const std::uint32_t half = from + (to - from) / 2;
      if (to - from < 2) {
        add(from, to);
      } else {
        add(from, half);
        add(half, to);
      }
    }
    cells_[c].child = child;
    cells_[c].children = static_cast<std::uint32_t>(cells_.size()) - child;
  }
  // Parts in the order of their tiles: the largest cells of at most tiles_per_part tiles.
  const auto number_parts = [&](const auto& self, std::uint32_t c) -> void {
    auto& cell = cells_[c];
    cell.first_part = static_cast<std::uint32_t>(parts_.size());
    if (cell.last - cell.first <= tiles_per_part) parts_.push_back(c);
    else
      for (std::uint32_t i = 0; i < cell.children; ++i) self(self, cell.child + i);
    cell.last_part = static_cast<std::uint32_t>(parts_.size());
  };
  number_parts(number_parts, 0);
}

void Fmm::prepare(Progress& progress) {
  if (prepared_) return;
  tree_.prepare(progress);
  const auto terms = static_cast<std::size_t>(tree_.order() + 2);
  norms_.assign(tree_.expansions() * terms, 0.0F);
  for_each((tree_.nodes().size() + 255) / 256, tree_.threads(), [&](std::size_t chunk) {
    for (std::size_t n = chunk * 256; n < std::min((chunk + 1) * 256, tree_.nodes().size()); ++n) {
      const auto& node = tree_.nodes()[n];
      if (!node.expanded()) continue;
      const auto moments = tree_.moment_bounds(node);
      for (std::size_t k = 1; k < terms; ++k)
        norms_[node.expansion * terms + k] =
            std::min(1.0F, (1 + 1e-6F) * std::pow(moments[k], 1.0F / static_cast<float>(k)));
    }
  });
  measure_cells();
  prepared_ = true;
}

/// Computes the cells' boxes, and the least tolerance of their tiles, from the smallest cells up.
void Fmm::measure_cells() {
  const auto& receivers = tree_.receivers();
  for (std::size_t c = cells_.size(); c-- > 0;) {
    auto& cell = cells_[c];
    if (cell.leaf()) {
      cell.bounds = receivers.bounds(cell.first);
      cell.tolerance = tree_.tolerance(cell.first);
    } else {
      cell.bounds = cells_[cell.child].bounds;
      cell.tolerance = cells_[cell.child].tolerance;
      for (std::uint32_t i = 1; i < cell.children; ++i) {
        const auto& child = cells_[cell.child + i];
        for (int a = 0; a < 3; ++a) {
          cell.bounds.low[a] = std::min(cell.bounds.low[a], child.bounds.low[a]);
          cell.bounds.high[a] = std::max(cell.bounds.high[a], child.bounds.high[a]);
          cell.tolerance.of[a] = std::min(cell.tolerance.of[a], child.tolerance.of[a]);
        }
      }
    }
    double squares = 0;
    for (int a = 0; a < 3; ++a) {
      const double half = 0.5 * (cell.bounds.high[a] - cell.bounds.low[a]);
      cell.place.centre[a] = cell.bounds.low[a] + half;
      squares += half * half;
    }
    cell.radius = std::sqrt(squares) * (1 + 1e-12);
  }
  if (cells_.empty() || tree_.nodes().empty()) return;
  // Stations at one point have a radius of 0; a scale must be larger than 0.
  const auto& all = tree_.nodes()[0];
  double extent = all.scale;
  for (int a = 0; a < 3; ++a)
    extent = std::max({extent, std::fabs(cells_[0].bounds.high[a] - all.centre[a]),
                       std::fabs(cells_[0].bounds.low[a] - all.centre[a])});
  for (auto& cell : cells_) cell.place.scale = std::max(cell.radius, least_scale * extent);
}

/// Whether a translation of this order keeps every wanted kind within the tolerance, see fmm.hpp.  near:
/// distance from the cluster's centre to the nearest station, for which the tolerance holds; distance: to
/// the cell's centre
bool Fmm::serves(const Tree::Node& cluster, const Cell& cell, double near, double distance, int order) const {
  const int n = order + 1;
  const double inverse = 1 / distance, q = (cell.radius + cluster.scale) * inverse, m = n + 1,
               norm = static_cast<double>(
                   norms_[cluster.expansion * static_cast<std::size_t>(tree_.order() + 2) +
                          static_cast<std::size_t>(n)]),
               base = (cell.radius + cluster.scale * norm) * inverse, ratio = distance / near;
  double term = 1, power = base;
  for (int k = n; k > 0; k >>= 1) {
    if (k & 1) term *= power;
    power *= power;
  }
  const auto& t = cell.tolerance;
  if (tree_.wants(0) && !(term <= t.of[0] * ratio * (1 - q))) return false;
  if (tree_.wants(1) && !(m * term <= t.of[1] * ratio * ratio * (1 - q * (m + 1) / m))) return false;
  return !tree_.wants(2) ||
         1.2247449 * m * (m + 1) * term <= t.of[2] * ratio * ratio * ratio * (1 - q * (m + 2) / m);
}

/// The lowest order that is accurate enough for a translation, or −1.
int Fmm::local_order(const Tree::Node& cluster, const Cell& cell, double near, double distance) const {
  if (!(cell.radius + cluster.scale < 0.95 * distance)) return -1;
  int high = tree_.order();
  if (!serves(cluster, cell, near, distance, high)) return -1;
  for (int low = 0; low < high;) {
    const int middle = (low + high) / 2;
    if (serves(cluster, cell, near, distance, middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

double Fmm::stations_of(const Cell& cell) const {
  return static_cast<double>(tree_.receivers().stations(cell.first, cell.last).size());
}

double Fmm::packs_of(const Cell& cell) const { return std::ceil(stations_of(cell) / lanes_); }

/// Uses an expansion of the cluster for the cell, if one is accurate enough and costs less than pairs;
/// returns whether it does.
bool Fmm::serve_at_once(const Tree::Node& cluster, const Cell& cell, Served& to) const {
  if (!cluster.expanded()) return false;
  const double near = cluster.distance(cell.bounds);
  if (!(near > cluster.scale)) return false;
  double apart = 0;
  for (int a = 0; a < 3; ++a) {
    const double d = cell.place.centre[a] - cluster.centre[a];
    apart += d * d;
  }
  const double packs = packs_of(cell), pairs = pair_work_ * cluster.size() * packs;
  const int local = local_order(cluster, cell, near, std::sqrt(apart));
  const double by_local = local >= 0 ? collect_work_[local] : INFINITY;
  double by_points = INFINITY;
  int order = -1;
  if (cell.leaf() && at_stations_) {
    order = tree_.serving_order(cluster, near, cell.tolerance, tree_.order());
    if (order >= 0) by_points = Tree::evaluation_work(order, tree_.wants_tensor()) * packs;
  }
  if (!(std::min(by_local, by_points) < pairs)) return false;
  const auto number = static_cast<std::uint32_t>(tree_.number(cluster));
  if (by_local <= by_points) to.local.push_back({number, local});
  else to.far.push_back({number, order});
  return true;
}

/// Finds how the cell interacts with the clusters of a list. A cluster whose expansion cannot be used is
/// split if it is larger than the cell; otherwise it is left to the cell's children.
void Fmm::serve(const Cell& cell, std::span<const std::uint32_t> list, Served& to) const {
  std::vector<std::uint32_t> stack(list.rbegin(), list.rend());
  while (!stack.empty()) {
    const auto& cluster = tree_.nodes()[stack.back()];
    stack.pop_back();
    if (cluster.mass == 0 && cluster.distance(cell.bounds) > cluster.scale) continue;
    if (serve_at_once(cluster, cell, to)) continue;
    const auto number = static_cast<std::uint32_t>(tree_.number(cluster));
    if (cluster.children > 0 && (cell.leaf() || cluster.scale > split_if_larger * cell.radius))
      for (std::uint32_t c = cluster.children; c-- > 0;) stack.push_back(cluster.child + c);
    else if (cell.leaf()) to.near.push_back(number);
    else to.open.push_back(number);
  }
}

/// The local expansion of a cell: that of its parent, shifted, plus those of its own list.
Fmm::Local Fmm::local_of(const Cell& cell, const Local& above, Served& served) const {
  // Highest orders first, so that packs have similar orders; within an order in the sequence of the
  // traversal.
  std::stable_sort(served.local.begin(), served.local.end(),
                   [](const Serving& a, const Serving& b) { return a.order > b.order; });
  Local local;
  local.degree = above.degree;
  if (!served.local.empty()) local.degree = std::max(local.degree, served.local.front().order + added_);
  if (local.degree < 0) return local;
  local.numbers.assign(static_cast<std::size_t>(coefficient_count(local.degree)), 0.0);
  if (above.degree >= 0) {
    const auto parent = above.place;
    kernels_.shift(parent, above.degree, above.numbers.data(), cell.place, local.numbers.data());
  }
  local.place = cell.place;
  std::vector<FarSource> sources;
  sources.reserve(served.local.size());
  for (const auto& s : served.local) sources.push_back({tree_.made().of(tree_.nodes()[s.cluster]), s.order});
  kernels_.collect(sources, added_, cell.place, local.numbers.data());
  return local;
}

template <class State, class Handle>
void Fmm::descend(const Cell& cell, std::span<const std::uint32_t> list, const State& above,
                  const Handle& handle) const {
  Served served;
  serve(cell, list, served);
  const State state = handle(cell, above, served);
  for (std::uint32_t c = 0; c < cell.children; ++c)
    descend(cells_[cell.child + c], served.open, state, handle);
}

/// Traverses the cells down to the wanted parts. Level by level, handle(cell, parent's state, its clusters)
/// returns the state of each cell that contains several parts; then use(part, list of clusters, parent's
/// state) is called for each part. Both are called from several threads.
template <class State, class Handle, class Use>
void Fmm::walk(const std::vector<std::uint8_t>& wanted, State root, const Handle& handle,
               const Use& use) const {
  struct Open {
    std::uint32_t cell;
    std::shared_ptr<const std::pair<std::vector<std::uint32_t>, State>> from;
  };
  using From = std::pair<std::vector<std::uint32_t>, State>;
  if (cells_.empty() || tree_.nodes().empty()) return;
  std::vector<Open> open{{0, std::make_shared<const From>(std::vector<std::uint32_t>{0}, std::move(root))}},
      parts;
  const auto is_wanted = [&](const Cell& cell) {
    return std::any_of(wanted.begin() + cell.first_part, wanted.begin() + cell.last_part,
                       [](std::uint8_t w) { return w != 0; });
  };
  while (!open.empty()) {
    std::vector<Open> level;
    for (auto& o : open) {
      const auto& cell = cells_[o.cell];
      if (!is_wanted(cell)) continue;
      (cell.last - cell.first <= tiles_per_part ? parts : level).push_back(std::move(o));
    }
    std::vector<std::shared_ptr<const From>> states(level.size());
    for_each(level.size(), tree_.threads(), [&](std::size_t i) {
      const auto& cell = cells_[level[i].cell];
      Served served;
      serve(cell, level[i].from->first, served);
      State state = handle(cell, level[i].from->second, served);
      states[i] = std::make_shared<const From>(std::move(served.open), std::move(state));
    });
    open.clear();
    for (std::size_t i = 0; i < level.size(); ++i) {
      const auto& cell = cells_[level[i].cell];
      for (std::uint32_t c = 0; c < cell.children; ++c) open.push_back({cell.child + c, states[i]});
    }
  }
  for_each(parts.size(), tree_.threads(), [&](std::size_t i) {
    const auto from = std::move(parts[i].from);
    use(cells_[parts[i].cell].first_part, from->first, from->second);
  });
}

std::vector<Fmm::Served> Fmm::served(Progress& progress) {
  return served(0, tree_.receivers().tiles(), progress);
}

std::vector<Fmm::Served> Fmm::served(std::size_t first, std::size_t last, Progress& progress) {
  prepare(progress);
  std::vector<Served> all(cells_.size());
  std::vector<std::uint8_t> wanted(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p)
    wanted[p] = cells_[parts_[p]].first < last && cells_[parts_[p]].last > first;
  const auto keep = [&](const Cell& cell, const Nothing&, Served& served) {
    if (progress.cancelled()) throw Cancelled();
    auto& to = all[static_cast<std::size_t>(&cell - cells_.data())];
    to.local = std::move(served.local);
    to.far = std::move(served.far);
    to.near = std::move(served.near);
    return Nothing{};
  };
  walk(wanted, Nothing{}, keep,
       [&](std::size_t part, const std::vector<std::uint32_t>& list, const Nothing& above) {
         descend(cells_[parts_[part]], list, above, keep);
       });
  return all;
}

Summation::Part Fmm::part(std::size_t index) const {
  const auto& cell = cells_[parts_[index]];
  return {tree_.receivers().stations(cell.first, cell.last), tree_.channels()};
}

/// Whether the parts have far more tiles than there are clusters. Then nearly all clusters are used, and
/// finding the others would take longer than computing their expansions.
bool Fmm::meet_most(std::size_t first, std::size_t last) const {
  return last > first &&
         cells_[parts_[last - 1]].last - cells_[parts_[first]].first >= 4 * tree_.nodes().size();
}

bool Fmm::holds_parts(const Cell& cell) { return cell.last - cell.first > tiles_per_part; }

/// Computes the expansions that are used for these parts.
void Fmm::make_expansions(std::size_t first, std::size_t last, Progress& progress) {
  std::vector<std::uint8_t> wanted(tree_.nodes().size(), 1), parts(parts_.size());
  std::fill(parts.begin() + static_cast<std::ptrdiff_t>(first),
            parts.begin() + static_cast<std::ptrdiff_t>(last), std::uint8_t{1});
  if (!meet_most(first, last)) {
    std::fill(wanted.begin(), wanted.end(), std::uint8_t{0});
    const auto mark = [&](const Cell&, const Nothing&, const Served& served) {
      if (progress.cancelled()) throw Cancelled();
      for (const auto* list : {&served.local, &served.far})
        for (const auto& s : *list) std::atomic_ref(wanted[s.cluster]).store(1, std::memory_order_relaxed);
      return Nothing{};
    };
    walk(parts, Nothing{}, mark,
         [&](std::size_t part, const std::vector<std::uint32_t>& list, const Nothing& above) {
           descend(cells_[parts_[part]], list, above, mark);
         });
  }
  tree_.make_expansions(std::move(wanted), progress);
}

PartSums Fmm::sum_part(std::size_t part, std::span<const std::uint32_t> list, const Local& above,
                       const Switching& switching, Progress& progress) const {
  const auto& whole = cells_[parts_[part]];
  std::vector<std::size_t> tiles(whole.last - whole.first);
  for (std::size_t t = 0; t < tiles.size(); ++t) tiles[t] = whole.first + t;
  TileSums sums(tree_, tree_.made(), switching, std::move(tiles), progress);
  descend(whole, list, above, [&](const Cell& cell, const Local& from, Served& served) {
    sums.stop_if_cancelled();
    Local local = local_of(cell, from, served);
    if (!cell.leaf()) return local;
    const std::size_t t = cell.first - whole.first;
    if (local.degree >= 0)
      kernels_.evaluate(local.place, local.degree, local.numbers.data(), tree_.wants_tensor(),
                        tree_.receivers().tile(cell.first), sums.far(t));
    for (const auto& s : served.far) sums.add_far(tree_.nodes()[s.cluster], s.order, t);
    for (const auto n : served.near) sums.meet(tree_.nodes()[n], t);
    return local;
  });
  sums.add_near();
  return sums.part_sums();
}

void Fmm::sum(std::size_t first, std::size_t last, const Take& take, Progress& progress) {
  if (first >= last) return;
  prepare(progress);
  make_expansions(first, last, progress);
  std::uint64_t stations = 0;
  std::vector<std::uint8_t> wanted(parts_.size());
  for (std::size_t p = first; p < last; ++p) {
    stations += part(p).stations.size();
    wanted[p] = 1;
  }
  progress.start("gravity", stations);
  const auto switching = Switching::for_accuracy(tree_.pair_accuracy());
  std::mutex taking;
  const auto done = [&](std::size_t p, PartSums&& sums) {
    progress.advance(part(p).stations.size());
    const std::lock_guard lock(taking);
    take(p, std::move(sums));
  };
  walk(
      wanted, Local{},
      [&](const Cell& cell, const Local& above, Served& served) {
        if (progress.cancelled()) throw Cancelled();
        return local_of(cell, above, served);
      },
      [&](std::size_t p, const std::vector<std::uint32_t>& list, const Local& above) {
        done(p, sum_part(p, list, above, switching, progress));
      });
  if (tree_.nodes().empty())  // without prisms there is no field
    for (std::size_t p = first; p < last; ++p)
      done(p, {std::vector(tree_.channels().size(), std::vector<double>(part(p).stations.size())), {}});
  progress.finish();
}

struct Fmm::Counted {
  double cells = 0, translations = 0, expansions = 0, near_pairs = 0, one_by_one = 0, operations = 0;
  void add(const Counted& other, double times) {
    cells += times * other.cells;
    translations += times * other.translations;
    expansions += times * other.expansions;
    near_pairs += times * other.near_pairs;
    one_by_one += times * other.one_by_one;
    operations += times * other.operations;
  }
};

/// Adds the work of a cell to the counts; returns the degree of its local expansion. above: the degree of the
/// parent's local expansion, −1: it has none.
int Fmm::count(const Cell& cell, int above, const Served& served, const Switching& switching,
               Counted& to) const {
  int degree = above;
  to.cells += 1;
  for (const auto& s : served.local) {
    to.translations += 1;
    to.operations += collect_work_[s.order];
    degree = std::max(degree, s.order + added_);
  }
  if (above >= 0) to.operations += shifting(above);
  if (!cell.leaf()) return degree;
  const double packs = packs_of(cell), stations = stations_of(cell);
  if (degree >= 0) to.operations += packs * Tree::evaluation_work(degree, tree_.wants_tensor());
  for (const auto& s : served.far) {
    to.expansions += stations;
    to.operations += packs * Tree::evaluation_work(s.order, tree_.wants_tensor());
  }
  for (const auto n : served.near) {
    const auto& leaf = tree_.nodes()[n];
    to.near_pairs += stations * leaf.size();
    to.operations += packs * leaf.size() * close_pair_work_;
    to.one_by_one += static_cast<double>(tree_.pairs_one_by_one(leaf, cell.first, switching));
  }
  return degree;
}

/// A sample of the parts; the work of their cells; and for each cluster, the sampled parts that use its
/// expansion.
struct Fmm::Sample {
  std::vector<std::uint8_t> parts;        // [parts] whether the sample contains the part
  std::vector<Counted> of_cell, of_part;  // counts of work: of_cell [cells of several parts], of_part [parts]
  // [clusters] One bit for each sampled part that uses the cluster's expansion; all bits if a larger cell
  // uses the expansion.
  std::vector<std::uint32_t> met;
};

/// Chooses the sample. In cells_, the cells of several parts come first.
Fmm::Sample Fmm::sample_parts() const {
  const std::size_t count = std::min<std::size_t>(parts_.size(), most_sampled);
  Sample sample;
  sample.parts.resize(parts_.size());
  for (std::size_t i = 0; i < count; ++i) sample.parts[i * parts_.size() / count] = 1;
  std::size_t upper = 0;
  for (std::size_t c = 0; c < cells_.size(); ++c)
    if (holds_parts(cells_[c])) upper = c + 1;
  sample.of_cell.resize(upper);
  sample.of_part.resize(parts_.size());
  sample.met.resize(tree_.nodes().size());
  return sample;
}

void Fmm::walk_sample(Sample& sample, Progress& progress) const {
  const auto switching = Switching::for_accuracy(tree_.pair_accuracy());
  const auto look = [&](const Cell& cell, int above, const Served& served, std::uint32_t bits, Counted& to) {
    if (progress.cancelled()) throw Cancelled();
    for (const auto* list : {&served.local, &served.far})
      for (const auto& s : *list)
        std::atomic_ref(sample.met[s.cluster]).fetch_or(bits, std::memory_order_relaxed);
    return count(cell, above, served, switching, to);
  };
  walk(
      sample.parts, -1,
      [&](const Cell& cell, int above, const Served& served) {
        return look(cell, above, served, ~std::uint32_t{0},
                    sample.of_cell[static_cast<std::size_t>(&cell - cells_.data())]);
      },
      [&](std::size_t part, const std::vector<std::uint32_t>& list, int above) {
        const auto before =
            std::count(sample.parts.begin(), sample.parts.begin() + static_cast<std::ptrdiff_t>(part), 1);
        descend(cells_[parts_[part]], list, above, [&](const Cell& cell, int degree, const Served& served) {
          return look(cell, degree, served, std::uint32_t{1} << before, sample.of_part[part]);
        });
      });
}

/// Estimated work of all parts, from that of the sample.
Fmm::Counted Fmm::count_all(const Sample& sample) const {
  Counted all;
  // The loop treats one level at a time and scales its work to its number of cells.
  for (std::size_t c = 0; c < sample.of_cell.size();) {
    Counted level;
    double cells = 0;
    const auto depth = cells_[c].level;
    for (; c < sample.of_cell.size() && cells_[c].level == depth; ++c) {
      cells += holds_parts(cells_[c]) ? 1 : 0;
      level.add(sample.of_cell[c], 1);
    }
    if (level.cells > 0) all.add(level, cells / level.cells);
  }
  double sampled = 0, stations = 0;
  Counted parts;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const double here = stations_of(cells_[parts_[p]]);
    stations += here;
    if (!sample.parts[p]) continue;
    sampled += here;
    parts.add(sample.of_part[p], 1);
  }
  if (sampled > 0) all.add(parts, stations / sampled);
  return all;
}

/// Estimated number of expansions used for all parts: those used for only one part of the sample are
/// multiplied by the number of parts that it represents, less a quarter that neighbours share.
double Fmm::expansions_met(const Sample& sample) const {
  const auto expansions = static_cast<double>(tree_.expansions());
  if (meet_most(0, parts_.size())) return expansions;
  double once = 0, several = 0;
  for (const auto bits : sample.met) {
    once += std::has_single_bit(bits) ? 1 : 0;
    several += std::popcount(bits) > 1 ? 1 : 0;
  }
  const double sampled = static_cast<double>(std::count(sample.parts.begin(), sample.parts.end(), 1));
  const double more = static_cast<double>(parts_.size()) / std::max(sampled, 1.0) - 1;
  return std::min(expansions, several + once * (1 + 0.75 * more));
}

FmmCost Fmm::cost(Progress& progress) {
  if (cost_) return *cost_;
  prepare(progress);
  auto sample = sample_parts();
  walk_sample(sample, progress);
  const auto all = count_all(sample);
  FmmCost cost;
  cost.translations = all.translations;
  cost.expansions = all.expansions;
  cost.near_pairs = all.near_pairs;
  cost.operations = all.operations;
  cost.one_by_one_seconds = all.one_by_one * seconds_per_pair_by_itself;
  // Number of CPU packs that make up a group.
  const double packs = static_cast<double>(lanes_) / kernel_target().kernels[0].lanes;
  cost.seconds = cost.operations * packs * seconds_per_pack_operation + cost.one_by_one_seconds;
  cost.memory_bytes = memory_bytes(expansions_met(sample));
  // This estimate needs the larger of two amounts: the memory to build the tree, and the memory of the tree
  // and of the expansions computed to find the tolerance.
  const auto& made = tree_.made().made;
  const auto there = std::count(made.begin(), made.end(), std::uint8_t{1});
  cost.asked_bytes =
      std::min(cost.memory_bytes, std::max(tree_.bytes_to_grow(), memory_bytes(static_cast<double>(there))));
  cost_ = cost;
  return cost;
}

/// Memory of a sum that uses this number of expansions. tree_.memory_bytes() counts three eighths of all of
/// them.
std::size_t Fmm::memory_bytes(double expansions) const {
  const double more = expansions - 0.375 * static_cast<double>(tree_.expansions()),
               bytes = static_cast<double>(tree_.memory_bytes()) +
                       more * static_cast<double>(coefficient_count(tree_.order())) * sizeof(double);
  return static_cast<std::size_t>(std::max(bytes, 0.0)) + cells_.size() * sizeof(Cell) +
         norms_.size() * sizeof(float) + parts_.size() * bytes_per_part +
         std::min(parts_.size(), static_cast<std::size_t>(thread_count(tree_.threads()))) * bytes_per_thread;
}

}  // namespace terrane::gravity
