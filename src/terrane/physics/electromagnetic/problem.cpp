#include "terrane/physics/electromagnetic/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"
#include "terrane/model/polarization.hpp"
#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/physics/electromagnetic/survey/section.hpp"

namespace terrane::electromagnetic {

namespace {

/// "12.5 m", "6210 m", "31.6 km"
std::string length_text(double metres) {
  if (metres < 1e3) return fmt::format("{:.3g} m", metres);
  if (metres < 1e4) return fmt::format("{:.0f} m", metres);
  return metres < 1e6 ? fmt::format("{:.3g} km", metres / 1e3) : fmt::format("{:.0f} km", metres / 1e3);
}

bool sends_nothing(const Source& source) {
  if (source.kind != Source::Kind::wire)
    return source.moment[0] == 0 && source.moment[1] == 0 && source.moment[2] == 0;
  return source.current == 0 || std::all_of(source.points.begin(), source.points.end(),
                                            [&](const auto& p) { return p == source.points.front(); });
}

std::size_t cell_of(const std::vector<double>& faces, double x) {
  return static_cast<std::size_t>(std::upper_bound(faces.begin() + 1, faces.end() - 1, x) - faces.begin()) -
         1;
}

}  // namespace

std::string name(const Component& component) {
  return fmt::format("{}_{}", component.magnetic ? 'h' : 'e', "une"[component.axis]);
}

Conductivity Problem::along() const {
  Conductivity all;
  for (std::size_t a = 0; a < 3; ++a) all[a] = conductivity[a].empty() ? &conductivity[0] : &conductivity[a];
  return all;
}

Conductivity Problem::sides() const {
  return contrasts.empty() ? along() : Conductivity{&contrasts, &contrasts, &contrasts};
}

Sigma Problem::sigma_of(const Conductivity& real, double hertz) const {
  Sigma all{real, {}, {}};
  for (std::size_t a = 0; a < 3 && !quadrature[0].empty(); ++a)
    all.quadrature[a] = quadrature[a].empty() ? &quadrature[0] : &quadrature[a];
  for (std::size_t cell = 0; cell < chargeability.size(); ++cell)
    all.factor.push_back(chargeability[cell] == 0 ? 1.0
                                                  : cole_cole(1, chargeability[cell], charge_time[cell],
                                                              charge_exponent[cell], hertz));
  return all;
}

double Problem::conductivity_at(const Vector3& p) const {
  return conductivity[0][mesh.index(cell_of(mesh.easting(), p[0]), cell_of(mesh.northing(), p[1]),
                                    cell_of(mesh.up(), p[2]))];
}

std::string Problem::source_name(std::size_t n) const {
  return fmt::format("source {}", first_source + n + 1);
}

double Problem::omega_mu(std::size_t solve) const {
  return 2 * std::numbers::pi * frequencies[solve % frequencies.size()] * 4e-7 * std::numbers::pi;
}

namespace {
/// Bytes of an unknown that networks and fields of all levels take of CPUs, where cycles share them.
constexpr double bytes_of_levels = 30;
/// Unknowns of a box, with the layers of points that arrays of CPUs have around it: five in the mean of
/// vectors and levels.
double with_layers(const IndexBox<3>& box) {
  double points = 3;
  for (int axis = 0; axis < 3; ++axis) points *= static_cast<double>(box.size(axis)) + 5;
  return points;
}
}  // namespace

double Problem::field_memory(bool on_gpu) const {
  // Of an unknown: 5 vectors and the divergence of 2 (91 bytes), conductances (8), networks and fields of all
  // levels in single precision (30 on CPUs, 65 on GPUs), and what GPUs take beside arrays; 3 more vectors of
  // the rough form. A test holds it against the heap.
  const double rough = parameters.rough == Rough::never ? 0
                       : on_gpu                         ? 40
                                                        : 48,
               beyond = stores_charge() ? 16 : 0;
  if (on_gpu) return 3 * static_cast<double>(mesh.size()) * (190 + rough + beyond) + 40e6;  // for graphs
  return with_layers(cells()) * (100 + bytes_of_levels + rough + beyond);
}

double Problem::field_memory_on_ranks(int ranks) const {
  if (ranks <= 1) return field_memory(false);
  // Levels reach three points beyond a part, where neighbours compute the same, of coarse levels the more;
  // messages bring these points of b and u of the four cycles, and one of vectors, there and here. Levels of
  // few points are on every rank, as messages, too.
  constexpr double coarse = 1.5, of_messages = 4.0 / 3 * 4 * 2 * 8, of_vectors = 2 * 3 * 16,
                   most_whole = 32768, of_whole = 3 * bytes_of_levels + 4 * 2 * 8;
  const auto whole = cells();
  const double of_unknown = field_memory(false) / with_layers(whole);
  double bytes = 0;
  for (const auto& part : cut(whole, ranks).parts) {
    const auto held = overlap(part.grown(3), whole);
    const auto around = static_cast<double>(held.count() - part.count());
    bytes += with_layers(part) * (of_unknown - bytes_of_levels) +
             coarse * with_layers(held) * bytes_of_levels + around * (of_messages + of_vectors / 3) +
             std::min(static_cast<double>(whole.count()), most_whole) * of_whole;
  }
  return bytes;
}

double Problem::model_memory() const {
  std::size_t values = contrasts.size() + chargeability.size() + charge_time.size() + charge_exponent.size();
  for (const auto* part : {&conductivity, &quadrature})
    for (const auto& along : *part) values += along.size();
  return static_cast<double>(values * sizeof(double));
}

double Problem::host_memory(double ranks) const {
  // The model, copies on their way, and the banded matrix of a section.
  const auto of_section = parameters.strike == Strike::none
                              ? 0
                              : bytes_of_section(mesh, parameters.strike == Strike::north ? 1 : 2);
  return ranks * of_section + 3 * static_cast<double>(mesh.size()) * ranks * 30 +
         (stores_charge() ? 120 * static_cast<double>(mesh.size()) * ranks : 0) +
         16 * static_cast<double>(solves() * (data_of_a_solve() + 2 * volume_of_a_solve()));
}

void Problem::check() const {
  if (sources.empty()) throw InputError("electromagnetic", "there is no source", "Give [[source]] tables.");
  if (receivers.empty() || components.empty())
    throw InputError("electromagnetic", "nothing is recorded", "Give receivers and components.");
  if (!contrasts.empty() && contrasts.size() != mesh.size())
    throw ShapeError("electromagnetic",
                     fmt::format("contrasts of {} cells, not {}", contrasts.size(), mesh.size()));
  check_charges();
  if (frequencies.empty()) throw InputError("electromagnetic", "there is no frequency");
  for (const double hertz : frequencies)
    if (!(hertz > 0) || !std::isfinite(hertz))
      throw InputError("electromagnetic", fmt::format("a frequency is {} Hz", hertz),
                       "It must be above zero; physics = \"electric\" is direct current.");
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto what = source_name(n);
    const auto& [kind, points, moment, current] = sources[n];
    if (kind != Source::Kind::plane_wave) {
      moments(mesh, sources[n], what);
      if (sends_nothing(sources[n]))
        throw InputError(what, "it sends nothing",
                         "Give it a moment or a current that is not zero, and a wire different points.");
    } else if (moment[2] != 0 || (moment[0] == 0 && moment[1] == 0))
      throw InputError(what, "a plane wave has a horizontal field, not zero");
  }
  if (parameters.strike != Strike::none && sources.front().kind != Source::Kind::plane_wave)
    throw InputError("simulation.strike", "a strike is of plane waves", "Leave the key out.");
  if (parameters.field == Field::secondary) check_secondary();
  for (std::size_t n = 0; n < receivers.size(); ++n)
    receiver(mesh, along(), receivers[n], components.front(), fmt::format("receiver {}", n + 1));
}

