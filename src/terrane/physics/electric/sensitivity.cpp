// Outline: solve for all electrodes, distributed over groups of ranks (turns.hpp); each rank stores the
// planes of nodes of its layers; compute factors for the rows and columns of J; compute products with J, Jᵀ
// and the diagonal of JᵀWJ, as sums over groups of arrays that have the same current electrodes.
#include "terrane/physics/electric/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/memory.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/electric/grid/forms.hpp"
#include "terrane/physics/electric/turns.hpp"

namespace terrane::electric {

namespace {

using Number = std::complex<double>;

/// Largest number of ranks that can share products; each rank except the last stores one plane of nodes that
/// the next rank stores as well.
constexpr std::size_t most_parts = 16;

std::size_t parts_of(const TensorMesh& mesh) { return std::min(mesh.n_up(), most_parts); }

/// The layers of cells of some parts; a part is a range of layers, and ranks share products by parts.
Range layers_of(const TensorMesh& mesh, const Range& parts) {
  const std::size_t all = parts_of(mesh);
  const auto first = [&](std::size_t part) {
    return part < all ? balanced_range(mesh.n_up(), all, part).first : mesh.n_up();
  };
  return {first(parts.first), first(parts.last)};
}

solve::ShareOfParts share_of(const Comm& comm) {
  return {static_cast<std::size_t>(comm.rank()), static_cast<std::size_t>(comm.size())};
}

std::size_t nodes_of_plane(const TensorMesh& mesh) { return (mesh.n_east() + 1) * (mesh.n_north() + 1); }

/// The number of planes of nodes of some layers.
std::size_t planes_of(const Range& layers) { return layers.size() > 0 ? layers.size() + 1 : 0; }

/// Calls use(current electrode, potential electrode, sign) for the pairs of an array.
template <class Use>
void for_pairs(const Array& array, const Use& use) {
  const auto one = [&](int from, int to, double sign) {
    if (from != Array::far_away && to != Array::far_away)
      use(static_cast<std::size_t>(from), static_cast<std::size_t>(to), sign);
  };
  one(array.a, array.m, 1);
  one(array.b, array.m, -1);
  one(array.a, array.n, -1);
  one(array.b, array.n, 1);
}

/// Electrodes that occur in arrays: all, or only current electrodes.
std::vector<std::size_t> named(const Electrodes& electrodes, bool all) {
  if (!all) return current_electrodes(electrodes);
  std::set<std::size_t> numbers;
  for (const auto& array : electrodes.arrays)
    for (const int n : {array.a, array.b, array.m, array.n})
      if (n != Array::far_away) numbers.insert(static_cast<std::size_t>(n));
  return {numbers.begin(), numbers.end()};
}

/// The potential of each electrode on the nodes of some layers: real parts, then imaginary parts.
using NodePotentials = std::map<std::size_t, std::vector<double>>;

/// Collective: rank `from` sends to each rank the planes of a field that the rank stores.
void deal(Comm& comm, const TensorMesh& mesh, std::size_t halves, std::vector<double>& whole,
          std::vector<double>& own, int from) {
  if (comm.size() == 1) {
    own = std::move(whole);
    return;
  }
  const std::size_t plane = nodes_of_plane(mesh), nodes = plane * (mesh.n_up() + 1);
  for (int to = 0; to < comm.size(); ++to) {
    const auto layers = layers_of(
        mesh, solve::ShareOfParts{static_cast<std::size_t>(to), static_cast<std::size_t>(comm.size())}.of(
                  parts_of(mesh)));
    const std::size_t count = planes_of(layers) * plane;
    for (std::size_t half = 0; half < halves && count > 0; ++half) {
      const auto theirs = [&] {
        return std::span(whole).subspan(half * nodes + layers.first * plane, count);
      };
      const auto mine = [&] { return std::span(own).subspan(half * count, count); };
      if (from == to && comm.rank() == to) std::copy_n(theirs().data(), count, mine().data());
      else if (comm.rank() == from) comm.send(std::as_bytes(theirs()), to);
      else if (comm.rank() == to) comm.receive(std::as_writable_bytes(mine()), from);
    }
  }
}

/// Collective: solves for electrodes, distributed over groups. transfers: receives ΔV/I, on rank 0; keep:
/// null, or receives the potentials of all electrodes on this rank's planes; if null, only current electrodes
/// are solved for
void solve_for(const TensorMesh& mesh, const Conductivity& conductivity, const Electrodes& electrodes,
               const Parameters& parameters, Stream& stream, std::vector<Number>& transfers,
               DirectCurrentReport& report, Progress& progress, NodePotentials* keep, const Groups& groups) {
  Turns turns(mesh, conductivity, electrodes.place, parameters, stream, named(electrodes, keep != nullptr),
              groups);
  const std::size_t halves = conductivity.complex() ? 2 : 1, places = electrodes.place.size();
  std::vector<double> nodes;  // field of the last solve, if other ranks need it
  std::map<std::size_t, std::vector<double>> at;
  Turns::Deal hand_out;
  if (keep != nullptr)
    hand_out = [&](std::size_t electrode, int from) {
      deal(groups.comm(), mesh, halves, nodes, keep->at(electrode), from);
    };
  turns.solve(
      progress,
      [&](Potentials& solver, std::size_t electrode, Solved& solved) {
        nodes = std::vector<double>();  // frees the memory
        nodes = solver.on_nodes(electrode, solved);
        std::vector<double> found;
        const std::size_t each = nodes.size() / halves;
        for (std::size_t half = 0; half < halves; ++half) {
          const auto* part = nodes.data() + half * each;
          for (const auto& weights : solver.weights()) found.push_back(weights.at(std::span(part, each)));
        }
        if (keep == nullptr || !groups.hands_over()) nodes = std::vector<double>();
        return found;
      },
      [&](std::size_t electrode, const Solved& solved, std::vector<double> found) {
        report.sources.push_back(electrode);
        report.solves.push_back(solved.report);
        at[electrode] = std::move(found);
      },
      hand_out);
  if (groups.comm().rank() > 0) return;
  report.operator_complexity = turns.solver().operator_complexity();
  for (const auto& array : electrodes.arrays) {
    Number sum = 0;
    for_pairs(array, [&](std::size_t from, std::size_t to, double sign) {
      const auto& of = at.at(from);
      sum += sign * Number(of[to], halves == 2 ? of[places + to] : 0);
    });
    transfers.push_back(sum);
  }
}

/// The point source assumed by mixed walls, in a medium that may be anisotropic.
Viewpoint viewpoint_in(const TensorMesh& mesh, const Conductivity& sigma, const Electrodes& electrodes) {
  auto from = viewpoint(mesh, sigma.ground, electrodes.place);
  if (sigma.differs_by_axis())
    from.stretch = sigma.ground ? mean_stretch(CellsWithAir(mesh, sigma).view()) : mean_stretch(sigma);
  return from;
}

}  // namespace

std::vector<double> unit_transfers(const TensorMesh& mesh, const std::vector<double>& ground,
                                   const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                   Comm* comm, int at_once, const std::vector<double>& slopes) {
  Alone alone;
  std::vector<double> ones;
  together(comm ? *comm : alone, [&] {
    electrodes.check();
    check(parameters.boundary, electrodes);
    ones.assign(mesh.size(), 1.0);
  });
  std::vector<Number> transfers;
  DirectCurrentReport unread;
  Progress silent;
  const auto solves = [&] { return current_electrodes(electrodes).size(); };
  const Groups groups(comm ? *comm : alone, solves, at_once);
  groups.run([&] {
    solve_for(mesh, {{&ones, &ones, &ones}, {}, ground.empty() ? nullptr : &ground}, electrodes, parameters,
              stream, transfers, unread, silent, nullptr, groups);
  });
  std::vector<double> real;
  for (const Number& transfer : transfers) real.push_back(transfer.real());
  if (ground.empty() || !parameters.boundary.of_half_space()) return real;
  auto automatic = parameters;
  automatic.potential = Potential::automatic;
  automatic.volume = {};
  const Conductivity even{{&ones, &ones, &ones}, {}, &ground, slopes.empty() ? nullptr : &slopes};
  const auto better =
      direct_current(mesh, even, electrodes, automatic, stream, nullptr, nullptr, comm, at_once).resistance;
  real.insert(real.end(), better.begin(), better.end());
  return real;
}

double bytes_of_potentials(const TensorMesh& mesh, std::size_t electrodes, bool complex, int ranks) {
  const std::size_t all = static_cast<std::size_t>(std::max(ranks, 1));
  const auto layers = layers_of(mesh, solve::ShareOfParts{0, all}.of(parts_of(mesh)));
  return (complex ? 16.0 : 8.0) * static_cast<double>(planes_of(layers)) *
         static_cast<double>(nodes_of_plane(mesh)) * static_cast<double>(electrodes);
}

/// Bytes of a product: three conductances for the nodes of each part with a frame of nodes around them; for
/// each thread a potential in such a frame, its product with K, and a sum. Jᵀ v needs two potentials on all
/// parts.
double bytes_of_product(const TensorMesh& mesh, bool complex, int ranks, int threads) {
  const auto own = solve::ShareOfParts{0, static_cast<std::size_t>(std::max(ranks, 1))}.of(parts_of(mesh));
  const double plane = static_cast<double>(nodes_of_plane(mesh)), halves = complex ? 2 : 1,
               framed_plane = static_cast<double>((mesh.n_east() + 3) * (mesh.n_north() + 3));
  double framed = 0, most_framed = 0;
  for (std::size_t part = own.first; part < own.last; ++part) {
    const auto planes = static_cast<double>(planes_of(layers_of(mesh, {part, part + 1})));
    framed += (planes + 2) * framed_plane;
    most_framed = std::max(most_framed, (planes + 2) * framed_plane);
  }
  const double most_planes = most_framed / framed_plane - 2,
               of_thread = most_framed + (halves + 1) * most_planes * plane;
  return std::max(8 * (3 * halves * framed + threads * of_thread),
                  2 * bytes_of_potentials(mesh, 1, complex, ranks));
}

// ---- the stored operator ----

struct Sensitivity::Kept {
  /// Arrays with the same current electrodes. from: the current electrodes, whose potentials are added, with
  /// their signs; to: the electrodes at which the sum is evaluated
  struct Group {
    struct Term {
      std::size_t array, place;  // place: index in `to`
      double sign;
    };
    std::vector<std::pair<std::size_t, double>> from;
    std::vector<std::size_t> to;  // potential electrodes
    std::vector<Term> terms;
  };
  /// Electrodes, each with the weight of its potential in a sum.
  using Weights = std::vector<std::pair<std::size_t, Number>>;

