#include "terrane/physics/elastic/march/part.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <numeric>
#include <tuple>

#include "terrane/mesh/order.hpp"
#include "terrane/parallel/threads/copied.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"
#include "terrane/physics/elastic/mesh/margin.hpp"
#include "terrane/physics/elastic/mesh/numbering.hpp"
#include "terrane/physics/elastic/mesh/partition.hpp"

namespace terrane::elastic {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// Builds a Part. `near`: own elements and those that share a corner with one, ascending.
class Builder {
 public:
  Builder(const Problem& problem, int rank, int ranks, int threads)
      : problem_(problem),
        basis_(problem.degree),
        each_(problem.points_of_element()),
        rank_(rank),
        threads_(threads) {
    find_near(ranks);
    auto numbering = number_points(problem.mesh, basis_.points(), near_, threads_);
    near_point_ = std::move(numbering.point);
    part_fluids(numbering.count);
    order_elements(partner_.size());
    number_own(partner_.size());
    list_contributions();
    exchange_lists();
    add_mass();
    hold_free_surfaces();
    hold_margins();
    add_absorbing();
    add_contacts();
    add_sources();
    add_receivers();
  }
  Part part;

 private:
  void find_near(int ranks);
  void part_fluids(std::size_t near_points);
  void order_elements(std::size_t near_points);
  template <class Wanted>
  void number_in_order(const std::vector<std::size_t>& order, const Wanted& wanted,
                       std::vector<std::uint32_t>& local);
  void number_own(std::size_t near_points);
  void list_far(std::uint32_t first_far);
  void list_contributions();
  void exchange_lists();
  void add_mass();
  void hold_free_surfaces();
  void hold_margins();
  /// Symmetric matrices that damp points, as inverse() takes them.
  struct Damping {
    std::vector<std::uint32_t> place;   // of a point in `points`; none: it is not damped
    std::vector<std::uint32_t> points;  // in the order in which they are found
    std::vector<std::array<double, 6>> matrix;
    std::array<double, 6>& of(std::uint32_t point);
  };
  void add_absorbing_faces(Damping& damping);
  void add_fading(Damping& damping);
  void add_absorbing();
  void add_contacts();
  void add_sources();
  void add_receivers();
  PointRock rock_between(const Place& place, const std::array<Basis::Row, 3>& value) const;

  /// Calls use(n) for n < count, the numbers of elements, on all threads.
  template <class Use>
  void each_of(std::size_t count, const Use& use) const {
    constexpr std::size_t of_a_thread = 512;
    const auto some = [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n) use(n);
    };
    for_each_stretch(count, threads_, some, of_a_thread);
  }

  struct Contribution {
    std::uint32_t near = 0, n = 0;  // index of the element in near_; number of the point in the element
    bool operator<(const Contribution& o) const { return std::tie(near, n) < std::tie(o.near, o.n); }
  };
  bool fluid(std::size_t near) const { return problem_.mesh.medium_of(near_[near]).is_fluid(); }
  bool mine(std::size_t near) const { return owner_[near_[near]] == rank_; }
  std::uint32_t point_of(std::size_t near, std::size_t n) const { return near_point_[near * each_ + n]; }
  Vector xi(std::size_t n) const {
    const auto p = static_cast<std::size_t>(basis_.points());
    return {basis_.x[n % p], basis_.x[n / p % p], basis_.x[n / p / p]};
  }
  double quadrature(std::size_t n) const {
    const auto p = static_cast<std::size_t>(basis_.points());
    return basis_.weight[n % p] * basis_.weight[n / p % p] * basis_.weight[n / p / p];
  }
  /// Place of an element in near_, or near_.size().
  std::size_t near_of(std::uint32_t element) const {
    const auto at = std::lower_bound(near_.begin(), near_.end(), element);
    return at != near_.end() && *at == element ? static_cast<std::size_t>(at - near_.begin()) : near_.size();
  }

  const Problem& problem_;
  Basis basis_;
  std::size_t each_;
  int rank_, threads_;
  std::vector<int> owner_;
  std::vector<std::uint32_t> near_, near_point_;
  // Of a point at which a fluid and a solid touch, the point of the other medium.
  std::vector<std::uint32_t> partner_;
  /// Sides of near elements, by 6 near + side: of solids at a fluid, of fluids at nothing.
  std::vector<bool> touches_fluid_, free_of_fluid_;
  std::map<std::uint32_t, std::array<double, 6>> leaving_;  // of all absorbing points
  std::map<std::uint32_t, std::size_t> contact_;            // by the fluid's point
  std::vector<std::size_t> place_;  // index in part.elements of each own element, by its index in near_
  std::vector<std::size_t> first_;
  std::vector<Contribution> all_;
};

