#include "terrane/physics/elastic/part.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "terrane/mesh/order.hpp"
#include "terrane/physics/elastic/numbering.hpp"
#include "terrane/physics/elastic/partition.hpp"

namespace terrane::elastic {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

Rheology rheology_of(const Medium& rock) {
  return rock.loses_energy() ? Rheology::attenuating
         : rock.isotropic    ? Rheology::isotropic
                             : Rheology::anisotropic;
}

/// Builds a Part. `near` are the elements that share a corner with an own one, and these, ascending.
class Builder {
 public:
  Builder(const Problem& problem, int rank, int ranks)
      : problem_(problem), basis_(problem.degree), each_(problem.points_of_element()), rank_(rank) {
    find_near(ranks);
    auto numbering = number_points(problem.mesh, basis_.points(), near_);
    near_point_ = std::move(numbering.point);
    order_elements(numbering.count);
    number_own(numbering.count);
    list_contributions();
    exchange_lists();
    add_mass();
    add_absorbing();
    add_sources();
    add_receivers();
  }
  Part part;

 private:
  void find_near(int ranks);
  void order_elements(std::size_t near_points);
  void number_own(std::size_t near_points);
  void list_contributions();
  void exchange_lists();
  void add_mass();
  void add_absorbing();
  void add_sources();
  void add_receivers();

  struct Contribution {
    std::size_t near, n;  // place in near_, point of the element
  };
  bool mine(std::size_t near) const { return owner_[near_[near]] == rank_; }
  std::uint32_t point_of(std::size_t near, std::size_t n) const { return near_point_[near * each_ + n]; }
  Vector xi(std::size_t n) const {
    const auto p = static_cast<std::size_t>(basis_.points());
    return {basis_.x[n % p], basis_.x[n / p % p], basis_.x[n / p / p]};
  }
  /// Place in near_, or near_.size().
  std::size_t near_of(std::uint32_t element) const {
    const auto at = std::lower_bound(near_.begin(), near_.end(), element);
    return at != near_.end() && *at == element ? static_cast<std::size_t>(at - near_.begin()) : near_.size();
  }

  const Problem& problem_;
  Basis basis_;
  std::size_t each_;
  int rank_;
  std::vector<int> owner_;
  std::vector<std::uint32_t> near_, near_point_;
  std::vector<std::size_t> place_;  // of own elements in part.elements, by their place in near_
  std::vector<std::size_t> first_;
  std::vector<Contribution> all_;
};

void Builder::find_near(int ranks) {
  const auto& mesh = problem_.mesh;
  owner_ = bisect(mesh, ranks);
  std::vector<bool> touched(mesh.nodes.size(), false);
  for (std::size_t n = 0; n < mesh.size(); ++n)
    if (owner_[n] == rank_)
      for (const auto node : mesh.vertices(n)) touched[node] = true;
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const auto nodes = mesh.vertices(n);
    if (std::any_of(nodes.begin(), nodes.end(), [&](auto node) { return touched[node]; })) near_.push_back(n);
  }
}

/// Outer elements first, then by kind, then so that neighbours are near in memory.
void Builder::order_elements(std::size_t near_points) {
  std::vector<bool> foreign(near_points, false);
  std::vector<std::size_t> own;
  for (std::size_t e = 0; e < near_.size(); ++e) {
    if (mine(e)) own.push_back(e);
    else
      for (std::size_t n = 0; n < each_; ++n) foreign[point_of(e, n)] = true;
  }
  std::array<std::vector<double>, 3> centre;
  for (const auto e : own) {
    const auto shape = problem_.mesh.element(near_[e]);
    for (std::size_t d = 0; d < 3; ++d) centre[d].push_back(shape.monomial[0][d]);
  }
  using Kind = std::tuple<bool, Shape, Rheology>;
  const auto kind_of = [&](std::size_t e) {
    bool outer = false;
    for (std::size_t n = 0; n < each_ && !outer; ++n) outer = foreign[point_of(e, n)];
    return Kind{!outer, shape_of(problem_.mesh.element(near_[e])), rheology_of(problem_.mesh.rock(near_[e]))};
  };
  std::vector<std::pair<Kind, std::size_t>> order;
  for (const auto n : compact_order(centre[0], centre[1], centre[2], 64))
    order.push_back({kind_of(own[n]), own[n]});
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  place_.assign(near_.size(), SIZE_MAX);
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto& [kind, e] = order[n];
    if (n == 0 || kind != order[n - 1].first)
      part.segments.push_back({std::get<1>(kind), std::get<2>(kind), !std::get<0>(kind), n, 0});
    ++part.segments.back().count;
    place_[e] = n;
    part.elements.push_back(near_[e]);
  }
}

