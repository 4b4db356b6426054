#include "terrane/physics/elastic/march/part.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <numeric>
#include <tuple>

#include "terrane/base/error.hpp"
#include "terrane/base/free_memory.hpp"
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
constexpr std::uint8_t by_solid = 1, by_fluid = 2, by_several = 4;  // bits of Builder::owners_of_points()

/// Builds a Part. `near`: the rank's own elements and all that share a corner with one of these, ascending.
class Builder {
 public:
  Builder(const Problem& problem, int rank, int ranks, int threads, bool ordered)
      : problem_(problem),
        basis_(problem.degree),
        each_(problem.points_of_element()),
        rank_(rank),
        threads_(threads) {
    part.each = each_;
    find_near(ranks);
    auto numbering = number_points(problem.mesh, basis_.points(), near_, threads_);
    near_point_ = std::move(numbering.point);
    near_points_ = numbering.count;
    part_fluids();
    order_elements();
    number_own();
    find_ranges();
    if (ordered) list_contributions();
    if (ordered) exchange_lists();
    add_mass();
    hold_free_surfaces();
    hold_margins();
    add_absorbing();
    add_contacts();
    add_sources();
    add_receivers();
    keep_points();
  }
  Part part;

 private:
  void find_near(int ranks);
  std::vector<std::uint8_t> owners_of_points() const;
  void part_fluids();
  std::vector<std::uint8_t> foreign_points() const;
  void order_elements();
  void number_in_order(const std::vector<std::uint32_t>& order, UnsetList<std::uint32_t>& local);
  void number_inner(const std::vector<std::uint32_t>& order, UnsetList<std::uint32_t>& local);
  void number_partners(const std::vector<std::uint32_t>& order, UnsetList<std::uint32_t>& local);
  void number_own();
  void list_far(std::uint32_t first_far);
  void find_ranges();
  void list_contributions();
  void exchange_lists();
  void add_mass();
  void hold_free_surfaces();
  void hold_margins();
  void add_absorbing();
  void add_contacts();
  void add_sources();
  void add_receivers();
  PointRock rock_between(const Place& place, const std::array<Basis::Row, 3>& value) const;
  void keep_points();

  /// Calls use(n) for n < count, indices of elements, on all threads.
  template <class Use>
  void each_of(std::size_t count, const Use& use) const {
    constexpr std::size_t of_a_thread = 512;
    const auto some = [&](std::size_t first, std::size_t last) {
      for (std::size_t n = first; n < last; ++n) use(n);
    };
    for_each_stretch(count, threads_, some, of_a_thread);
  }

  /// Calls of(e)(point, n) for each point that may belong to several elements and each near element e that
  /// contains it (n: its index in e): all calls for a point on one thread, in the order of elements.
  template <class Of>
  void each_in_order(const Of& of) const {
    for_each(ranges_, threads_, [&](std::size_t range) {
      const auto bit = std::uint64_t{1} << range;
      for (std::size_t e = 0; e < near_.size(); ++e) {
        if ((in_ranges_[e] & bit) == 0) continue;
        const auto use = of(e);
        for (std::size_t n = 0; n < each_; ++n)
          if (const auto p = point_of(e, n); p < part.meeting && p / of_range_ == range) use(p, n);
      }
    });
  }
  /// Whether point n of a near element lies within it, so that it belongs to no other element.
  bool is_alone(std::size_t near, std::size_t n) const {
    return is_inner(static_cast<int>(n), basis_.points()) &&
           uses_inner(rheology_of(problem_.mesh, near_[near]));
  }
  std::uint32_t partner_of(std::size_t point) const { return partner_.empty() ? none : partner_[point]; }
  /// R of an absorbing point (Part::leaving); null for other points.
  const std::array<double, 6>* leaving_at(std::uint32_t point) const {
    if (const auto found = at_contacts_.find(point); found != at_contacts_.end()) return &found->second;
    const auto at = place_among_absorbing(point);
    return at < part.absorbing.size() && part.absorbing[at] == point ? &part.leaving[at] : nullptr;
  }
  std::size_t place_among_absorbing(std::uint32_t point) const {
    return static_cast<std::size_t>(std::lower_bound(part.absorbing.begin(), part.absorbing.end(), point) -
                                    part.absorbing.begin());
  }
  template <class Use>
  void damp_by_face(std::size_t face, const Use& use) const;
  template <class Use>
  void damp_by_fading(std::size_t near, const Use& use) const;