void Builder::find_near(int ranks) {
  const auto& mesh = problem_.mesh;
  owner_ = partition(mesh, ranks);
  std::vector<bool> touched(mesh.nodes.size(), false);
  for (std::size_t n = 0; n < mesh.size(); ++n)
    if (owner_[n] == rank_)
      for (const auto node : mesh.vertices(n)) touched[node] = true;
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const auto nodes = mesh.vertices(n);
    if (std::any_of(nodes.begin(), nodes.end(), [&](auto node) { return touched[node]; })) near_.push_back(n);
  }
}

/// Where a fluid and a solid touch, the fluid gets points of its own; `partner_` leads from one to the other.
void Builder::part_fluids(std::size_t near_points) {
  partner_ = filled(near_points, none);
  touches_fluid_.assign(6 * near_.size(), false);
  free_of_fluid_.assign(6 * near_.size(), false);
  if (first_where(near_.size(), threads_, [&](std::size_t e) { return fluid(e); }) == near_.size()) return;
  constexpr std::uint8_t by_solid = 1, by_fluid = 2;
  std::vector<std::uint8_t> touched(near_points, 0), count(near_points, 0);
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::size_t n = 0; n < each_; ++n) {
      touched[point_of(e, n)] |= fluid(e) ? by_fluid : by_solid;
      count[point_of(e, n)] = static_cast<std::uint8_t>(std::min(2, count[point_of(e, n)] + 1));
    }
  for (std::uint32_t p = 0; p < near_points; ++p)
    if (touched[p] == (by_solid | by_fluid)) {
      partner_[p] = static_cast<std::uint32_t>(partner_.size());
      partner_.push_back(p);
    }
  for (std::size_t e = 0; e < near_.size(); ++e) {
    for (std::uint32_t side = 0; side < 6;
         ++side) {  // a point within a face belongs to its two elements alone
      const auto p = point_of(e, static_cast<std::size_t>(point_on_side(side, 1, 1, basis_.points())));
      touches_fluid_[6 * e + side] = !fluid(e) && partner_[p] != none;
      free_of_fluid_[6 * e + side] = fluid(e) && count[p] == 1;
    }
  }
  for (const auto& face : problem_.mesh.absorbing)
    if (const auto e = near_of(face.element); e != near_.size()) free_of_fluid_[6 * e + face.side] = false;
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::size_t n = 0; n < each_ && fluid(e); ++n)
      if (auto& p = near_point_[e * each_ + n]; partner_[p] != none) p = partner_[p];
}

/// Outer elements first, then by kind, then so that neighbours are near in memory.
void Builder::order_elements(std::size_t near_points) {
  std::vector<bool> foreign(near_points, false);
  std::vector<std::size_t> own;
  for (std::size_t e = 0; e < near_.size(); ++e) {
    if (mine(e)) own.push_back(e);
    else
      for (std::size_t n = 0; n < each_; ++n) {
        foreign[point_of(e, n)] = true;
        if (const auto other = partner_[point_of(e, n)]; other != none) foreign[other] = true;
      }
  }
  std::array<std::vector<double>, 3> centre;
  for (auto& along : centre) along.resize(own.size());
  using Kind = std::tuple<bool, Shape, Rheology, unsigned>;
  const auto kind_of = [&](std::size_t e) {
    bool outer = false;
    for (std::size_t n = 0; n < each_ && !outer; ++n) outer = foreign[point_of(e, n)];
    const auto rheology = rheology_of(problem_.mesh, near_[e]);
    return Kind{!outer,
                rheology == Rheology::matched ? Shape::trilinear : shape_of(problem_.mesh.element(near_[e])),
                rheology, problem_.mesh.fading_axes(near_[e])};
  };
  std::vector<Kind> kinds(own.size());
  each_of(own.size(), [&](std::size_t n) {
    const auto shape = problem_.mesh.element(near_[own[n]]);
    for (std::size_t d = 0; d < 3; ++d) centre[d][n] = shape.monomial[0][d];
    kinds[n] = kind_of(own[n]);
  });
  std::vector<std::pair<Kind, std::size_t>> order;
  order.reserve(own.size());
  for (const auto n : compact_order(centre[0], centre[1], centre[2], 64, threads_))
    order.push_back({kinds[n], own[n]});
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  place_.assign(near_.size(), SIZE_MAX);
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto& [kind, e] = order[n];
    if (n == 0 || kind != order[n - 1].first)
      part.segments.push_back(
          {std::get<1>(kind), std::get<2>(kind), std::get<3>(kind), !std::get<0>(kind), n, 0});
    ++part.segments.back().count;
    place_[e] = n;
    part.elements.push_back(near_[e]);
  }
}