void Problem::check_charges() const {
  if (quadrature[0].empty() && !(quadrature[1].empty() && quadrature[2].empty()))
    throw ShapeError("electromagnetic", "imaginary conductivities along north or east, but none along up");
  for (const auto& values : quadrature) {
    if (!values.empty() && values.size() != mesh.size())
      throw ShapeError("electromagnetic",
                       fmt::format("{} imaginary conductivities for {} cells", values.size(), mesh.size()));
    for (const double value : values)
      if (!std::isfinite(value))
        throw InputError("electromagnetic", "an imaginary part of a conductivity is not finite");
  }
  for (const auto* values : {&chargeability, &charge_time, &charge_exponent})
    if (values->size() != chargeability.size() || (!values->empty() && values->size() != mesh.size()))
      throw ShapeError("electromagnetic", "chargeabilities, times and exponents are not those of the cells");
  for (std::size_t cell = 0; cell < chargeability.size(); ++cell) {
    const double m = chargeability[cell];
    if (m == 0) continue;
    if (!(m > 0 && m < 1))
      throw InputError("model.chargeability", fmt::format("{} V/V in cell {}", m, cell + 1),
                       "Allowed: from 0 to below 1; \"20 mV/V\" is 0.02.");
    if (!(charge_time[cell] > 0) || !(charge_exponent[cell] > 0) || charge_exponent[cell] > 1)
      throw InputError(
          "model", fmt::format("cell {} has a chargeability without a time constant or exponent", cell + 1),
          "Give its body cole_cole_time and cole_cole_exponent, above zero.");
  }
}

void Problem::check_secondary() const {
  const auto sigma = this->sigma(frequencies.front());
  const auto layers = layers_of_sides(mesh, sigma);
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto what = source_name(n);
    if (sources[n].kind == Source::Kind::magnetic_dipole &&
        (sources[n].moment[0] != 0 || sources[n].moment[1] != 0))
      throw InputError(what, "the field in layers is known of upright magnetic dipoles only",
                       "Take simulation.field = \"total\", or a loop.");
    for (const auto& p : sources[n].points) {
      const std::size_t k = cell_of(mesh.up(), p[2]),
                        cell = mesh.index(cell_of(mesh.easting(), p[0]), cell_of(mesh.northing(), p[1]), k);
      for (std::size_t a = 0; a < 3; ++a)
        if (sigma(a, cell) != layers.conductivity[a][k])
          throw InputError(what, "it does not lie in the layers that the mesh has at its sides",
                           "Take simulation.field = \"total\".");
    }
  }
}