/// Points in the order in which elements touch them first; those of other ranks' elements alone get none.
void Builder::number_own(std::size_t near_points) {
  std::vector<std::uint32_t> local(near_points, none);
  std::vector<std::size_t> at(part.elements.size());
  for (std::size_t e = 0; e < near_.size(); ++e)
    if (place_[e] != SIZE_MAX) at[place_[e]] = e;
  part.point.reserve(at.size() * each_);
  for (const auto e : at)
    for (std::size_t n = 0; n < each_; ++n) {
      auto& number = local[point_of(e, n)];
      if (number == none) number = static_cast<std::uint32_t>(part.points++);
      part.point.push_back(number);
    }
  for (auto& point : near_point_) point = local[point];
}

void Builder::list_contributions() {
  first_.assign(part.points + 1, 0);
  for (const auto point : near_point_)
    if (point != none) ++first_[point + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  all_.resize(first_.back());
  auto next = first_;
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::size_t n = 0; n < each_; ++n)
      if (const auto point = point_of(e, n); point != none) all_[next[point]++] = {e, n};
}

/// Both ranks list what one sends the other in the same order: by the first element (and the number in it) of
/// each point, then by contributions.
void Builder::exchange_lists() {
  struct Item {
    int rank;
    std::size_t first_element, first_n, element, n, at;
    bool operator<(const Item& o) const {
      return std::tie(rank, first_element, first_n, element, n) <
             std::tie(o.rank, o.first_element, o.first_n, o.element, o.n);
    }
  };
  std::vector<Item> in, out;
  part.contribution.resize(all_.size());
  std::vector<int> others;
  for (std::size_t p = 0; p < part.points; ++p) {
    const auto begin = first_[p], end = first_[p + 1];
    others.clear();
    for (auto c = begin; c < end; ++c)
      if (const int owner = owner_[near_[all_[c].near]]; owner != rank_) others.push_back(owner);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (auto c = begin; c < end; ++c) {
      const auto [e, n] = all_[c];
      const std::size_t key[2] = {near_[all_[begin].near], all_[begin].n};
      if (!mine(e)) {
        in.push_back({owner_[near_[e]], key[0], key[1], near_[e], n, c});
        continue;
      }
      part.contribution[c] = place_[e] * each_ + n;
      for (const int other : others)
        out.push_back({other, key[0], key[1], near_[e], n, part.contribution[c]});
    }
  }
  std::sort(in.begin(), in.end());
  std::sort(out.begin(), out.end());
  part.first = first_;
  part.received = in.size();
  for (std::size_t n = 0; n < in.size(); ++n) {
    part.contribution[in[n].at] = part.own() + n;
    if (n == 0 || in[n].rank != in[n - 1].rank) part.neighbours.push_back({in[n].rank, {}, n, 0});
    ++part.neighbours.back().received;
  }
  for (const auto& item : out)
    for (auto& neighbour : part.neighbours)
      if (neighbour.rank == item.rank) neighbour.send.push_back(item.at);
}

void Builder::add_mass() {
  part.mass.assign(part.points, 0.0);
  const auto p = static_cast<std::size_t>(basis_.points());
  for (std::size_t e = 0; e < near_.size(); ++e) {
    const auto shape = problem_.mesh.element(near_[e]);
    const double density = problem_.mesh.rock(near_[e]).density;
    for (std::size_t n = 0; n < each_; ++n)
      if (const auto point = point_of(e, n); point != none)
        part.mass[point] += density * basis_.weight[n % p] * basis_.weight[n / p % p] *
                            basis_.weight[n / p / p] * shape.map(xi(n)).det;
  }
  for (const double m : part.mass) part.factor.push_back(problem_.step * problem_.step / m);
}

/// Inverse of a symmetric 3 × 3 matrix: xx, yy, zz, yz, xz, xy.
std::array<double, 6> inverse(const std::array<double, 6>& a) {
  const Vector x{a[0], a[5], a[4]}, y{a[5], a[1], a[3]}, z{a[4], a[3], a[2]};
  const auto yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);
  const double det = dot(x, yz);
  return {yz[0] / det, zx[1] / det, xy[2] / det, xy[1] / det, yz[2] / det, yz[1] / det};
}