/// Numbers points that have none and are wanted(point, n), n being that in the element: in the order in which
/// elements, those of `order`, touch them first.
template <class Wanted>
void Builder::number_in_order(const std::vector<std::size_t>& order, const Wanted& wanted,
                              std::vector<std::uint32_t>& local) {
  auto touched = filled(local.size(), none);  // the lowest place in the order
  each_of(order.size(), [&](std::size_t at) {
    for (std::size_t n = 0; n < each_; ++n) {
      const auto point = point_of(order[at], n);
      if (local[point] != none || !wanted(point, n)) continue;
      const std::atomic_ref<std::uint32_t> lowest(touched[point]);
      auto known = lowest.load(std::memory_order_relaxed);
      const auto here = static_cast<std::uint32_t>(at);
      while (here < known && !lowest.compare_exchange_weak(known, here, std::memory_order_relaxed)) {
      }
    }
  });
  const auto new_at = [&](std::size_t at, const auto& use) {
    for (std::size_t n = 0; n < each_; ++n)
      if (const auto point = point_of(order[at], n); touched[point] == at) use(point);
  };
  const auto before = sums_before_stretches(order.size(), threads_, [&](std::size_t at) {
    std::size_t count = 0;
    new_at(at, [&](std::uint32_t) { ++count; });
    return count;
  });
  for_each_stretch(order.size(), threads_, [&](std::size_t first, std::size_t last) {
    auto next = static_cast<std::uint32_t>(part.points + before[first / stretch_length]);
    for (std::size_t at = first; at < last; ++at)
      new_at(at, [&](std::uint32_t point) { local[point] = next++; });
  });
  part.points += before.back();
}

/// Points in the order in which elements touch them first, those within elements after the others; those of
/// other ranks' elements alone get none.
void Builder::number_own(std::size_t near_points) {
  auto local = filled(near_points, none);
  std::vector<std::size_t> at(part.elements.size());
  for (std::size_t e = 0; e < near_.size(); ++e)
    if (place_[e] != SIZE_MAX) at[place_[e]] = e;
  auto alone = filled(near_points, std::uint8_t{0});
  each_of(at.size(), [&](std::size_t m) {
    if (!uses_inner(rheology_of(problem_.mesh, near_[at[m]]))) return;
    for (std::size_t n = 0; n < each_; ++n)  // an inner point is of this element alone
      if (is_inner(static_cast<int>(n), basis_.points())) alone[point_of(at[m], n)] = 1;
  });
  number_in_order(
      at, [&](std::uint32_t point, std::size_t) { return alone[point] == 0; }, local);
  const auto first_far = static_cast<std::uint32_t>(part.points);
  if (first_where(near_points, threads_, [&](std::size_t p) { return partner_[p] != none; }) < near_points)
    for (const auto e : at)
      for (std::size_t n = 0; n < each_; ++n)
        if (const auto other = partner_[point_of(e, n)]; other != none && local[other] == none)
          local[other] = static_cast<std::uint32_t>(part.points++);
  part.meeting = part.points;
  number_in_order(
      at, [](std::uint32_t, std::size_t) { return true; }, local);
  part.point = filled(at.size() * each_, none);
  each_of(at.size(), [&](std::size_t m) {
    for (std::size_t n = 0; n < each_; ++n) part.point[m * each_ + n] = local[point_of(at[m], n)];
  });
  auto partner = filled(part.points, none);
  for_each_stretch(near_points, threads_, [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p)
      if (local[p] != none && partner_[p] != none) partner[local[p]] = local[partner_[p]];
  });
  partner_ = std::move(partner);
  each_of(near_.size(), [&](std::size_t e) {
    for (std::size_t n = 0; n < each_; ++n) near_point_[e * each_ + n] = local[point_of(e, n)];
  });
  list_far(first_far);
}