  bool fluid(std::size_t near) const { return problem_.mesh.medium_of(near_[near]).is_fluid(); }
  bool mine(std::size_t near) const { return owner_.empty() || owner_[near_[near]] == rank_; }
  std::uint32_t point_of(std::size_t near, std::size_t n) const { return near_point_[near * each_ + n]; }
  Vector xi(std::size_t n) const {
    const auto p = static_cast<std::size_t>(basis_.points());
    return {basis_.x[n % p], basis_.x[n / p % p], basis_.x[n / p / p]};
  }
  double quadrature(std::size_t n) const {
    const auto p = static_cast<std::size_t>(basis_.points());
    return basis_.weight[n % p] * basis_.weight[n / p % p] * basis_.weight[n / p / p];
  }
  /// Index of an element in near_, or near_.size() if it is not there.
  std::size_t near_of(std::uint32_t element) const {
    const auto at = std::lower_bound(near_.begin(), near_.end(), element);
    return at != near_.end() && *at == element ? static_cast<std::size_t>(at - near_.begin()) : near_.size();
  }

  const Problem& problem_;
  Basis basis_;
  std::size_t each_;
  int rank_, threads_;
  std::vector<int> owner_;  // rank of each element of the mesh; empty: all belong to this rank
  std::vector<std::uint32_t> near_;
  UnsetList<std::uint32_t> near_point_;
  std::size_t near_points_ = 0;
  /// For points at contacts of a fluid and a solid: the point of the other medium. Empty: there are no
  /// contacts.
  std::vector<std::uint32_t> partner_;
  /// [6 · index in near_ + side]: whether this side of a solid element touches a fluid; whether this side of
  /// a fluid element is a free surface. Empty: there are no fluids.
  std::vector<std::uint8_t> touches_fluid_, free_of_fluid_;
  /// Points that elements may share are divided into ranges of `of_range_` points, each processed by one
  /// thread; in_ranges_: [near elements], a bit for each range in which the element has points.
  std::size_t ranges_ = 1;
  std::uint32_t of_range_ = 1;
  UnsetList<std::uint64_t> in_ranges_;
  UnsetList<double> mass_;                                      // [points] kg; in fluids ∫ 1/κ
  std::map<std::uint32_t, std::array<double, 6>> at_contacts_;  // R of absorbing points at contacts
  std::map<std::uint32_t, std::size_t> contact_;                // index of a contact, by the fluid's point
  std::vector<std::uint32_t> place_;  // [near elements] index in part.elements, or none
};

void Builder::find_near(int ranks) {
  const auto& mesh = problem_.mesh;
  if (ranks == 1) {
    near_.resize(mesh.size());
    std::iota(near_.begin(), near_.end(), 0u);
    return;
  }
  owner_ = partition(mesh, ranks, threads_);
  std::vector<std::uint8_t> touched(mesh.nodes.size(), 0);
  each_of(mesh.size(), [&](std::size_t n) {
    if (owner_[n] != rank_) return;
    for (const auto node : mesh.vertices(n))
      std::atomic_ref(touched[node]).store(1, std::memory_order_relaxed);
  });
  const auto near = all_where(mesh.size(), threads_, [&](std::size_t n) {
    const auto nodes = mesh.vertices(n);
    return std::any_of(nodes.begin(), nodes.end(), [&](auto node) { return touched[node] != 0; });
  });
  near_.assign(near.begin(), near.end());
}