  TensorMesh mesh;
  Electrodes electrodes;
  Parameters parameters;
  bool has_ground;
  std::size_t halves, axes;  ///< halves: 2 if σ is complex, else 1; axes: 3 if anisotropic, else 1
  int threads;
  Viewpoint from;
  CellForms forms;
  Range held, layers;
  std::vector<double> unit, data;
  std::vector<Number> row;  ///< factors for the kind of datum: d(datum) = Re(row d(ΔV/I)), [halves, arrays]
  /// Factors for the kind of unknown, [axes, cells]: dσ = column (δm + iδm'), m and m' the two halves of the
  /// model; m' exists only if σ is complex.
  std::vector<Number> column;
  NodePotentials potentials;

  Kept(TensorMesh cells, const Medium& medium, Electrodes places, const Parameters& settings, Unknown unknown,
       const Stream& stream, const solve::ShareOfParts& share)
      : mesh(std::move(cells)),
        electrodes(std::move(places)),
        parameters(settings),
        has_ground(!medium.ground.empty()),
        halves(medium.quadrature.empty() ? 1 : 2),
        axes(medium.differs_by_axis() || !(medium.quadrature_north.empty() && medium.quadrature_up.empty())
                 ? 3
                 : 1),
        threads(stream.threads()),
        from((electrodes.check(), check(settings.boundary, electrodes),
              electric::check(mesh, medium.view(), electrodes.place),
              viewpoint_in(mesh, medium.view(), electrodes))),
        forms(mesh, parameters.boundary, from),
        held(share.of(parts_of(mesh))),
        layers(layers_of(mesh, held)) {
    const auto sigma = medium.view();
    column.assign(axes * mesh.size(), 1.0);
    for (std::size_t a = 0; a < axes; ++a)
      for (std::size_t cell = 0; cell < mesh.size(); ++cell) {
        auto& factor = column[a * mesh.size() + cell];
        if (has_ground) factor = medium.ground[cell];
        if (unknown == Unknown::log_conductivity && factor.real() > 0)
          factor *= Number((*sigma.along[a])[cell], halves == 2 ? (*sigma.quadrature[a])[cell] : 0.0);
      }
  }