void Builder::add_absorbing() {
  std::vector<std::uint32_t> at(part.points, none);
  std::vector<std::array<double, 6>> damping;
  const int p = basis_.points();
  for (const auto& face : problem_.mesh.absorbing) {
    const auto e = near_of(face.element);
    if (e == near_.size()) continue;
    const auto shape = problem_.mesh.element(face.element);
    const auto& rock = problem_.mesh.rock(face.element);
    for (int i = 0; i < p * p; ++i) {
      const auto n = static_cast<std::size_t>(point_on_side(face.side, i % p, i / p, p));
      const auto point = point_of(e, n);
      if (point == none) continue;
      if (at[point] == none) {
        at[point] = static_cast<std::uint32_t>(damping.size());
        part.absorbing.push_back(point);
        damping.push_back({});
      }
      const auto c = shape.map(xi(n)).cofactor[face.side / 2];
      const double size = norm(c), area = size * basis_.weight[static_cast<std::size_t>(i % p)] *
                                          basis_.weight[static_cast<std::size_t>(i / p)];
      const Vector normal{c[0] / size, c[1] / size, c[2] / size};
      const auto speeds = rock.speeds(normal);
      const double s = rock.density * area * 0.5 * (speeds[1] + speeds[2]),
                   more = rock.density * area * speeds[0] - s;  // P across the face beyond S
      constexpr std::size_t pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
      for (std::size_t k = 0; k < 6; ++k)
        damping[at[point]][k] += (k < 3 ? s : 0) + more * normal[pair[k][0]] * normal[pair[k][1]];
    }
  }
  for (std::size_t n = 0; n < damping.size(); ++n) {
    const double half = 0.5 * problem_.step / part.mass[part.absorbing[n]];
    for (std::size_t k = 0; k < 6; ++k) damping[n][k] = half * damping[n][k] + (k < 3 ? 1 : 0);
    part.leaving.push_back(inverse(damping[n]));
  }
}

void Builder::add_sources() {
  std::vector<std::size_t> leaves(part.points, SIZE_MAX);
  for (std::size_t n = 0; n < part.absorbing.size(); ++n) leaves[part.absorbing[n]] = n;
  for (std::uint32_t s = 0; s < problem_.sources.size(); ++s) {
    const auto& source = problem_.sources[s];
    const auto& place = problem_.source_places[s];
    const auto e = near_of(place.element);
    if (e == near_.size()) continue;
    std::array<Basis::Row, 3> value, slope;
    for (std::size_t r = 0; r < 3; ++r) basis_.at(place.xi[r], value[r], slope[r]);
    const auto map = problem_.mesh.element(place.element).map(place.xi);
    const auto& m = source.strength;
    const Vector row[3] = {{m[0], m[5], m[4]}, {m[5], m[1], m[3]}, {m[4], m[3], m[2]}};
    const auto p = static_cast<std::size_t>(basis_.points());
    for (std::size_t n = 0; n < each_; ++n) {
      const auto point = point_of(e, n);
      if (point == none) continue;
      const std::size_t i = n % p, j = n / p % p, k = n / p / p;
      const double phi = value[0][i] * value[1][j] * value[2][k];
      const Vector along{slope[0][i] * value[1][j] * value[2][k], value[0][i] * slope[1][j] * value[2][k],
                         value[0][i] * value[1][j] * slope[2][k]};
      Vector gradient{}, change;
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t r = 0; r < 3; ++r) gradient[d] += along[r] * map.cofactor[r][d] / map.det;
      for (std::size_t d = 0; d < 3; ++d)
        change[d] = part.factor[point] * (source.is_moment ? dot(row[d], gradient) : m[d] * phi);
      if (const auto at = leaves[point]; at != SIZE_MAX) {
        const auto& r = part.leaving[at];
        change = {r[0] * change[0] + r[5] * change[1] + r[4] * change[2],
                  r[5] * change[0] + r[1] * change[1] + r[3] * change[2],
                  r[4] * change[0] + r[3] * change[1] + r[2] * change[2]};
      }
      if (change != Vector{}) part.sources.push_back({point, s, change});
    }
  }
  std::stable_sort(part.sources.begin(), part.sources.end(),
                   [](const PointSource& a, const PointSource& b) { return a.point < b.point; });
}

void Builder::add_receivers() {
  for (std::uint32_t r = 0; r < problem_.receivers.size(); ++r) {
    const auto& place = problem_.receiver_places[r];
    const auto e = near_of(place.element);
    if (e == near_.size() || !mine(e)) continue;
    std::array<Basis::Row, 3> value, slope;
    for (std::size_t d = 0; d < 3; ++d) basis_.at(place.xi[d], value[d], slope[d]);
    const auto p = static_cast<std::size_t>(basis_.points());
    PointReceiver receiver{r, place_[e], {}};
    for (std::size_t n = 0; n < each_; ++n)
      receiver.weight.push_back(value[0][n % p] * value[1][n / p % p] * value[2][n / p / p]);
    part.receivers.push_back(std::move(receiver));
  }
}

}  // namespace

Part make_part(const Problem& problem, int rank, int ranks) {
  return std::move(Builder(problem, rank, ranks).part);
}

}  // namespace terrane::elastic