/// Which elements have each near point: bits of `by_solid`, `by_fluid`, and `by_several`.
std::vector<std::uint8_t> Builder::owners_of_points() const {
  std::vector<std::uint8_t> owners(near_points_, 0);
  each_of(near_.size(), [&](std::size_t e) {
    const auto own = fluid(e) ? by_fluid : by_solid;
    for (std::size_t n = 0; n < each_; ++n) {
      const std::atomic_ref of_point(owners[point_of(e, n)]);
      if (of_point.fetch_or(own, std::memory_order_relaxed) != 0)
        of_point.fetch_or(by_several, std::memory_order_relaxed);
    }
  });
  return owners;
}

/// Gives fluids separate points at contacts with solids; `partner_` connects the two points of each pair.
void Builder::part_fluids() {
  if (first_where(near_.size(), threads_, [&](std::size_t e) { return fluid(e); }) == near_.size()) return;
  const auto owners = owners_of_points();
  const auto at_contacts = all_where(near_points_, threads_, [&](std::size_t p) {
    return (owners[p] & by_solid) != 0 && (owners[p] & by_fluid) != 0;
  });
  partner_ = filled(near_points_ + at_contacts.size(), none);
  for (std::size_t n = 0; n < at_contacts.size(); ++n) {
    partner_[at_contacts[n]] = static_cast<std::uint32_t>(near_points_ + n);
    partner_[near_points_ + n] = static_cast<std::uint32_t>(at_contacts[n]);
  }
  touches_fluid_.assign(6 * near_.size(), 0);
  free_of_fluid_.assign(6 * near_.size(), 0);
  each_of(near_.size(), [&](std::size_t e) {
    for (std::uint32_t side = 0; side < 6;
         ++side) {  // a point within a face belongs only to the face's two elements
      const auto p = point_of(e, static_cast<std::size_t>(point_on_side(side, 1, 1, basis_.points())));
      touches_fluid_[6 * e + side] = !fluid(e) && partner_[p] != none;
      free_of_fluid_[6 * e + side] = fluid(e) && (owners[p] & by_several) == 0;
    }
    for (std::size_t n = 0; n < each_ && fluid(e); ++n)
      if (auto& p = near_point_[e * each_ + n]; partner_[p] != none) p = partner_[p];
  });
  for (const auto& face : problem_.mesh.absorbing)
    if (const auto e = near_of(face.element); e != near_.size()) free_of_fluid_[6 * e + face.side] = 0;
  near_points_ = partner_.size();
}

/// [points]: whether a point, or its partner, belongs to an element of another rank; empty if none does.
std::vector<std::uint8_t> Builder::foreign_points() const {
  std::vector<std::uint8_t> foreign;
  if (owner_.empty()) return foreign;
  foreign.assign(near_points_, 0);
  const auto mark = [&](std::uint32_t point) {
    std::atomic_ref(foreign[point]).store(1, std::memory_order_relaxed);
  };
  each_of(near_.size(), [&](std::size_t e) {
    for (std::size_t n = 0; n < each_ && !mine(e); ++n) {
      mark(point_of(e, n));
      if (const auto other = partner_of(point_of(e, n)); other != none) mark(other);
    }
  });
  return foreign;
}

/// Sorts elements: outer elements first, then by kind, then such that neighbours are close in memory.
void Builder::order_elements() {
  const auto foreign = foreign_points();
  const auto own = all_where(near_.size(), threads_, [&](std::size_t e) { return mine(e); });
  std::array<std::vector<double>, 3> centre;
  for (auto& along : centre) along.resize(own.size());
  using Kind = std::tuple<bool, Shape, Rheology, unsigned>;
  std::vector<Kind> kinds(own.size());
  each_of(own.size(), [&](std::size_t m) {
    const auto e = own[m];
    const auto shape = problem_.mesh.element(near_[e]);
    for (std::size_t d = 0; d < 3; ++d) centre[d][m] = shape.monomial[0][d];
    bool outer = false;
    for (std::size_t n = 0; n < each_ && !outer && !foreign.empty(); ++n)
      outer = foreign[point_of(e, n)] != 0;
    const auto rheology = rheology_of(problem_.mesh, near_[e]);
    kinds[m] = {!outer, rheology == Rheology::matched ? Shape::trilinear : shape_of(shape), rheology,
                problem_.mesh.fading_axes(near_[e])};
  });
  auto order = compact_order(centre[0], centre[1], centre[2], 64, threads_);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return kinds[a] < kinds[b]; });
  place_.assign(near_.size(), none);
  part.elements.resize(order.size());
  for (std::uint32_t n = 0; n < order.size(); ++n) {
    const auto& [inside, shape, rheology, axes] = kinds[order[n]];
    if (n == 0 || kinds[order[n]] != kinds[order[n - 1]])
      part.segments.push_back({shape, rheology, axes, !inside, n, 0});
    ++part.segments.back().count;
    place_[own[order[n]]] = n;
    part.elements[n] = near_[own[order[n]]];
  }
}