  std::size_t plane() const { return nodes_of_plane(mesh); }
  std::size_t arrays() const { return electrodes.arrays.size(); }
  std::size_t column_of(std::size_t half, std::size_t axis, std::size_t cell) const {
    return (half * axes + axis) * mesh.size() + cell;
  }
  /// The potential of an electrode, starting at the lower plane of a layer.
  const double* planes(std::size_t electrode, std::size_t half, std::size_t layer) const {
    return potentials.at(electrode).data() + (half * planes_of(layers) + layer - layers.first) * plane();
  }

  void scale(const std::vector<Number>& transfers, Datum datum);
  std::vector<Group> groups_of(const std::vector<bool>& wanted) const;
  Weights weights_of(const Group& group, const std::vector<Number>& of_arrays) const;
  void combine(const Weights& weights, const Range& of_layers, std::vector<double>& nodes) const;
  std::vector<std::vector<double>> changes(std::span<const double> model) const;
  void multiply(const std::vector<LayersNetwork>& k, const Group& group, std::size_t layer,
                std::vector<double>& u, std::vector<double>& part, std::vector<double>& y) const;
  Number product(const std::vector<double>& y, std::size_t electrode, std::size_t layer) const;
  template <class Take>
  void for_rows(const Range& of_layers, const std::vector<double>& phi, const std::vector<double>& psi,
                const Take& take) const;
};

/// transfers: ΔV/I of this conductivity, with total potentials.  If the earth continues beyond all sides or
/// the ground is uneven, apparent resistivities are ΔV/I divided by that over ground of 1 S/m on the same
/// mesh, so that errors of the mesh cancel; otherwise they are k ΔV/I with the k of a half space.
void Sensitivity::Kept::scale(const std::vector<Number>& transfers, Datum datum) {
  const std::size_t count = arrays();
  row.resize(halves * count);
  data.resize(halves * count);
  const Number i(0, 1);
  for (std::size_t n = 0; n < count; ++n) {
    const Number transfer = transfers[n];
    const double factor = has_ground ? 1 / unit[unit.size() > count ? count + n : n]
                                     : geometric_factor(electrodes, electrodes.arrays[n], mesh.up().back());
    const bool by_factor = !has_ground && !parameters.boundary.of_half_space();
    const bool null = !(std::abs(factor) <= 1e6) || !(by_factor || std::abs(unit[n]) > 0);
    if (null && datum != Datum::resistance)
      throw InputError(fmt::format("array {}", n + 1), "it has no geometric factor below 1e6 m",
                       "Leave it out, or invert resistances.");
    const double per_transfer = by_factor ? factor : 1 / unit[n];
    const Number resistivity = per_transfer * transfer;
    if (datum == Datum::resistance) {
      // Without a reference, or if it is zero, resistances are used as computed.
      const bool as_is = null || !parameters.boundary.of_half_space();
      row[n] = as_is ? 1 : 1 / (unit[n] * factor);
      data[n] = (as_is ? transfer : resistivity / factor).real();
      if (halves == 1) continue;
      row[count + n] = -i * row[n];
      data[count + n] = (as_is ? transfer : resistivity / factor).imag();
      continue;
    }
    // d|ρ| = |ρ| Re(dρ/ρ), d(phase) = −Im(dρ/ρ); a real negative ρ remains negative.
    const double sign = resistivity.real() < 0 ? -1 : 1, magnitude = sign * std::abs(resistivity);
    const bool logarithm = datum == Datum::log_apparent_resistivity;
    data[n] = logarithm ? std::log(std::abs(resistivity)) : halves == 1 ? resistivity.real() : magnitude;
    row[n] = logarithm ? 1.0 / transfer : halves == 1 ? per_transfer : magnitude / transfer;
    if (halves == 1) continue;
    data[count + n] = -std::arg(sign * resistivity);
    row[count + n] = i / transfer;
  }
}

/// Groups of the wanted arrays: by pairs of current electrodes, or by single current electrodes if these are
/// fewer.
std::vector<Sensitivity::Kept::Group> Sensitivity::Kept::groups_of(const std::vector<bool>& wanted) const {
  std::set<std::pair<int, int>> pairs;
  std::set<int> singles;
  for (std::size_t n = 0; n < arrays(); ++n) {
    if (!wanted[n]) continue;
    const auto& array = electrodes.arrays[n];
    pairs.insert({array.a, array.b});
    singles.insert({array.a, array.b});
  }
  const bool by_pairs = pairs.size() <= singles.size();
  // Index in `to` of each potential electrode, for each group.
  std::map<std::pair<int, int>, std::map<std::size_t, std::size_t>> places;
  std::map<std::pair<int, int>, Group> groups;
  const auto add = [&](std::size_t n, int a, int b, double sign) {
    const auto& array = electrodes.arrays[n];
    auto& group = groups[{a, b}];
    auto& known = places[{a, b}];
    if (group.from.empty())
      for (const auto& [electrode, weight] : {std::pair{a, 1.0}, std::pair{b, -1.0}})
        if (electrode != Array::far_away) group.from.emplace_back(electrode, weight);
    for (const auto& [electrode, of_it] : {std::pair{array.m, sign}, std::pair{array.n, -sign}}) {
      if (electrode == Array::far_away) continue;
      const auto to = static_cast<std::size_t>(electrode);
      const auto [place, is_new] = known.insert({to, group.to.size()});
      if (is_new) group.to.push_back(to);
      group.terms.push_back({n, place->second, of_it});
    }
  };
  for (std::size_t n = 0; n < arrays(); ++n) {
    if (!wanted[n]) continue;
    const auto& array = electrodes.arrays[n];
    if (by_pairs) {
      add(n, array.a, array.b, 1);
      continue;
    }
    if (array.a != Array::far_away) add(n, array.a, Array::far_away, 1);
    if (array.b != Array::far_away) add(n, array.b, Array::far_away, -1);
  }
  std::vector<Group> all;
  for (auto& [current, group] : groups) all.push_back(std::move(group));
  return all;
}

/// Weights of the potentials of a group's potential electrodes.
Sensitivity::Kept::Weights Sensitivity::Kept::weights_of(const Group& group,
                                                         const std::vector<Number>& of_arrays) const {
  Weights weights;
  for (const auto to : group.to) weights.emplace_back(to, 0.0);
  for (const auto& term : group.terms) weights[term.place].second += term.sign * of_arrays[term.array];
  return weights;
}

/// The sum of weight times potential over electrodes, on the nodes of `of_layers`: real parts, then imaginary
/// parts.
void Sensitivity::Kept::combine(const Weights& weights, const Range& of_layers,
                                std::vector<double>& nodes) const {
  const std::size_t count = planes_of(of_layers), size = plane();
  nodes.resize(halves * count * size);
  for_each(count, threads, [&](std::size_t k) {
    for (std::size_t half = 0; half < halves; ++half) {
      double* out = nodes.data() + (half * count + k) * size;
      std::fill_n(out, size, 0.0);
      for (const auto& [electrode, weight] : weights) {
        const double* real = planes(electrode, 0, of_layers.first) + k * size;
        if (halves == 1) {
          for (std::size_t n = 0; n < size; ++n) out[n] += weight.real() * real[n];
          continue;
        }
        const double* imaginary = planes(electrode, 1, of_layers.first) + k * size;
        const double of_real = half == 0 ? weight.real() : weight.imag(),
                     of_imaginary = half == 0 ? -weight.imag() : weight.real();
        for (std::size_t n = 0; n < size; ++n) out[n] += of_real * real[n] + of_imaginary * imaginary[n];
      }
    }
  });
}

/// Calls take(first cell, real parts, imaginary parts of φᵀ (∂K/∂σ_c) ψ) for rows of cells, on several
/// threads; both parts are [axes, cells of the row].  phi, psi: as from combine()
template <class Take>
void Sensitivity::Kept::for_rows(const Range& of_layers, const std::vector<double>& phi,
                                 const std::vector<double>& psi, const Take& take) const {
  const std::size_t half = planes_of(of_layers) * plane(), cells = mesh.n_east();
  for_each(of_layers.size(), threads, [&](std::size_t layer) {
    const std::size_t k = of_layers.first + layer, at = layer * plane();
    std::vector<double> real(3 * cells), imaginary(3 * cells), other(3 * cells);
    const auto form = [&](std::size_t j, std::size_t of_phi, std::size_t of_psi, std::vector<double>& sums) {
      forms.row(k, j, phi.data() + of_phi * half + at, psi.data() + of_psi * half + at, sums.data());
      for (std::size_t i = 0; i < cells && axes == 1; ++i) sums[i] += sums[cells + i] + sums[2 * cells + i];
    };
    for (std::size_t j = 0; j < mesh.n_north(); ++j) {
      form(j, 0, 0, real);
      if (halves == 2) {
        form(j, 1, 1, other);
        for (std::size_t n = 0; n < real.size(); ++n) real[n] -= other[n];
        form(j, 0, 1, imaginary);
        form(j, 1, 0, other);
        for (std::size_t n = 0; n < real.size(); ++n) imaginary[n] += other[n];
      }
      take(mesh.index(0, j, k), real.data(), imaginary.data());
    }
  });
}

Sensitivity::Sensitivity(TensorMesh mesh, const Medium& medium, Electrodes electrodes,
                         const Parameters& parameters, Datum datum, Unknown unknown, Stream& stream,
                         std::vector<double> unit, DirectCurrentReport* report, Progress* progress,
                         Comm* comm, int at_once) {
  Progress silent;
  DirectCurrentReport unread;
  Alone alone;
  Comm& ranks = comm ? *comm : alone;
  bool known = !unit.empty();
  ranks.broadcast(std::as_writable_bytes(std::span(&known, 1)), 0);
  if (!known)
    unit = unit_transfers(mesh, medium.ground, electrodes, parameters, stream, comm, at_once, medium.slopes);
  together(ranks, [&] {
    if (!medium.chargeability.empty())
      throw InputError("chargeability", "sensitivities are those of conductivities",
                       "Leave it out; apparent chargeabilities are −J m of ln ρ_a and ln σ.");
    kept_ = std::make_unique<Kept>(std::move(mesh), medium, std::move(electrodes), parameters, unknown,
                                   stream, share_of(ranks));
    auto& kept = *kept_;
    const auto numbers = named(kept.electrodes, true);
    const double nodes = static_cast<double>(kept.plane() * (kept.mesh.n_up() + 1));
    const bool complex = kept.halves == 2;
    MemoryBudget{}.require("sensitivity", fmt::format("{} electrodes on {} nodes", numbers.size(), nodes),
                           bytes_of_potentials(kept.mesh, numbers.size(), complex, ranks.size()) +
                               (stream.device().has_own_memory() ? 0 : bytes_needed(nodes, complex)));
    if (ranks.rank() == 0 && unit.size() != kept.arrays() && unit.size() != 2 * kept.arrays())
      throw ShapeError("unit", fmt::format("{} values for {} arrays", unit.size(), kept.arrays()));
    for (const auto electrode : numbers) {
      auto& room = kept.potentials[electrode];
      if (ranks.size() > 1) room.resize(kept.halves * planes_of(kept.layers) * kept.plane());
    }
  });
  auto& kept = *kept_;
  kept.unit = std::move(unit);
  std::vector<Number> transfers;
  const Groups groups(
      ranks, [&] { return kept.potentials.size(); }, at_once);
  groups.run([&] {
    solve_for(kept.mesh, medium.view(), kept.electrodes, kept.parameters, stream, transfers,
              report ? *report : unread, progress ? *progress : silent, &kept.potentials, groups);
    groups.together([&] {
      if (ranks.rank() == 0) kept.scale(transfers, datum);
      else kept.row.resize(rows());
    });
    ranks.broadcast(std::as_writable_bytes(std::span(kept.row)), 0);
  });
}

Sensitivity::~Sensitivity() = default;

const std::vector<double>& Sensitivity::data() const { return kept_->data; }
const std::vector<double>& Sensitivity::unit() const { return kept_->unit; }
std::size_t Sensitivity::rows() const { return kept_->halves * kept_->arrays(); }
std::size_t Sensitivity::columns() const { return kept_->halves * kept_->column.size(); }
std::size_t Sensitivity::parts() const { return parts_of(kept_->mesh); }
Range Sensitivity::held() const { return kept_->held; }

std::vector<std::uint32_t> Sensitivity::columns_of(const Range& parts) const {
  const auto& kept = *kept_;
  const auto layers = layers_of(kept.mesh, parts);
  const std::size_t layer = kept.mesh.n_east() * kept.mesh.n_north();
  std::vector<std::uint32_t> all;
  for (std::size_t half = 0; half < kept.halves; ++half)
    for (std::size_t a = 0; a < kept.axes; ++a)
      for (std::size_t cell = layers.first * layer; cell < layers.last * layer; ++cell)
        all.push_back(static_cast<std::uint32_t>(kept.column_of(half, a, cell)));
  return all;
}

/// Changes δσ of conductivities for a change of the model: [halves, axes][cells].
std::vector<std::vector<double>> Sensitivity::Kept::changes(std::span<const double> model) const {
  const std::size_t cells = mesh.size();
  std::vector<std::vector<double>> change(halves * axes);
  for (std::size_t a = 0; a < axes; ++a) {
    for (std::size_t half = 0; half < halves; ++half) change[half * axes + a].resize(cells);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const Number factor = column[a * cells + cell];
      const double m = model[column_of(0, a, cell)];
      if (halves == 1) {
        change[a][cell] = factor.real() * m;
        continue;
      }
      const Number value = factor * Number(m, model[column_of(1, a, cell)]);
      change[a][cell] = value.real();
      change[axes + a][cell] = value.imag();
    }
  }
  return change;
}