/// Partners of points here, where other ranks' elements touch them first.
void Builder::list_far(std::uint32_t first_far) {
  if (part.meeting == first_far) return;
  std::vector<bool> found(part.meeting - first_far, false);
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::size_t n = 0; n < each_; ++n)
      if (const auto p = point_of(e, n);
          p != none && p >= first_far && p < part.meeting && !found[p - first_far]) {
        found[p - first_far] = true;
        part.far.push_back({p, near_[e], n});
      }
}

/// Lists for each point the contributions of its elements, in the order of elements: all threads count and
/// write them, then they are sorted.
void Builder::list_contributions() {
  first_ = filled(part.points + 1, std::size_t{0});
  const auto count_at = [&](std::size_t place) { return std::atomic_ref<std::size_t>(first_[place]); };
  const auto each_own = [&](const auto& use) {
    each_of(near_.size(), [&](std::size_t e) {
      for (std::size_t n = 0; n < each_; ++n)
        if (const auto point = point_of(e, n); point != none) use(point, e, n);
    });
  };
  each_own([&](std::uint32_t point, std::size_t, std::size_t) {
    count_at(point).fetch_add(1, std::memory_order_relaxed);
  });
  // first_[p]: where those of p end, then, as each is put down before the last, where they begin.
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  all_ = filled(first_.back(), Contribution{});
  each_own([&](std::uint32_t point, std::size_t e, std::size_t n) {
    const auto at = count_at(point).fetch_sub(1, std::memory_order_relaxed) - 1;
    all_[at] = {static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(n)};
  });
  for_each_stretch(part.points, threads_, [&](std::size_t first, std::size_t last) {
    const auto place = [&](std::size_t p) { return all_.begin() + static_cast<std::ptrdiff_t>(first_[p]); };
    for (std::size_t p = first; p < last; ++p) std::sort(place(p), place(p + 1));
  });
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
  part.contribution = filled(all_.size(), std::size_t{0});
  for_each_stretch(all_.size(), threads_, [&](std::size_t first, std::size_t last) {
    for (std::size_t c = first; c < last; ++c)
      if (mine(all_[c].near)) part.contribution[c] = place_[all_[c].near] * each_ + all_[c].n;
  });
  part.first = copied(first_);
  if (part.elements.size() == near_.size()) return;  // no other rank has elements here
  std::vector<int> others;
  for (std::size_t p = 0; p < part.points; ++p) {
    const auto begin = first_[p], end = first_[p + 1];
    others.clear();
    const auto add_owners = [&](std::size_t point) {
      for (auto c = first_[point]; c < first_[point + 1]; ++c)
        if (const int owner = owner_[near_[all_[c].near]]; owner != rank_) others.push_back(owner);
    };
    add_owners(p);
    if (partner_[p] != none) add_owners(partner_[p]);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (auto c = begin; c < end; ++c) {
      const auto [e, n] = all_[c];
      const std::size_t key[2] = {near_[all_[begin].near], all_[begin].n};
      if (!mine(e)) {
        in.push_back({owner_[near_[e]], key[0], key[1], near_[e], n, c});
        continue;
      }
      for (const int other : others)
        out.push_back({other, key[0], key[1], near_[e], n, part.contribution[c]});
    }
  }
  std::sort(in.begin(), in.end());
  std::sort(out.begin(), out.end());
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

/// Elements compute what they add on all threads, some at a time; it is added in their order.
void Builder::add_mass() {
  part.mass = filled(part.points, 0.0);
  constexpr std::size_t at_once = 1 << 14;
  std::vector<double> added(std::min(at_once, near_.size()) * each_);
  for (std::size_t first = 0; first < near_.size(); first += at_once) {
    const auto count = std::min(at_once, near_.size() - first);
    each_of(count, [&](std::size_t e) {
      const auto shape = problem_.mesh.element(near_[first + e]);
      const auto& medium = problem_.mesh.medium_of(near_[first + e]);
      const bool is_fluid = medium.is_fluid();
      const auto* const rock = problem_.mesh.rock_of(near_[first + e], each_);
      const auto own = medium.point();
      for (std::size_t n = 0; n < each_; ++n) {
        const auto& here = rock ? rock[n] : own;
        const double density = is_fluid ? 1 / here[1] : here[0];
        added[e * each_ + n] = density * quadrature(n) * shape.map(xi(n)).det;
      }
    });
    for (std::size_t e = 0; e < count; ++e)
      for (std::size_t n = 0; n < each_; ++n)
        if (const auto point = point_of(first + e, n); point != none)
          part.mass[point] += added[e * each_ + n];
  }
  part.factor = filled(part.points, 0.0);
  for_each_stretch(part.points, threads_, [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) part.factor[p] = problem_.step * problem_.step / part.mass[p];
  });
}