std::vector<std::string> Problem::warnings() const {
  std::vector<std::string> lines;
  const auto [slowest, fastest] = std::minmax_element(frequencies.begin(), frequencies.end());
  const auto box = mesh.bounds();
  // Skin depth 503.3 √(ρ/f) beside the sources, and of the earth's mean conductivity.
  double mean = 0, count = 0;
  for (const double sigma : conductivity[0])
    if (sigma > 1e-6) {
      mean += std::log(sigma);
      count += 1;
    }
  const double earth = count > 0 ? std::exp(mean / count) : 1;
  const double wave = 2 * std::numbers::pi * 503.3 / std::sqrt(earth * *slowest);
  double nearest = INFINITY, coarsest = 0, depth = INFINITY;
  const bool plane = sources.front().kind == Source::Kind::plane_wave;
  std::vector<Vector3> places;  // plane waves are looked at where they are recorded
  if (plane) places = receivers;
  for (const auto& source : sources) places.insert(places.end(), source.points.begin(), source.points.end());
  for (auto p : places) {
    if (plane) p[2] = std::nextafter(p[2], box.bottom);
    nearest = std::min({nearest, p[0] - box.west, box.east - p[0], p[1] - box.south, box.north - p[1],
                        p[2] - box.bottom, box.top - p[2]});
    const std::size_t i = cell_of(mesh.easting(), p[0]), j = cell_of(mesh.northing(), p[1]),
                      k = cell_of(mesh.up(), p[2]);
    const double sigma = conductivity[0][mesh.index(i, j, k)];
    if (sigma < 1e-6) continue;  // in air
    depth = std::min(depth, 503.3 / std::sqrt(sigma * *fastest));
    const double upright = mesh.up()[k + 1] - mesh.up()[k];
    coarsest = std::max(coarsest, upright);
    if (plane) continue;  // fields change with depth more than along the ground
    coarsest = std::max(
        {coarsest, mesh.easting()[i + 1] - mesh.easting()[i], mesh.northing()[j + 1] - mesh.northing()[j]});
  }
  const char* beside = plane ? "receiver" : "source";
  if (coarsest > depth / 3)
    lines.push_back(
        fmt::format("cells of {} beside a {}, where the skin depth at {:.4g} Hz is {}: "
                    "errors of 5 % and more; 4 cells per skin depth give 1 to 2 %, 8 give 0.5 %",
                    length_text(coarsest), beside, *fastest, length_text(depth)));
  if (nearest < wave / 2)
    lines.push_back(
        fmt::format("a wall of the mesh is {} from a {}, and a wavelength at {:.4g} Hz is {}: "
                    "let cells that grow by up to 1.5 go on for a wavelength, also in the air",
                    length_text(nearest), beside, *slowest, length_text(wave)));
  // On a face between ground and air current enters the ground.
  const auto in_air = [&](const Vector3& p) {
    return conductivity_at(p) <= 1e-6 &&
           conductivity_at({p[0], p[1], std::nextafter(p[2], box.bottom)}) <= 1e-6;
  };
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto& points = sources[n].points;
    const bool grounded = sources[n].kind == Source::Kind::electric_dipole ||
                          (sources[n].kind == Source::Kind::wire && points.front() != points.back());
    if (grounded && (in_air(points.front()) || in_air(points.back())))
      lines.push_back(fmt::format(
          "{} is grounded in air: its current goes through what conducts a millionth of the ground",
          source_name(n)));
  }
  if (plane && parameters.strike == Strike::none && !layers_of_sides(mesh, sigma(*slowest)).alike)
    lines.push_back(
        "the sides of the mesh are not the same layers all around: plane waves come in over their mean, "
        "so keep the sides far from receivers, or give simulation.strike where the earth has one");
  if (plane && parameters.strike != Strike::none &&
      !section_of_ends(mesh, sigma(*slowest), parameters.strike == Strike::north ? 1 : 2).alike)
    lines.push_back(
        "the two ends of the mesh along simulation.strike are not alike: plane waves come in over their "
        "mean, "
        "so keep the ends far from receivers");
  if (const auto thin = thin_air(); !thin.empty())
    lines.push_back(fmt::format("{}: give it a third of that, or iterations double", thin));
  return lines;
}

std::string Problem::thin_air() const {
  const auto box = mesh.bounds();
  const double sides = std::max(box.east - box.west, box.north - box.south) / 2;
  std::size_t top = mesh.n_up();
  while (top > 0 && conductivity[0][mesh.index(mesh.n_east() / 2, mesh.n_north() / 2, top - 1)] <= 1e-6)
    --top;
  const double air = box.top - mesh.up()[top];
  if (!(air > 0 && air < sides / 3)) return {};
  return fmt::format("the air is {} high over a mesh of {} from its middle to a side", length_text(air),
                     length_text(sides));
}

}  // namespace terrane::electromagnetic