/// y = K φ, φ the summed potentials of a group's current electrodes. k: the real and the imaginary network K,
/// on the same layers; layer: the lowest of these; u, part: buffers for a field
void Sensitivity::Kept::multiply(const std::vector<LayersNetwork>& k, const Group& group, std::size_t layer,
                                 std::vector<double>& u, std::vector<double>& part,
                                 std::vector<double>& y) const {
  const std::size_t size = k[0].size();
  for (std::size_t half = 0; half < halves; ++half) {
    std::vector<std::pair<const double*, double>> terms;
    for (const auto& [electrode, weight] : group.from)
      terms.emplace_back(planes(electrode, half, layer), weight);
    k[0].combine(terms, u);
    const auto own = std::span(y).subspan(half * size, size);
    if (halves == 1) {
      k[0].multiply(u, own);
      continue;
    }
    // (K' + iK'')(φ' + iφ''): first K'φ' and iK''φ' from φ', then iK'φ'' and −K''φ'' from φ''.
    const auto other = std::span(y).subspan((1 - half) * size, size);
    k[0].multiply(u, part);
    for (std::size_t n = 0; n < size; ++n) own[n] = (half == 0 ? 0 : own[n]) + part[n];
    k[1].multiply(u, part);
    for (std::size_t n = 0; n < size; ++n) other[n] = half == 0 ? part[n] : other[n] - part[n];
  }
}