/// The pressure at the free surface of a fluid is zero: its potential stays zero.
void Builder::hold_free_surfaces() {
  const int p = basis_.points();
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::uint32_t side = 0; side < 6; ++side)
      for (int i = 0; i < p * p && free_of_fluid_[6 * e + side]; ++i)
        if (const auto point = point_of(e, static_cast<std::size_t>(point_on_side(side, i % p, i / p, p)));
            point != none)
          part.factor[point] = 0;
}

/// Fixes the outer edge of a margin: its displacement stays zero.
void Builder::hold_margins() {
  const int p = basis_.points();
  const auto& mesh = problem_.mesh;
  if (std::all_of(mesh.margins.begin(), mesh.margins.end(), [](const auto& m) { return m.from == m.to; }))
    return;
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::uint32_t side = 0; side < 6; ++side) {
      const auto axis = side / 2;
      const auto& margin = mesh.margins[side];
      const auto& corner = mesh.nodes[mesh.elements[near_[e]][side % 2 ? 7 : 0]];
      if (margin.from == margin.to || !(mesh.fading_axes(near_[e]) >> axis & 1) || corner[axis] != margin.to)
        continue;
      for (int i = 0; i < p * p; ++i)
        if (const auto point = point_of(e, static_cast<std::size_t>(point_on_side(side, i % p, i / p, p)));
            point != none)
          part.factor[point] = 0;
    }
}

/// Inverse of a symmetric 3 × 3 matrix: xx, yy, zz, yz, xz, xy.
std::array<double, 6> inverse(const std::array<double, 6>& a) {
  const Vector x{a[0], a[5], a[4]}, y{a[5], a[1], a[3]}, z{a[4], a[3], a[2]};
  const auto yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);
  const double det = dot(x, yz);
  return {yz[0] / det, zx[1] / det, xy[2] / det, xy[1] / det, yz[2] / det, yz[1] / det};
}

/// The matrix of a point, zero at first.
std::array<double, 6>& Builder::Damping::of(std::uint32_t point) {
  if (place[point] == none) {
    place[point] = static_cast<std::uint32_t>(matrix.size());
    points.push_back(point);
    matrix.push_back({});
  }
  return matrix[place[point]];
}

/// Faces that absorb waves: a force against the velocity, ρ times the speeds of P and S waves across the
/// face.
void Builder::add_absorbing_faces(Damping& damping) {
  const int p = basis_.points();
  for (const auto& face : problem_.mesh.absorbing) {
    const auto e = near_of(face.element);
    if (e == near_.size()) continue;
    const auto shape = problem_.mesh.element(face.element);
    const auto& own = problem_.mesh.medium_of(face.element);
    const auto* const rock = problem_.mesh.rock_of(face.element, each_);
    for (int i = 0; i < p * p; ++i) {
      const auto n = static_cast<std::size_t>(point_on_side(face.side, i % p, i / p, p));
      const auto point = point_of(e, n);
      if (point == none || part.factor[point] == 0) continue;
      auto& here = damping.of(point);
      const auto c = shape.map(xi(n)).cofactor[face.side / 2];
      const double size = norm(c), area = size * basis_.weight[static_cast<std::size_t>(i % p)] *
                                          basis_.weight[static_cast<std::size_t>(i / p)];
      const Vector normal{c[0] / size, c[1] / size, c[2] / size};
      const auto medium = rock ? own.with(rock[n]) : own;
      const auto speeds = medium.speeds(normal);
      // P across the face beyond S; of a potential χ̇ / (ρ c)
      const double s = fluid(e) ? area / (medium.density * speeds[0])
                                : medium.density * area * 0.5 * (speeds[1] + speeds[2]),
                   more = fluid(e) ? 0 : medium.density * area * speeds[0] - s;
      constexpr std::size_t pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
      for (std::size_t k = 0; k < 6; ++k)
        here[k] += (k < 3 ? s : 0) + more * normal[pair[k][0]] * normal[pair[k][1]];
    }
  }
}