/// Numbers points that may belong to several elements, in the order of the first element of `order` that
/// contains each point.
void Builder::number_in_order(const std::vector<std::uint32_t>& order, UnsetList<std::uint32_t>& local) {
  // [points] index in `order` of the first element that contains the point.
  auto touched = filled_by_threads(local.size(), none, threads_);
  each_of(order.size(), [&](std::size_t at) {
    for (std::size_t n = 0; n < each_; ++n) {
      if (is_alone(order[at], n)) continue;
      const std::atomic_ref<std::uint32_t> lowest(touched[point_of(order[at], n)]);
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

/// Numbers the points within elements, in the order of elements.
void Builder::number_inner(const std::vector<std::uint32_t>& order, UnsetList<std::uint32_t>& local) {
  const auto inner = static_cast<std::size_t>(std::pow(basis_.points() - 2, 3));
  const auto before = sums_before_stretches(order.size(), threads_, [&](std::size_t at) {
    return uses_inner(rheology_of(problem_.mesh, near_[order[at]])) ? inner : 0;
  });
  for_each_stretch(order.size(), threads_, [&](std::size_t first, std::size_t last) {
    auto next = static_cast<std::uint32_t>(part.points + before[first / stretch_length]);
    for (std::size_t at = first; at < last; ++at)
      for (std::size_t n = 0; n < each_; ++n)
        if (is_alone(order[at], n)) local[point_of(order[at], n)] = next++;
  });
  part.points += before.back();
}

/// Numbers the partners of points of own elements that have no number yet, in the order of elements.
void Builder::number_partners(const std::vector<std::uint32_t>& order, UnsetList<std::uint32_t>& local) {
  if (partner_.empty()) return;
  const auto at_contacts = all_where(order.size(), threads_, [&](std::size_t at) {
    for (std::size_t n = 0; n < each_; ++n)
      if (partner_[point_of(order[at], n)] != none) return true;
    return false;
  });
  for (const auto at : at_contacts)
    for (std::size_t n = 0; n < each_; ++n)
      if (const auto other = partner_[point_of(order[at], n)]; other != none && local[other] == none)
        local[other] = static_cast<std::uint32_t>(part.points++);
}

/// Numbers all points of own elements: in the order of the first element that contains each, points within
/// elements after all others. Points that only other ranks' elements contain get no number.
void Builder::number_own() {
  auto local = filled_by_threads(near_points_, none, threads_);
  std::vector<std::uint32_t> at(part.elements.size());
  for (std::uint32_t e = 0; e < near_.size(); ++e)
    if (place_[e] != none) at[place_[e]] = e;
  number_in_order(at, local);
  const auto first_far = static_cast<std::uint32_t>(part.points);
  number_partners(at, local);
  part.meeting = part.points;
  number_inner(at, local);
  if (!partner_.empty()) {
    auto partner = filled(part.points, none);
    for_each_stretch(near_points_, threads_, [&](std::size_t first, std::size_t last) {
      for (std::size_t p = first; p < last; ++p)
        if (local[p] != none && partner_[p] != none) partner[local[p]] = local[partner_[p]];
    });
    partner_ = std::move(partner);
  }
  each_of(near_.size(), [&](std::size_t e) {
    for (std::size_t n = 0; n < each_; ++n) near_point_[e * each_ + n] = local[point_of(e, n)];
  });
  list_far(first_far);
}

/// Lists the points across a contact that are partners of this part's points and belong only to elements of
/// other ranks.
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

/// Divides points into ranges (in_ranges_). Points are numbered in the order of elements, so few elements
/// have points in several ranges.
void Builder::find_ranges() {
  constexpr std::size_t most = 64;
  const int threads = thread_count(threads_);
  ranges_ = threads == 1 ? 1 : std::min(most, 4 * static_cast<std::size_t>(threads));
  of_range_ = static_cast<std::uint32_t>(part.meeting / ranges_ + 1);
  in_ranges_ = UnsetList<std::uint64_t>(near_.size());
  each_of(near_.size(), [&](std::size_t e) {
    std::uint64_t all = 0;
    for (std::size_t n = 0; n < each_; ++n)
      if (const auto p = point_of(e, n); p < part.meeting) all |= std::uint64_t{1} << (p / of_range_);
    in_ranges_[e] = all;
  });
}

/// Lists the contributions to each point that several elements may share, in the order of elements. A
/// contribution is a number here: index of the element in near_ · each_ + index of the point in the element;
/// exchange_lists() converts the numbers.
void Builder::list_contributions() {
  if (near_.size() * each_ >= UINT32_MAX)
    throw InputError("elastic: mesh", "a rank's part has more than four thousand million points of elements",
                     "Take more ranks.");
  // first[p + 1] is at first the number of contributions to p, then the index at which they begin and, once
  // they are written, the index at which they end.
  auto& first = part.first = filled_by_threads(part.meeting + 1, std::uint32_t{0}, threads_);
  each_in_order([&](std::size_t) { return [&](std::uint32_t p, std::size_t) { ++first[p + 1]; }; });
  const auto before =
      sums_before_stretches(part.meeting, threads_, [&](std::size_t p) { return first[p + 1]; });
  for_each_stretch(part.meeting, threads_, [&](std::size_t begin, std::size_t end) {
    auto next = static_cast<std::uint32_t>(before[begin / stretch_length]);
    for (auto p = begin; p < end; ++p) next += std::exchange(first[p + 1], next);
  });
  part.contribution = UnsetList<std::uint32_t>(before.back());
  each_in_order([&](std::size_t e) {
    return [&, e](std::uint32_t p, std::size_t n) {
      part.contribution[first[p + 1]++] = static_cast<std::uint32_t>(e * each_ + n);
    };
  });
}

/// Lists the contributions that this rank sends and receives. Both ranks sort them equally: by the first
/// element that contributes to the point (and the point's index in it), then by contribution.
void Builder::exchange_lists() {
  struct Item {
    int rank;
    std::size_t first_element, first_n, element, n, at;
    bool operator<(const Item& o) const {
      return std::tie(rank, first_element, first_n, element, n) <
             std::tie(o.rank, o.first_element, o.first_n, o.element, o.n);
    }
  };
  auto& all = part.contribution;
  const auto place = [&](std::uint32_t c) { return place_[c / each_] * each_ + c % each_; };
  std::vector<Item> in, out;
  // Points within elements belong to no other rank; if all near elements belong to this rank, no point
  // belongs to another.
  std::vector<int> others;
  for (std::size_t p = 0; p < part.meeting && part.elements.size() != near_.size(); ++p) {
    others.clear();
    const auto add_owners = [&](std::size_t point) {
      for (auto c = part.first[point]; c < part.first[point + 1]; ++c)
        if (const auto e = all[c] / each_; !mine(e)) others.push_back(owner_[near_[e]]);
    };
    add_owners(p);
    if (partner_of(p) != none) add_owners(partner_[p]);
    if (others.empty()) continue;
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    const auto begin = part.first[p], end = part.first[p + 1];
    for (auto c = begin; c < end; ++c) {
      const std::size_t e = all[c] / each_, n = all[c] % each_;
      const std::size_t key[2] = {near_[all[begin] / each_], all[begin] % each_};
      if (!mine(e)) {
        in.push_back({owner_[near_[e]], key[0], key[1], near_[e], n, c});
        continue;
      }
      for (const int other : others) out.push_back({other, key[0], key[1], near_[e], n, place(all[c])});
    }
  }
  std::sort(in.begin(), in.end());
  std::sort(out.begin(), out.end());
  for_each_stretch(all.size(), threads_, [&](std::size_t first, std::size_t last) {
    for (auto c = first; c < last; ++c)
      if (mine(all[c] / each_)) all[c] = static_cast<std::uint32_t>(place(all[c]));
  });
  part.received = in.size();
  for (std::size_t n = 0; n < in.size(); ++n) {
    all[in[n].at] = static_cast<std::uint32_t>(part.own() + n);
    if (n == 0 || in[n].rank != in[n - 1].rank) part.neighbours.push_back({in[n].rank, {}, n, 0});
    ++part.neighbours.back().received;
  }
  for (const auto& item : out)
    for (auto& neighbour : part.neighbours)
      if (neighbour.rank == item.rank) neighbour.send.push_back(item.at);
}

/// Computes masses; contributions are added at each point in the order of elements.
void Builder::add_mass() {
  mass_ = UnsetList<double>(part.points);
  const auto fill = [&](std::size_t first, std::size_t last) {
    std::fill(mass_.begin() + static_cast<std::ptrdiff_t>(first),
              mass_.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
  };
  for_each_stretch(part.meeting, threads_, fill);
  const auto mass_of = [&](std::size_t e) {
    return [this, shape = problem_.mesh.element(near_[e]), own = problem_.mesh.medium_of(near_[e]).point(),
            rock = problem_.mesh.rock_of(near_[e], each_), is_fluid = fluid(e)](std::size_t n) {
      const auto& here = rock ? rock[n] : own;
      const double density = is_fluid ? 1 / here[1] : here[0];
      return density * quadrature(n) * shape.map(xi(n)).det;
    };
  };
  each_in_order([&](std::size_t e) {
    return [&, mass = mass_of(e)](std::uint32_t p, std::size_t n) { mass_[p] += mass(n); };
  });
  each_of(near_.size(), [&](std::size_t e) {
    const auto mass = mass_of(e);
    for (std::size_t n = 0; n < each_ && mine(e); ++n)
      if (const auto p = point_of(e, n); p >= part.meeting) mass_[p] = mass(n);
  });
  part.factor = UnsetList<double>(part.points);
  for_each_stretch(part.points, threads_, [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) part.factor[p] = problem_.step * problem_.step / mass_[p];
  });
}

/// Fixes the potential at free surfaces of fluids at zero, because the pressure is zero there.
void Builder::hold_free_surfaces() {
  if (free_of_fluid_.empty()) return;
  const int p = basis_.points();
  for (std::size_t e = 0; e < near_.size(); ++e)
    for (std::uint32_t side = 0; side < 6; ++side)
      for (int i = 0; i < p * p && free_of_fluid_[6 * e + side]; ++i)
        if (const auto point = point_of(e, static_cast<std::size_t>(point_on_side(side, i % p, i / p, p)));
            point != none)
          part.factor[point] = 0;
}

/// Fixes the displacement at the outer edges of matched layers at zero.
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

/// Inverse of a symmetric 3 × 3 matrix, given as xx, yy, zz, yz, xz, xy.
std::array<double, 6> inverse(const std::array<double, 6>& a) {
  const Vector x{a[0], a[5], a[4]}, y{a[5], a[1], a[3]}, z{a[4], a[3], a[2]};
  const auto yz = cross(y, z), zx = cross(z, x), xy = cross(x, y);
  const double det = dot(x, yz);
  return {yz[0] / det, zx[1] / det, xy[2] / det, xy[1] / det, yz[2] / det, yz[1] / det};
}

/// Calls use(point, contribution to the point's damping matrix) for the points of an absorbing face.
template <class Use>
void Builder::damp_by_face(std::size_t face, const Use& use) const {
  const auto [element, side] = problem_.mesh.absorbing[face];
  const auto e = near_of(element);
  if (e == near_.size()) return;
  const int p = basis_.points();
  const auto shape = problem_.mesh.element(element);
  const auto& own = problem_.mesh.medium_of(element);
  const auto* const rock = problem_.mesh.rock_of(element, each_);
  for (int i = 0; i < p * p; ++i) {
    const auto n = static_cast<std::size_t>(point_on_side(side, i % p, i / p, p));
    const auto point = point_of(e, n);
    if (point == none || part.factor[point] == 0) continue;
    const auto c = shape.map(xi(n)).cofactor[side / 2];
    const double size = norm(c), area = size * basis_.weight[static_cast<std::size_t>(i % p)] *
                                        basis_.weight[static_cast<std::size_t>(i / p)];
    const Vector normal{c[0] / size, c[1] / size, c[2] / size};
    const auto medium = rock ? own.with(rock[n]) : own;
    const auto speeds = medium.speeds(normal);
    // s: area times impedance of S waves, which damps all components; more: area times impedance of P waves,
    // less s, for the normal component. In fluids s is area / (ρ c), c the speed of sound: it damps χ.
    const double s = fluid(e) ? area / (medium.density * speeds[0])
                              : medium.density * area * 0.5 * (speeds[1] + speeds[2]),
                 more = fluid(e) ? 0 : medium.density * area * speeds[0] - s;
    constexpr std::size_t pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    std::array<double, 6> added{};
    for (std::size_t k = 0; k < 6; ++k)
      added[k] = (k < 3 ? s : 0) + more * normal[pair[k][0]] * normal[pair[k][1]];
    use(point, added);
  }
}

/// Calls use(point, contribution to the point's damping matrix) for the points of an element of a matched
/// layer.
template <class Use>
void Builder::damp_by_fading(std::size_t near, const Use& use) const {
  const auto& mesh = problem_.mesh;
  const unsigned axes = mesh.fading_axes(near_[near]);
  if (axes == 0) return;
  const auto shape = mesh.element(near_[near]);
  for (std::size_t n = 0; n < each_; ++n) {
    const auto point = point_of(near, n);
    if (point == none || part.factor[point] == 0) continue;
    double rate = 0;  // sum of β of kernels/matched.hpp and of the damping in margin.hpp
    for (std::size_t d = 0; d < 3; ++d)
      if (axes >> d & 1) {
        const auto fading = fading_at(mesh, d, shape.at(xi(n))[d], problem_.fading_frequency);
        rate += fading.d + fading.damping + fading.brake;
      }
    if (rate == 0) continue;
    const double added = rate * (mesh.medium_of(near_[near]).density * quadrature(n) * shape.map(xi(n)).det);
    use(point, std::array<double, 6>{added, added, added, 0, 0, 0});
  }
}

/// Computes R at all points that absorbing faces or matched layers damp. All threads compute the
/// contributions of some faces or elements at a time; these are added in order, faces first.
void Builder::add_absorbing() {
  const std::size_t faces = problem_.mesh.absorbing.size(),
                    all = faces + (problem_.mesh.fading.empty() ? 0 : near_.size());
  if (all == 0) return;
  const auto damp = [&](std::size_t n, const auto& use) {
    if (n < faces) damp_by_face(n, use);
    else damp_by_fading(n - faces, use);
  };
  auto absorbs = filled_by_threads(part.points, std::uint8_t{0}, threads_);
  each_of(all, [&](std::size_t n) {
    damp(n, [&](std::uint32_t point, const auto&) {
      std::atomic_ref(absorbs[point]).store(1, std::memory_order_relaxed);
    });
  });
  const auto points = all_where(part.points, threads_, [&](std::size_t p) { return absorbs[p] != 0; });
  part.absorbing.assign(points.begin(), points.end());
  std::vector<std::array<double, 6>> damping(points.size());
  constexpr std::size_t at_once = 1 << 13;
  std::vector<std::vector<std::pair<std::size_t, std::array<double, 6>>>> added(std::min(all, at_once));
  for (std::size_t first = 0; first < all; first += at_once) {
    const auto count = std::min(at_once, all - first);
    for_each_stretch(
        count, threads_,
        [&](std::size_t begin, std::size_t end) {
          for (auto n = begin; n < end; ++n) {
            added[n].clear();
            damp(first + n, [&](std::uint32_t point, const auto& more) {
              added[n].emplace_back(place_among_absorbing(point), more);
            });
          }
        },
        64);
    for (std::size_t n = 0; n < count; ++n)
      for (const auto& [at, more] : added[n])
        for (std::size_t k = 0; k < 6; ++k) damping[at][k] += more[k];
  }
  part.leaving.resize(damping.size());
  each_of(damping.size(), [&](std::size_t n) {
    const double half = 0.5 * problem_.step / mass_[part.absorbing[n]];
    for (std::size_t k = 0; k < 6; ++k) damping[n][k] = half * damping[n][k] + (k < 3 ? 1 : 0);
    part.leaving[n] = inverse(damping[n]);
  });
}

/// Lists the contacts of solids and fluids. The area of a point, by which normal displacement and pressure
/// are coupled, is the sum of face areas times quadrature weights.
void Builder::add_contacts() {
  if (partner_.empty()) return;
  std::map<std::uint32_t, Vector> area;  // area of each point of a solid, times the normal
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
    const auto* const found = leaving_at(point);
    return found == nullptr ? stays : *found;
  };
  for (const auto& [solid, normal] : area) {
    const auto fluid = partner_[solid];
    contact_[fluid] = part.contacts.size();
    part.contacts.push_back({fluid, solid, normal, leaving(fluid)[0], leaving(solid), mass_[solid]});
  }
  std::size_t kept = 0;
  for (std::size_t n = 0; n < part.absorbing.size(); ++n)
    if (partner_[part.absorbing[n]] == none) {
      part.absorbing[kept] = part.absorbing[n];
      part.leaving[kept++] = part.leaving[n];
    } else {
      at_contacts_.emplace(part.absorbing[n], part.leaving[n]);
    }
  part.absorbing.resize(kept);
  part.leaving.resize(kept);
}

Vector turned(const std::array<double, 6>& r, const Vector& by) {
  return {r[0] * by[0] + r[5] * by[1] + r[4] * by[2], r[5] * by[0] + r[1] * by[1] + r[3] * by[2],
          r[4] * by[0] + r[3] * by[1] + r[2] * by[2]};
}

/// The medium at a position; if it varies, interpolated by the polynomials of the element.  value: values of
/// the polynomials at the position, [ξ, η, ζ]
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
      // An explosion M in a fluid contributes − M φ_n / κ to point n, with its basis function φ_n.
      if (fluid(e)) change = {-part.factor[point] * m[0] * phi / rock[1], 0, 0};
      if (const auto* const r = leaving_at(point)) change = turned(*r, change);
      if (change == Vector{}) continue;
      part.sources.push_back({point, s, change});
      if (const auto at = contact_.find(point);
          at != contact_.end()) {  // at a contact the source also acts on the solid, in the same step
        const auto& contact = part.contacts[at->second];
        Vector push;
        for (std::size_t d = 0; d < 3; ++d) push[d] = contact.area[d] * change[0] / contact.mass_solid;
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
      for (std::size_t d = 0; d < 3; ++d) {  // weights of the potential χ, or of ∇χ / ρ
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

void Builder::keep_points() {
  free_memory(mass_);
  part.point = UnsetList<std::uint32_t>(part.own());
  each_of(near_.size(), [&](std::size_t e) {
    if (place_[e] != none) std::copy_n(&near_point_[e * each_], each_, &part.point[place_[e] * each_]);
  });
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
  all.reserve(problem.mesh.size() + 1);
  for (std::size_t n = 0; n < problem.mesh.size(); ++n)
    all.push_back(all.back() + memory_of(problem.mesh, n) * problem.points_of_element());
  return all;
}

Part make_part(const Problem& problem, int rank, int ranks, int threads, bool ordered) {
  return std::move(Builder(problem, rank, ranks, threads, ordered).part);
}

}  // namespace terrane::elastic