/// yᵀ φ, φ the potential of an electrode, without conjugation. layer: the lowest layer of y
Number Sensitivity::Kept::product(const std::vector<double>& y, std::size_t electrode,
                                  std::size_t layer) const {
  const std::size_t size = y.size() / halves;
  const std::span real(planes(electrode, 0, layer), size);
  const auto y_real = std::span<const double>(y).first(size);
  if (halves == 1) return solve::dot(y_real, real);
  const std::span imaginary(planes(electrode, 1, layer), size);
  const auto y_imaginary = std::span<const double>(y).subspan(size, size);
  return {solve::dot(y_real, real) - solve::dot(y_imaginary, imaginary),
          solve::dot(y_real, imaginary) + solve::dot(y_imaginary, real)};
}

/// J v: makes the network K(δσ) once, then computes K φ of each group, and its products with the potentials
/// of the potential electrodes.
void Sensitivity::apply_parts(const Range& parts, std::span<const double> model,
                              std::span<double> sums) const {
  const auto& kept = *kept_;
  const auto change = kept.changes(model);
  const auto layers_of_part = [&](std::size_t p) {
    return layers_of(kept.mesh, {parts.first + p, parts.first + p + 1});
  };
  std::vector<std::vector<LayersNetwork>> networks(parts.size());  // [part][real, imaginary]
  for_each(parts.size(), kept.threads, [&](std::size_t p) {
    for (std::size_t half = 0; half < kept.halves; ++half) {
      const auto axis = [&](std::size_t a) { return &change[half * kept.axes + (kept.axes == 3 ? a : 0)]; };
      networks[p].emplace_back(kept.mesh,
                               std::array<const std::vector<double>*, 3>{axis(0), axis(1), axis(2)},
                               kept.parameters.boundary, kept.from, layers_of_part(p));
    }
  });
  const auto groups = kept.groups_of(std::vector<bool>(kept.arrays(), true));
  std::vector<std::vector<Number>> values(parts.size() * groups.size());  // [part, group]
  constexpr std::size_t at_once = 4;  // number of groups processed together, which share buffers for a field
  const std::size_t runs = (groups.size() + at_once - 1) / at_once;
  for_each(parts.size() * runs, kept.threads, [&](std::size_t task) {
    const std::size_t p = task / runs, run = task % runs, layer = layers_of_part(p).first;
    const auto& k = networks[p];
    std::vector<double> u(k[0].framed_size()), y(kept.halves * k[0].size()), part(k[0].size());
    for (std::size_t g = run * at_once; g < std::min((run + 1) * at_once, groups.size()); ++g) {
      kept.multiply(k, groups[g], layer, u, part, y);
      for (const auto to : groups[g].to) values[p * groups.size() + g].push_back(kept.product(y, to, layer));
    }
  });
  for (std::size_t p = 0; p < parts.size(); ++p) {
    std::vector<Number> transfers(kept.arrays());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const auto& term : groups[g].terms)
        transfers[term.array] -= term.sign * values[p * groups.size() + g][term.place];
    for (std::size_t r = 0; r < rows(); ++r)
      sums[p * rows() + r] = (kept.row[r] * transfers[r % kept.arrays()]).real();
  }
}