/// Perfectly matched layers: the rate β of kernels/matched.hpp and the damping of margin.hpp, times the mass.
void Builder::add_fading(Damping& damping) {
  for (std::size_t e = 0; e < near_.size(); ++e) {
    const unsigned axes = problem_.mesh.fading_axes(near_[e]);
    if (axes == 0) continue;
    const auto shape = problem_.mesh.element(near_[e]);
    for (std::size_t n = 0; n < each_; ++n) {
      const auto point = point_of(e, n);
      if (point == none || part.factor[point] == 0) continue;
      double rate = 0;
      for (std::size_t d = 0; d < 3; ++d)
        if (axes >> d & 1) {
          const auto fading = fading_at(problem_.mesh, d, shape.at(xi(n))[d], problem_.fading_frequency);
          rate += fading.d + fading.damping + fading.brake;
        }
      if (rate == 0) continue;
      const double mass = problem_.mesh.medium_of(near_[e]).density * quadrature(n) * shape.map(xi(n)).det;
      for (std::size_t k = 0; k < 3; ++k) damping.of(point)[k] += rate * mass;
    }
  }
}

/// (1 + Δt C / 2M)⁻¹ at every point that absorbs, C: its damping, M: its mass.
void Builder::add_absorbing() {
  Damping damping{filled(part.points, none), {}, {}};
  add_absorbing_faces(damping);
  add_fading(damping);
  part.absorbing = std::move(damping.points);
  for (std::size_t n = 0; n < part.absorbing.size(); ++n) {
    auto& a = damping.matrix[n];
    const double half = 0.5 * problem_.step / part.mass[part.absorbing[n]];
    for (std::size_t k = 0; k < 6; ++k) a[k] = half * a[k] + (k < 3 ? 1 : 0);
    part.leaving.push_back(inverse(a));
    leaving_.emplace(part.absorbing[n], part.leaving.back());
  }
}

/// Coupling of a solid and a fluid, of normal displacement and pressure: areas of the faces where they touch,
/// times weights.
void Builder::add_contacts() {
  std::map<std::uint32_t, Vector> area;  // by the solid's point
  const int p = basis_.points();
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::uint32_t side = 0; side < 6; ++side) {
      if (!touches_fluid_[6 * e + side]) continue;
      const auto shape = problem_.mesh.element(near_[e]);
      for (int i = 0; i < p * p; ++i) {
        const auto n = static_cast<std::size_t>(point_on_side(side, i % p, i / p, p));
        const auto point = point_of(e, n);
        if (point == none) continue;
        const auto c = shape.map(xi(n)).cofactor[side / 2];
        const double weight = (side % 2 ? 1 : -1) * basis_.weight[static_cast<std::size_t>(i % p)] *
                              basis_.weight[static_cast<std::size_t>(i / p)];
        for (std::size_t d = 0; d < 3; ++d) area[point][d] += weight * c[d];
      }
    }
  const std::array<double, 6> stays{1, 1, 1, 0, 0, 0};
  const auto leaving = [&](std::uint32_t point) {
    const auto found = leaving_.find(point);
    return found == leaving_.end() ? stays : found->second;
  };
  for (const auto& [solid, normal] : area) {
    const auto fluid = partner_[solid];
    contact_[fluid] = part.contacts.size();
    part.contacts.push_back({fluid, solid, normal, leaving(fluid)[0], leaving(solid)});
  }
  std::size_t kept = 0;
  for (std::size_t n = 0; n < part.absorbing.size(); ++n)
    if (partner_[part.absorbing[n]] == none) {
      part.absorbing[kept] = part.absorbing[n];
      part.leaving[kept++] = part.leaving[n];
    }
  part.absorbing.resize(kept);
  part.leaving.resize(kept);
}

Vector turned(const std::array<double, 6>& r, const Vector& by) {
  return {r[0] * by[0] + r[5] * by[1] + r[4] * by[2], r[5] * by[0] + r[1] * by[1] + r[3] * by[2],
          r[4] * by[0] + r[3] * by[1] + r[2] * by[2]};
}

