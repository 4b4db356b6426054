// Outline of direct_current(): compute the potentials of every current electrode at all electrodes
// (potentials.cpp); multiply total potentials chosen by `automatic` by the correction found over homogeneous
// ground on the same mesh; sum the potentials for each array; for uneven ground do the same over homogeneous
// ground, and take ratios.
#include "terrane/physics/electric/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include "terrane/base/error.hpp"
#include "terrane/physics/electric/turns.hpp"
#include "terrane/solve/multigrid/host_passes.hpp"

namespace terrane::electric {

namespace {

using Number = std::complex<double>;

/// The sum of value(current electrode, potential electrode) over the four pairs of an array, with the signs
/// of ΔV/I.
template <class Value>
auto combine(const Array& array, const Value& value) {
  decltype(value(std::size_t{}, std::size_t{})) sum = 0;
  const auto add = [&](int from, int to, double sign) {
    if (from != Array::far_away && to != Array::far_away)
      sum += sign * value(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
  };
  add(array.a, array.m, 1);
  add(array.b, array.m, -1);
  add(array.a, array.n, -1);
  add(array.b, array.n, 1);
  return sum;
}

constexpr double longest_factor = 1e6;  // m; larger factors count as infinite: there is no voltage over
                                        // homogeneous ground

double factor_or_nan(double factor) {
  return std::abs(factor) <= longest_factor ? factor : std::numeric_limits<double>::quiet_NaN();
}

/// The results of a solve for one electrode as a list of numbers: potentials at all electrodes, then fields
/// in all cells. Consumes `cells` array by array, so that memory holds the cells once, and one array twice.
std::vector<double> numbers_of(const std::vector<Number>& at, std::vector<CellValues> cells) {
  std::size_t count = 2 * at.size();
  for (const auto& one : cells) count += one.real.size() + one.imaginary.size();
  std::vector<double> all;
  all.reserve(count);
  for (const auto& value : at) all.insert(all.end(), {value.real(), value.imag()});
  for (auto& one : cells)
    for (auto* part : {&one.real, &one.imaginary}) {
      all.insert(all.end(), part->begin(), part->end());
      *part = std::vector<double>();
    }
  return all;
}

/// The reverse of numbers_of(): returns the potentials, and appends the fields in cells to those of earlier
/// electrodes. sources: the final number of electrodes
std::vector<Number> values_of(std::span<const double> numbers, std::size_t places, bool complex,
                              std::size_t sources, std::vector<CellValues>& cells) {
  std::vector<Number> at;
  for (std::size_t n = 0; n < places; ++n) at.emplace_back(numbers[2 * n], numbers[2 * n + 1]);
  auto rest = numbers.subspan(2 * places);
  const std::size_t each = cells.empty() ? 0 : rest.size() / (cells.size() * (complex ? 2 : 1));
  for (auto& one : cells)
    for (auto* part : {&one.real, &one.imaginary}) {
      if (part == &one.imaginary && !complex) continue;
      part->reserve(sources * each);
      part->insert(part->end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(each));
      rest = rest.subspan(each);
    }
  return at;
}

/// Potentials of homogeneous ground at all electrodes, for sources whose total potentials are corrected: once
/// as computed on the mesh, and once without errors of the mesh (over flat ground in closed form, over uneven
/// ground by a solve for the secondary potential below slopes). Values on rank 0 only.
struct HomogeneousPotentials {
  std::set<std::size_t> solved;  // sources that were solved for; known on all ranks
  std::map<std::size_t, std::vector<double>> by_mesh, exact;
  /// For uneven ground, the potentials from which geometric factors were computed; keys on all ranks, values
  /// on rank 0.
  std::map<std::size_t, std::vector<double>> of_factors;
  std::vector<Array> solved_arrays;  // result of as_solved() for the first medium; on all ranks
};

/// The half space of mean conductivity 1 S/m with the ratios of the mean conductivities along the axes.
HalfSpace homogeneous(const Conductivity& conductivity) {
  const auto s = mean_stretch(conductivity);
  return {{1 / (s.e * s.e), 1 / (s.n * s.n), 1 / (s.u * s.u)}};
}

/// Adds to `known` the potentials of those `sources` that are missing: one solve for each; over uneven ground
/// two, unless geometric factors already needed the second.
void add_potentials(const TensorMesh& mesh, const Conductivity& conductivity, const Electrodes& electrodes,
                    Parameters parameters, Stream& stream, Progress& progress, const Groups& groups,
                    std::vector<std::size_t> sources, HomogeneousPotentials& known) {
  std::array<std::vector<double>, 3> values;
  Conductivity even{{&values[0], &values[0], &values[0]}, {}, conductivity.ground, conductivity.slopes};
  Primary ground;
  Primaries slopes;
  groups.together([&] {
    std::erase_if(sources, [&](std::size_t source) { return !known.solved.insert(source).second; });
    if (sources.empty()) return;
    if (even.ground) ground.own = {{1, 1, 1}, {}};
    else ground.own = homogeneous(conductivity);
    const std::size_t axes = !even.ground && conductivity.differs_by_axis() ? 3 : 1;
    for (std::size_t a = 0; a < axes; ++a) {
      values[a].assign(mesh.size(), ground.own.along[a]);
      even.along[a] = &values[a];
    }
    if (!even.ground) return;
    Electrodes poles{electrodes.place, {}};
    for (const std::size_t one : sources)
      poles.arrays.push_back({static_cast<int>(one), Array::far_away, Array::far_away, Array::far_away});
    slopes = primaries_of(mesh, even, parameters, poles);
  });
  if (sources.empty()) return;
  parameters.potential = Potential::total;
  const double surface = mesh.up().back();
  const auto& place = electrodes.place;
  Turns turns(mesh, even, place, parameters, stream, sources, groups);
  turns.solve(
      progress,
      [&](Potentials& solver, std::size_t source, Solved& solved) {
        std::vector<double> of_place;
        for (const Number& value : solver.at_electrodes(source, std::nullopt, solved))
          of_place.push_back(value.real());
        if (!even.ground || known.of_factors.contains(source)) return of_place;
        Solved again;
        for (const Number& value : solver.at_electrodes(source, slopes.at(source), again))
          of_place.push_back(value.real());
        return of_place;
      },
      [&](std::size_t source, const Solved&, std::vector<double> found) {
        auto& exact = known.exact[source];
        if (const auto solved = known.of_factors.find(source); solved != known.of_factors.end())
          exact = solved->second;
        else if (even.ground)
          exact.assign(found.begin() + static_cast<std::ptrdiff_t>(place.size()), found.end());
        else
          for (const auto& p : place) exact.push_back(ground.potential(place[source], p, surface).real());
        found.resize(place.size());
        known.by_mesh[source] = std::move(found);
      });
}

/// The factor that corrects ΔV/I of `part`, the contribution to an array of its corrected sources: exact ΔV/I
/// of this part over homogeneous ground, divided by that on the mesh. The mesh causes nearly the same
/// relative error over homogeneous ground as over the medium, so the factor removes most of it. NaN if the
/// part is close to zero over homogeneous ground.
double factor_of(const Array& part, const HomogeneousPotentials& known) {
  const auto sum = [&](const auto& of) {
    return combine(part, [&](std::size_t from, std::size_t to) { return of.at(from)[to]; });
  };
  const double exact = sum(known.exact), factor = exact / sum(known.by_mesh);
  const bool null = !(std::abs(exact) * longest_factor > 1) || !(factor > 1.0 / 3 && factor < 3);
  return null ? std::numeric_limits<double>::quiet_NaN() : factor;
}

/// ΔV/I of an array. The potentials of sources in `held` are corrected: by one common factor or, if that is
/// NaN, by a factor for each pair of electrodes.
template <class Potential>
Number transfer(const Array& array, const std::set<std::size_t>& held, const HomogeneousPotentials& known,
                const Potential& potential) {
  const auto is_held = [&](int source) {
    return source != Array::far_away && held.contains(static_cast<std::size_t>(source));
  };
  Array part = array, rest = array;
  (is_held(array.a) ? rest : part).a = Array::far_away;
  (is_held(array.b) ? rest : part).b = Array::far_away;
  Number sum = combine(rest, potential);
  if (part.a == Array::far_away && part.b == Array::far_away) return sum;
  const double factor = factor_of(part, known);
  if (!std::isnan(factor)) return sum + factor * combine(part, potential);
  return sum + combine(part, [&](std::size_t from, std::size_t to) {
           const double of_pair = known.exact.at(from)[to] / known.by_mesh.at(from)[to];
           return std::isfinite(of_pair) && of_pair > 0 ? of_pair * potential(from, to) : potential(from, to);
         });
}

/// ΔV/I of the first `count` arrays. If these are followed by the arrays with current and potential
/// electrodes exchanged, each value is the mean of both.  potentials: of each current electrode at all
/// electrodes
std::vector<Number> means_of_arrays(std::size_t count, const std::vector<Array>& arrays,
                                    const std::set<std::size_t>& held, const HomogeneousPotentials& known,
                                    const std::map<std::size_t, std::vector<Number>>& potentials) {
  const auto of_array = [&](const Array& array) {
    return transfer(array, held, known,
                    [&](std::size_t from, std::size_t to) { return potentials.at(from)[to]; });
  };
  std::vector<Number> all;
  for (std::size_t n = 0; n < count; ++n) {
    all.push_back(of_array(arrays[n]));
    if (count + n < arrays.size()) all[n] = (all[n] + of_array(arrays[count + n])) / 2.0;
  }
  return all;
}

/// ΔV/I of every array, on rank 0.  cells: receives the fields in cells, if any are wanted; secondary:
/// receives the potentials at all electrodes, for sources with a secondary potential
std::vector<Number> transfers(const TensorMesh& mesh, const Conductivity& conductivity,
                              const Electrodes& given, const Parameters& parameters, Stream& stream,
                              DirectCurrentReport& report, Progress& progress, const Groups& groups,
                              HomogeneousPotentials& known, const Volume& wanted = {},
                              std::vector<CellValues>* cells = nullptr,
                              std::map<std::size_t, std::vector<double>>* secondary = nullptr) {
  Electrodes electrodes;
  std::vector<std::size_t> sources, of_volume, held;
  Primaries primaries;
  groups.together([&] {
    check(mesh, conductivity, given.place);
    if (known.solved_arrays.empty())
      known.solved_arrays = as_solved(mesh, conductivity, parameters, given).arrays;
    electrodes = {given.place, known.solved_arrays};
    sources = sources_of(given, electrodes, parameters);
    if (wanted.arrays() > 0) of_volume = current_electrodes(given);
    auto all = electrodes;
    for (const std::size_t one : sources)  // some sources are solved for only because fields in cells are
                                           // wanted
      all.arrays.push_back({static_cast<int>(one), Array::far_away, Array::far_away, Array::far_away});
    primaries = primaries_of(mesh, conductivity, parameters, all);
    held = held_against_homogeneous(primaries, conductivity, parameters);
  });
  add_potentials(mesh, conductivity, electrodes, parameters, stream, progress, groups, held, known);
  report.held_against = known.solved.size();
  Turns turns(mesh, conductivity, electrodes.place, parameters, stream, sources, groups);
  // Potentials at all electrodes, for each current electrode.
  std::map<std::size_t, std::vector<Number>> potentials;
  std::vector<CellValues> volume(wanted.arrays());
  turns.solve(
      progress,
      [&](Potentials& solver, std::size_t source, Solved& solved) {
        const auto at = solver.at_electrodes(source, primaries.at(source), solved);
        if (!groups.hands_over() || !std::binary_search(of_volume.begin(), of_volume.end(), source))
          return numbers_of(at, {});
        return numbers_of(at, solver.in_cells(wanted));
      },
      [&](std::size_t source, const Solved& solved, std::vector<double> found) {
        potentials[source] =
            values_of(found, electrodes.place.size(), conductivity.complex(), of_volume.size(), volume);
        report.sources.push_back(source);
        report.solves.push_back(solved.report);
        report.secondary += solved.secondary ? 1 : 0;
      });
  for (const std::size_t source : secondary != nullptr ? sources : std::vector<std::size_t>{})
    if (primaries.at(source)) {
      auto& values = (*secondary)[source];  // the values stay empty on ranks other than 0
      for (const Number& value : potentials[source]) values.push_back(value.real());
    }
  if (groups.comm().rank() > 0) return {};
  report.operator_complexity = turns.solver().operator_complexity();
  if (cells != nullptr) *cells = std::move(volume);
  return means_of_arrays(given.arrays.size(), electrodes.arrays, {held.begin(), held.end()}, known,
                         potentials);
}

/// Geometric factors: for a flat surface in closed form; else 1/ΔV over ground of 1 S/m on the same mesh.
std::vector<double> factors(const TensorMesh& mesh, const Conductivity& conductivity,
                            const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                            Progress& progress, const Groups& groups, HomogeneousPotentials& known) {
  std::vector<double> all;
  if (!conductivity.ground) {
    for (const auto& array : electrodes.arrays)
      all.push_back(geometric_factor(electrodes, array, mesh.up().back()));
    return all;
  }
  const std::vector<double> ones(mesh.size(), 1.0);
  DirectCurrentReport unread;
  HomogeneousPotentials none;
  const Conductivity even{{&ones, &ones, &ones}, {}, conductivity.ground, conductivity.slopes};
  for (const Number& unit : transfers(mesh, even, electrodes, parameters, stream, unread, progress, groups,
                                      none, {}, nullptr, &known.of_factors))
    all.push_back(factor_or_nan(1 / unit.real()));
  return all;
}

}  // namespace

std::vector<std::size_t> current_electrodes(const Electrodes& electrodes) {
  std::set<std::size_t> all;
  for (const auto& array : electrodes.arrays)
    for (const int source : {array.a, array.b})
      if (source != Array::far_away) all.insert(static_cast<std::size_t>(source));
  return {all.begin(), all.end()};
}

Conductivity Medium::view() const {
  const auto axes = [](const auto& east, const auto& north, const auto& up) {
    return std::array{&east, north.empty() ? &east : &north, up.empty() ? &east : &up};
  };
  Conductivity all{axes(conductivity, conductivity_north, conductivity_up)};
  if (!quadrature.empty()) all.quadrature = axes(quadrature, quadrature_north, quadrature_up);
  if (!ground.empty()) all.ground = &ground;
  if (!slopes.empty()) all.slopes = &slopes;
  return all;
}

std::vector<std::size_t> sources_of(const Electrodes& given, const Electrodes& solved,
                                    const Parameters& parameters) {
  const auto own = current_electrodes(solved);
  std::set<std::size_t> all(own.begin(), own.end());
  if (parameters.volume.arrays() > 0)
    for (const std::size_t one : current_electrodes(given)) all.insert(one);
  return {all.begin(), all.end()};
}

void check(const Boundaries& boundary, const Electrodes& electrodes, const Volume& volume) {
  if (boundary(0, true) == Boundary::mixed)
    throw InputError("sides.top", "a mixed wall belongs to a half space below the top of the mesh",
                     "Allowed at the top: insulated (air), grounded.");
  if (!boundary.closed()) return;
  if (volume.arrays() > 0)
    throw InputError("simulation.volume",
                     "all sides are insulated, so the current of one electrode has no way",
                     "Ground a side, such as sides.bottom = \"grounded\", or leave the volume out.");
  for (std::size_t n = 0; n < electrodes.arrays.size(); ++n) {
    const auto& array = electrodes.arrays[n];
    for (const int one : {array.a, array.b, array.m, array.n})
      if (one == Array::far_away)
        throw InputError(fmt::format("array {}", n + 1),
                         "an electrode is far away, and all sides of the mesh are insulated",
                         "Give it all four electrodes, or ground a side: sides.bottom = \"grounded\".");
  }
}

int DirectCurrentReport::most_iterations() const {
  int most = 0;
  for (const auto& solve : solves) most = std::max(most, solve.iterations);
  return most;
}

bool DirectCurrentReport::converged() const {
  return std::all_of(solves.begin(), solves.end(), [](const auto& solve) { return solve.converged(); });
}

double geometric_factor(const Electrodes& electrodes, const Array& array, double surface) {
  const double sum = combine(array, [&](std::size_t from, std::size_t to) {
    return inverse_distances(electrodes.place[from], electrodes.place[to], surface);
  });
  return factor_or_nan(4 * std::numbers::pi / sum);
}

namespace {

/// direct_current() for one conductivity, without chargeability.
DirectCurrentData data_of(const TensorMesh& mesh, const Conductivity& conductivity,
                          const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                          DirectCurrentReport& report, Progress& progress, const Groups& groups,
                          HomogeneousPotentials& known) {
  DirectCurrentData data;
  data.geometric_factor =
      factors(mesh, conductivity, electrodes, parameters, stream, progress, groups, known);
  const auto all = transfers(mesh, conductivity, electrodes, parameters, stream, report, progress, groups,
                             known, parameters.volume, &data.volume);
  for (std::size_t n = 0; n < all.size(); ++n) {
    const double factor = data.geometric_factor[n];
    report.null_arrays += std::isnan(factor) ? 1 : 0;
    data.resistance.push_back(all[n].real());
    if (!conductivity.complex()) {
      data.apparent_resistivity.push_back(factor * all[n].real());
      continue;
    }
    const Number resistivity = factor * all[n];
    const double sign = resistivity.real() < 0 ? -1 : 1;
    data.reactance.push_back(all[n].imag());
    data.apparent_resistivity.push_back(sign * std::abs(resistivity));
    data.phase.push_back(-std::arg(sign * resistivity));
  }
  return data;
}

}  // namespace

namespace {

/// Throws InputError: a chargeability outside 0 … 1, or a complex conductivity as well.
void check_chargeability(const Medium& medium) {
  for (std::size_t cell = 0; cell < medium.chargeability.size(); ++cell)
    if (const double m = medium.chargeability[cell]; !(m >= 0 && m < 1))
      throw InputError("model.chargeability", fmt::format("{} V/V in cell {}", m, cell + 1),
                       "Allowed: from 0 to below 1.");
  if (!medium.chargeability.empty() && !medium.quadrature.empty())
    throw InputError("simulation.frequency", "the medium has a chargeability in time as well",
                     "A phase at a frequency, or a chargeability without one.");
}

/// The number of solves, after a check of electrodes and sides.
std::size_t count_of_solves(const Electrodes& electrodes, const Parameters& parameters) {
  electrodes.check();
  check(parameters.boundary, electrodes, parameters.volume);
  return current_electrodes(electrodes).size();
}

}  // namespace

Medium begun(const Medium& medium) {
  check_chargeability(medium);
  Medium all = medium;
  for (std::size_t cell = 0; cell < medium.chargeability.size(); ++cell)
    for (auto* sigma : {&all.conductivity, &all.conductivity_north, &all.conductivity_up})
      if (!sigma->empty()) (*sigma)[cell] /= 1 - medium.chargeability[cell];
  return all;
}

DirectCurrentData direct_current(const TensorMesh& mesh, const Conductivity& conductivity,
                                 const Electrodes& electrodes, const Parameters& parameters, Stream& stream,
                                 DirectCurrentReport* report, Progress* progress, Comm* comm, int at_once) {
  Alone alone;
  Progress silent;
  DirectCurrentReport unread;
  const auto solves = [&] { return count_of_solves(electrodes, parameters); };
  const Groups groups(comm ? *comm : alone, solves, at_once);
  return groups.run([&] {
    HomogeneousPotentials known;
    return data_of(mesh, conductivity, electrodes, parameters, stream, report ? *report : unread,
                   progress ? *progress : silent, groups, known);
  });
}

DirectCurrentData direct_current(const TensorMesh& mesh, const Medium& medium, const Electrodes& electrodes,
                                 const Parameters& parameters, Stream& stream, DirectCurrentReport* report,
                                 Progress* progress, Comm* comm, int at_once) {
  Alone alone;
  Progress silent;
  DirectCurrentReport unread;
  DirectCurrentReport& said = report ? *report : unread;
  Progress& told = progress ? *progress : silent;
  const auto solves = [&] { return count_of_solves(electrodes, parameters); };
  const Groups groups(comm ? *comm : alone, solves, at_once);
  return groups.run([&] {
    groups.together([&] { check_chargeability(medium); });
    HomogeneousPotentials known;
    auto data = data_of(mesh, medium.view(), electrodes, parameters, stream, said, told, groups, known);
    if (medium.chargeability.empty()) return data;
    Medium first_medium;
    groups.together([&] { first_medium = begun(medium); });
    const auto first =
        transfers(mesh, first_medium.view(), electrodes, parameters, stream, said, told, groups, known);
    for (std::size_t n = 0; n < first.size(); ++n)
      data.chargeability.push_back(1 - first[n].real() / data.resistance[n]);
    return data;
  });
}

double bytes_needed(double nodes, bool complex, bool on_gpu, double coarser) {
  // Counts numbers of four bytes. Conjugate gradients use the vectors b, x, r, p, q, z; a multigrid level the
  // right-hand side b, the solution u, and v. Stored are the conductances of the network, which are also
  // those of the finest level; if complex, their complex values in double precision; b, x, r, p in double
  // precision; u of the finest level; and one memory for its b and v, which q and z also use. Coarser levels
  // with a smoother store links, b, u and v (they have `coarser` times as many points as the finest); levels
  // without a smoother store links only. On CPUs every second u shares memory with another, and only links of
  // removed points are stored. Arrays have halos of at most four points per axis. While networks are
  // copied to the device, the host has copies but no vectors.
  const bool passes = !on_gpu && solve::has_passes<float>();
  const double parts = complex ? 2 : 1, others = coarser;
  const double conductances = complex ? 3 + 6 * 2 : 6, vectors = 8 * parts, of_finest = 3 * parts;
  const double of_others = others * 3 + (passes ? 2 * others + 0.7 : 3 * others) * parts,
               between = passes ? 1.5 : 4 + 1.5 * parts;
  const double layers = std::pow(1 + 4 / std::cbrt(std::max(nodes, 1.0)), 3);
  return nodes * layers * 4 * (conductances + vectors + of_finest + of_others + between);
}

double bytes_of_helper(double nodes, bool complex) {
  // Memory for the whole network while a rank copies its part; later for the right-hand side and the
  // solution.
  return nodes * (complex ? 80 : 32);
}

}  // namespace terrane::electric