/// Jᵀ d: for each group, ψ is the sum of φ_M − φ_N weighted by the data of the arrays; then φᵀ (∂K/∂σ_c) ψ
/// for each cell c.
void Sensitivity::transpose_parts(const Range& parts, std::span<const double> data,
                                  std::span<double> model) const {
  const auto& kept = *kept_;
  const auto layers = layers_of(kept.mesh, parts);
  for (const auto c : columns_of(parts)) model[c] = 0;
  std::vector<Number> weight(kept.arrays());
  std::vector<bool> wanted(kept.arrays());
  for (std::size_t r = 0; r < data.size(); ++r) {
    weight[r % kept.arrays()] -= kept.row[r] * data[r];
    if (data[r] != 0) wanted[r % kept.arrays()] = true;
  }
  const std::size_t cells = kept.mesh.n_east();
  std::vector<double> phi, psi;
  for (const auto& group : kept.groups_of(wanted)) {
    kept.combine({group.from.begin(), group.from.end()}, layers, phi);
    kept.combine(kept.weights_of(group, weight), layers, psi);
    kept.for_rows(layers, phi, psi, [&](std::size_t first, const double* real, const double* imaginary) {
      for (std::size_t a = 0; a < kept.axes; ++a) {
        const Number* factor = kept.column.data() + a * kept.mesh.size() + first;
        double* m = model.data() + kept.column_of(0, a, first);
        if (kept.halves == 1) {
          for (std::size_t i = 0; i < cells; ++i) m[i] += factor[i].real() * real[a * cells + i];
          continue;
        }
        double* other = model.data() + kept.column_of(1, a, first);
        for (std::size_t i = 0; i < cells; ++i) {
          const Number value = factor[i] * Number(real[a * cells + i], imaginary[a * cells + i]);
          m[i] += value.real();
          other[i] -= value.imag();  // Re(i value) = −Im(value)
        }
      }
    });
  }
}