/// Rock at a place: where it varies, that of the polynomials through the points. value: of these.
PointRock Builder::rock_between(const Place& place, const std::array<Basis::Row, 3>& value) const {
  const auto* const rock = problem_.mesh.rock_of(place.element, each_);
  if (!rock) return problem_.mesh.medium_of(place.element).point();
  const auto p = static_cast<std::size_t>(basis_.points());
  PointRock sum{};
  for (std::size_t n = 0; n < each_; ++n)
    for (std::size_t k = 0; k < sum.size(); ++k)
      sum[k] += value[0][n % p] * value[1][n / p % p] * value[2][n / p / p] * rock[n][k];
  return sum;
}

void Builder::add_sources() {
  for (std::uint32_t s = 0; s < problem_.sources.size(); ++s) {
    const auto& source = problem_.sources[s];
    const auto& place = problem_.source_places[s];
    const auto e = near_of(place.element);
    if (e == near_.size()) continue;
    std::array<Basis::Row, 3> value, slope;
    for (std::size_t r = 0; r < 3; ++r) basis_.at(place.xi[r], value[r], slope[r]);
    const auto map = problem_.mesh.element(place.element).map(place.xi);
    const auto rock = rock_between(place, value);
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
      // An explosion in a fluid: − M φ_n / κ
      if (fluid(e)) change = {-part.factor[point] * m[0] * phi / rock[1], 0, 0};
      if (const auto r = leaving_.find(point); r != leaving_.end()) change = turned(r->second, change);
      if (change == Vector{}) continue;
      part.sources.push_back({point, s, change});
      if (const auto at = contact_.find(point);
          at != contact_.end()) {  // the source pushes the solid in the same step
        const auto& contact = part.contacts[at->second];
        Vector push;
        for (std::size_t d = 0; d < 3; ++d) push[d] = contact.area[d] * change[0] / part.mass[contact.solid];
        part.sources.push_back({contact.solid, s, turned(contact.leaving_solid, push)});
      }
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
    PointReceiver receiver{r, place_[e], fluid(e), {}};
    const auto map = problem_.mesh.element(place.element).map(place.xi);
    const auto rock = rock_between(place, value);
    for (std::size_t n = 0; n < each_; ++n) {
      const std::size_t i = n % p, j = n / p % p, k = n / p / p;
      const double phi = value[0][i] * value[1][j] * value[2][k];
      if (!receiver.in_fluid) {
        receiver.weight.push_back(phi);
        continue;
      }
      const Vector along{slope[0][i] * value[1][j] * value[2][k], value[0][i] * slope[1][j] * value[2][k],
                         value[0][i] * value[1][j] * slope[2][k]};
      for (std::size_t d = 0; d < 3; ++d) {  // the potential, or ∇χ / ρ
        double of = d == 0 ? phi : 0;
        if (!problem_.records_pressure) {
          of = 0;
          for (std::size_t t = 0; t < 3; ++t) of += along[t] * map.cofactor[t][d] / map.det;
          of /= rock[0];
        }
        receiver.weight.push_back(of);
      }
    }
    part.receivers.push_back(std::move(receiver));
  }
  std::stable_partition(part.receivers.begin(), part.receivers.end(),
                        [](const PointReceiver& receiver) { return !receiver.in_fluid; });
}

}  // namespace

Rheology rheology_of(const Mesh& mesh, std::size_t element) {
  const auto& medium = mesh.medium_of(element);
  if (mesh.varies(element))
    return medium.is_fluid()       ? Rheology::varying_fluid
           : medium.loses_energy() ? Rheology::varying_attenuating
                                   : Rheology::varying;
  return mesh.fading_axes(element) ? Rheology::matched
         : medium.is_fluid()       ? Rheology::fluid
         : medium.loses_energy()   ? (medium.isotropic ? Rheology::attenuating : Rheology::lossy)
         : medium.isotropic        ? Rheology::isotropic
                                   : Rheology::anisotropic;
}

std::size_t memory_of(const Mesh& mesh, std::size_t element) {
  return static_cast<std::size_t>(memory_numbers_of(rheology_of(mesh, element), mesh.fading_axes(element)));
}

std::vector<std::size_t> memory_begins(const Problem& problem) {
  std::vector<std::size_t> all{0};
  for (std::size_t n = 0; n < problem.mesh.size(); ++n)
    all.push_back(all.back() + memory_of(problem.mesh, n) * problem.points_of_element());
  return all;
}

Part make_part(const Problem& problem, int rank, int ranks, int threads) {
  return std::move(Builder(problem, rank, ranks, threads).part);
}

}  // namespace terrane::elastic