void Sensitivity::diagonal_parts(const Range& parts, std::span<const double> weight,
                                 std::span<double> diagonal) const {
  const auto& kept = *kept_;
  const auto layers = layers_of(kept.mesh, parts);
  for (const auto c : columns_of(parts)) diagonal[c] = 0;
  const std::size_t cells = kept.mesh.n_east();
  std::vector<double> phi, psi;
  for (std::size_t n = 0; n < kept.arrays(); ++n) {
    const auto& array = kept.electrodes.arrays[n];
    Kept::Weights from, to;
    for (auto [weights, plus, minus] :
         {std::tuple{&from, array.a, array.b}, std::tuple{&to, array.m, array.n}})
      for (const auto& [electrode, sign] : {std::pair{plus, 1.0}, std::pair{minus, -1.0}})
        if (electrode != Array::far_away) weights->emplace_back(electrode, sign);
    bool any = false;
    for (std::size_t r = n; r < rows(); r += kept.arrays()) any = any || weight[r] != 0;
    if (!any) continue;
    kept.combine(from, layers, phi);
    kept.combine(to, layers, psi);
    kept.for_rows(layers, phi, psi, [&](std::size_t first, const double* real, const double* imaginary) {
      for (std::size_t r = n; r < rows(); r += kept.arrays())
        for (std::size_t a = 0; a < kept.axes; ++a)
          for (std::size_t i = 0; i < cells; ++i) {
            const Number value =
                kept.row[r] * kept.column[a * kept.mesh.size() + first + i] *
                Number(real[a * cells + i], kept.halves == 2 ? imaginary[a * cells + i] : 0.0);
            diagonal[kept.column_of(0, a, first + i)] += weight[r] * value.real() * value.real();
            if (kept.halves == 2)
              diagonal[kept.column_of(1, a, first + i)] += weight[r] * value.imag() * value.imag();
          }
    });
  }
}

}  // namespace terrane::electric
