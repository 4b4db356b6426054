#include "terrane/physics/electromagnetic/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/base/error.hpp"
#include "terrane/model/conductivity.hpp"
#include "terrane/model/polarization.hpp"
#include "terrane/parallel/partition/cartesian.hpp"
#include "terrane/physics/electromagnetic/formula/skin_depth.hpp"
#include "terrane/physics/electromagnetic/survey/section.hpp"
#include "terrane/solve/multigrid/coarsening.hpp"

namespace terrane::electromagnetic {

namespace {

/// A length in words: "12.5 m", "6210 m", "31.6 km"
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

/// The name of the wall on which a point lies: "top", "west wall", …; empty if on none.
std::string wall_of(const TensorMesh& mesh, const Vector3& p) {
  const auto box = mesh.bounds();
  if (p[2] == box.top || p[2] == box.bottom) return p[2] == box.top ? "top" : "bottom";
  if (p[0] == box.west || p[0] == box.east) return p[0] == box.west ? "west wall" : "east wall";
  if (p[1] == box.south || p[1] == box.north) return p[1] == box.south ? "south wall" : "north wall";
  return {};
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
/// Bytes per unknown for networks and fields on all levels, on CPUs, where the multigrid cycles share fields.
double bytes_of_levels(const TensorMesh& mesh) {
  return 22 + 3.5 * solve::points_of_coarser_levels({mesh.up(), mesh.northing(), mesh.easting()});
}
/// Unknowns of a box with the halos of arrays on CPUs, which are five points per axis, on average over
/// vectors and levels.
double with_layers(const IndexBox<3>& box) {
  double points = 3;
  for (int axis = 0; axis < 3; ++axis) points *= static_cast<double>(box.size(axis)) + 5;
  return points;
}
}  // namespace

double Problem::field_memory(bool on_gpu) const {
  // Bytes per unknown: 5 vectors and the divergence of 2 (91), conductances (8), networks and fields of all
  // levels in single precision (on CPUs 22, and 3.5 for each coarser level; on GPUs 65), and further memory
  // of GPUs; 3 more vectors for `rough`, which `automatic` needs on CPUs only after 30 iterations. A test
  // compares this with the heap.
  const double rough = parameters.rough == Rough::never    ? 0
                       : on_gpu                            ? 40
                       : parameters.rough == Rough::always ? 44
                                                           : 0,
               beyond = stores_charge() ? 16 : 0;
  // The 40 MB are for CUDA graphs.
  if (on_gpu) return 3 * static_cast<double>(mesh.size()) * (190 + rough + beyond) + 40e6;
  return with_layers(cells()) * (100 + bytes_of_levels(mesh) + rough + beyond);
}

double Problem::field_memory_on_ranks(int ranks) const {
  if (ranks <= 1) return field_memory(false);
  // Multigrid levels extend three points beyond a rank's part, where the rank repeats the work of its
  // neighbours; on coarse levels these points are a larger fraction. Messages contain these points of b and u
  // of the four cycles, and one point of vectors, sent and received. Every rank stores the coarse levels
  // entirely, and messages for them.
  constexpr double coarse = 1.5, of_messages = 4.0 / 3 * 4 * 2 * 8, of_vectors = 2 * 3 * 16,
                   most_whole = 32768;
  constexpr double of_levels = 30;  // upper limit of the bytes of all levels, per unknown
  constexpr double of_whole = 3 * of_levels + 4 * 2 * 8;
  const auto whole = cells();
  const double of_vectors_and_links = field_memory(false) / with_layers(whole) - bytes_of_levels(mesh);
  double bytes = 0;
  for (const auto& part : cut(whole, ranks).parts) {
    const auto held = overlap(part.grown(3), whole);
    const auto around = static_cast<double>(held.count() - part.count());
    bytes += with_layers(part) * of_vectors_and_links + coarse * with_layers(held) * of_levels +
             around * (of_messages + of_vectors / 3) +
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
  // A rank stores the model and, for plane waves, the incident wave, while a field is solved for; before
  // that, the banded matrix of a section.
  const auto cells = static_cast<double>(mesh.size());
  const auto of_section = parameters.strike == Strike::none
                              ? 0
                              : bytes_of_section(mesh, parameters.strike == Strike::north ? 1 : 2);
  const bool plane_waves = !sources.empty() && sources.front().kind == Source::Kind::plane_wave;
  // The correction of total fields by layers copies the problem twice (forward.cpp).
  const double beside_field = (parameters.field == Field::corrected ? 3 : 1) * model_memory() +
                              (plane_waves ? 28 * cells : 0) + (stores_charge() ? 16 * cells : 0);
  // The volume is copied for each solve, for all solves, and for the file format.
  constexpr double copies_of_volume = 3.6;
  return ranks * std::max(of_section - field_memory(false), beside_field) +
         16 * static_cast<double>(solves()) *
             (static_cast<double>(data_of_a_solve()) +
              copies_of_volume * static_cast<double>(volume_of_a_solve()));
}

void Problem::check() const {
  if (sources.empty()) throw InputError("electromagnetic", "there is no source", "Give [[source]] tables.");
  if (receivers.empty() || components.empty())
    throw InputError("electromagnetic", "nothing is recorded", "Give receivers and components.");
  if (!contrasts.empty() && contrasts.size() != mesh.size())
    throw ShapeError("electromagnetic",
                     fmt::format("contrasts of {} cells, not {}", contrasts.size(), mesh.size()));
  check_charges();
  check_fields("electromagnetic", *this);
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
  if (parameters.field != Field::total) check_secondary();
  for (std::size_t n = 0; n < receivers.size(); ++n) {
    const auto what = fmt::format("receiver {}", n + 1);
    receiver(mesh, {along(), {}, {}}, along(), receivers[n], components.front(), what);
    if (const auto wall = wall_of(mesh, receivers[n]); !wall.empty())
      throw InputError(
          what, fmt::format("it lies on the {} of the mesh, where E along it is held at zero", wall),
          "Let cells that grow by up to 1.5 go on beyond it for a wavelength, above sites as air; "
          "or leave [mesh] out, so that the mesh is planned.");
  }
  if (sources.front().kind == Source::Kind::plane_wave) check_air();
}

void Problem::check_air() const {
  for (std::size_t n = 0; n < receivers.size(); ++n) {
    const std::size_t i = cell_of(mesh.easting(), receivers[n][0]),
                      j = cell_of(mesh.northing(), receivers[n][1]);
    std::size_t air = 0;
    while (air < mesh.n_up() &&
           conductivity[0][mesh.index(i, j, mesh.n_up() - 1 - air)] <= conductivity_of_air)
      ++air;
    if (air >= 2) continue;
    const auto what = air == 0 ? fmt::format(
                                     "there is no air above receiver {}: plane waves come down through "
                                     "air, and over a mesh that ends with ground impedances are wrong by "
                                     "100 %",
                                     n + 1)
                               : fmt::format(
                                     "there is one cell of air under the lid above receiver {}: "
                                     "impedances may be wrong by more than 100 %",
                                     n + 1);
    throw InputError(
        "mesh", what,
        "Let the mesh go on with ten or more cells of air (1e-8 S/m) that grow by 1.3 to 1.5; or "
        "leave [mesh] out, so that it is planned.");
  }
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
  if (parameters.field == Field::corrected && sources.front().kind == Source::Kind::plane_wave)
    throw InputError("simulation.field", "plane waves over layers need no correction",
                     "Leave the key out: their known part is that of the layers.");
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

namespace {

/// Indices along an axis of the cells that contain a coordinate: two if it lies on a face.
std::vector<std::size_t> touched(const std::vector<double>& faces, double x) {
  const std::size_t own = cell_of(faces, x);
  if (own > 0 && x == faces[own]) return {own - 1, own};
  return {own};
}

/// Points along a source: corners of wires, and points between them.
std::vector<Vector3> places_along(const Source& source) {
  constexpr int between = 8;
  auto places = source.points;
  for (std::size_t n = 0; n + 1 < source.points.size(); ++n)
    for (int m = 1; m < between; ++m) {
      Vector3 at;
      for (std::size_t a = 0; a < 3; ++a)
        at[a] = source.points[n][a] + (source.points[n + 1][a] - source.points[n][a]) * m / between;
      places.push_back(at);
    }
  return places;
}

}  // namespace

// Geometric mean conductivity from 1 to 100 km below the middle of the receivers, without air, as meshes are
// planned; of all cells if the mesh is not so deep.
double Problem::conductivity_below() const {
  double mean = 0, count = 0;
  const auto add = [&](double sigma) {
    if (sigma > conductivity_of_air) mean += std::log(sigma), count += 1;
  };
  Vector3 middle{};
  for (const auto& p : receivers)
    for (std::size_t a = 0; a < 2; ++a) middle[a] += p[a] / static_cast<double>(receivers.size());
  const std::size_t i = cell_of(mesh.easting(), middle[0]), j = cell_of(mesh.northing(), middle[1]);
  std::size_t top = mesh.n_up();
  while (top > 0 && conductivity[0][mesh.index(i, j, top - 1)] <= conductivity_of_air) --top;
  for (double depth = 1e3; depth < 1e5 && top > 0; depth *= 1.2)
    add(conductivity[0][mesh.index(i, j, cell_of(mesh.up(), mesh.up()[top] - depth))]);
  if (count == 0)
    for (const double sigma : conductivity[0]) add(sigma);
  return count > 0 ? std::exp(mean / count) : 1;
}

void Problem::warn_of_cells(std::vector<std::string>& lines) const {
  const double fastest = *std::max_element(frequencies.begin(), frequencies.end());
  const bool plane = sources.front().kind == Source::Kind::plane_wave;
  if (plane) return warn_of_cells_below(lines);
  double worst = 0, coarsest = 0, depth = INFINITY;
  const char* beside = "source";
  const auto look = [&](const Vector3& p, const char* what) {
    for (const auto k : touched(mesh.up(), p[2]))
      for (const auto j : touched(mesh.northing(), p[1]))
        for (const auto i : touched(mesh.easting(), p[0])) {
          const double sigma = conductivity[0][mesh.index(i, j, k)];
          if (sigma <= conductivity_of_air) continue;
          const double width = std::max({mesh.up()[k + 1] - mesh.up()[k],
                                         mesh.easting()[i + 1] - mesh.easting()[i],
                                         mesh.northing()[j + 1] - mesh.northing()[j]}),
                       skin = skin_depth(sigma, fastest);
          if (!(width / skin > worst)) continue;
          worst = width / skin;
          coarsest = width;
          depth = skin;
          beside = what;
        }
  };
  for (const auto& source : sources)
    for (const auto& p : places_along(source)) look(p, "source");
  for (const auto& p : receivers) look(p, "receiver");
  if (coarsest > depth / 3)
    lines.push_back(
        fmt::format("cells of {} beside a {}, where the skin depth at {:.4g} Hz is {}: "
                    "errors of 5 % and more; 4 cells per skin depth give 1 to 2 %, 8 give 0.5 %",
                    length_text(coarsest), beside, fastest, length_text(depth)));
}

// The error of impedances over layers is 0.4/n², n the number of cells per skin depth of the medium at depths
// to which fields reach: they decay with e^{−a}, a = ∫ dz/δ, and cells may grow with e^{a/2}.
void Problem::warn_of_cells_below(std::vector<std::string>& lines) const {
  double fewest = INFINITY, height = 0, down = 0, hertz = 0, skin = 0;
  for (const auto& p : receivers) {
    const std::size_t i = cell_of(mesh.easting(), p[0]), j = cell_of(mesh.northing(), p[1]);
    for (const double f : frequencies) {
      double a = 0;
      for (std::size_t k = mesh.n_up(); k-- > 0 && a < 4;) {
        const double sigma = conductivity[0][mesh.index(i, j, k)], width = mesh.up()[k + 1] - mesh.up()[k];
        if (sigma <= conductivity_of_air) continue;
        const double own = skin_depth(sigma, f), cells = own * std::exp(a / 2) / width;
        if (cells < fewest) fewest = cells, height = width, down = mesh.up()[k + 1], hertz = f, skin = own;
        a += width / own;
      }
    }
  }
  if (fewest < 3)
    lines.push_back(
        fmt::format("cells {} high from {} m downwards below a receiver, where the skin depth at {:.4g} Hz "
                    "is {}: impedances may be wrong by {:.0f} %; 4 cells per skin depth of the medium they "
                    "lie in give 2 %, 6 give 1 %",
                    length_text(height), std::round(down), hertz, length_text(skin),
                    std::min(100.0, 40 / (fewest * fewest))));
}

void Problem::warn_of_walls(std::vector<std::string>& lines) const {
  const double slowest = *std::min_element(frequencies.begin(), frequencies.end());
  const bool plane = sources.front().kind == Source::Kind::plane_wave;
  constexpr double farthest = 1e5;  // m; planned meshes have no wall farther away by default
  const double wave = 2 * std::numbers::pi * skin_depth(conductivity_below(), slowest);
  const auto box = mesh.bounds();
  double nearest = INFINITY, below = INFINITY, offset = 0;
  const auto look = [&](const Vector3& p) {
    nearest = std::min(
        {nearest, p[0] - box.west, box.east - p[0], p[1] - box.south, box.north - p[1], box.top - p[2]});
    below = std::min(below, p[2] - box.bottom);
  };
  for (const auto& source : sources)
    for (const auto& p : source.points) {
      if (plane) break;
      look(p);
      for (const auto& q : receivers)
        offset = std::max(offset, std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]));
    }
  if (plane)
    for (const auto& p : receivers) look(p);
  // Waves decay before they reach a bottom more than three skin depths deep: such a bottom does not count.
  double died = 0;
  const std::size_t i = cell_of(mesh.easting(), receivers.front()[0]),
                    j = cell_of(mesh.northing(), receivers.front()[1]);
  for (std::size_t k = 0; k < mesh.n_up() && plane; ++k)
    if (const double sigma = conductivity[0][mesh.index(i, j, k)]; sigma > conductivity_of_air)
      died += (mesh.up()[k + 1] - mesh.up()[k]) / skin_depth(sigma, slowest);
  if (died < 3) nearest = std::min(nearest, below);
  const char* beside = plane ? "receiver" : "source";
  // A planned mesh was planned with the medium below it, which `wave` may not include: so the limit
  // is lower.
  const double share = planned ? 0.2 : 0.49;
  if (nearest < share * std::min(wave, farthest))
    lines.push_back(
        fmt::format("a wall of the mesh is {} from a {}, and a wavelength at {:.4g} Hz is {}: "
                    "let cells that grow by up to 1.5 go on for a wavelength, also in the air",
                    length_text(nearest), beside, slowest, length_text(wave)));
  else if (nearest < offset)
    lines.push_back(fmt::format(
        "a wall of the mesh is {} from a source, and a receiver is {} from one: fields that come "
        "through air and ground that resists may be wrong by tens of percent there; let cells that "
        "grow by up to 1.5 go on for 2.5 times that, also in the air",
        length_text(nearest), length_text(offset)));
}

// Warns of dipoles near a contrast above or below: their vertical current acts at the middle of the cell.
// alike: least ratio of conductivities at a contrast; some: least distance of a dipole from the middle,
// relative to its distance from the contrast.
void Problem::warn_of_upright(std::vector<std::string>& lines) const {
  constexpr double alike = 1.5, some = 0.25;
  const auto& up = mesh.up();
  for (std::size_t n = 0; n < sources.size(); ++n) {
    if (sources[n].kind == Source::Kind::wire || sources[n].kind == Source::Kind::plane_wave ||
        !flows_upright(sources[n]))
      continue;
    const auto& p = sources[n].points.front();
    const std::size_t k = cell_of(up, p[2]);
    const double middle = (up[k] + up[k + 1]) / 2, own = conductivity_at(p), high = up[k + 1] - up[k];
    const std::size_t next = p[2] < middle ? k - 1 : k + 1;
    if (next >= mesh.n_up()) continue;
    const double other = conductivity_at({p[0], p[1], (up[next] + up[next + 1]) / 2}),
                 away = p[2] < middle ? p[2] - up[k] : up[k + 1] - p[2];
    if (std::max(own, other) < alike * std::min(own, other)) continue;
    if (away == 0)
      lines.push_back(fmt::format(
          "{} is on the face between media of {:.4g} and {:.4g} ohm m: its upright current, whose "
          "field is another "
          "in each, is taken to flow in the upper one; move it to where it is",
          source_name(n), 1 / own, 1 / other));
    else if (std::abs(p[2] - middle) > some * away && parameters.field == Field::total)
      lines.push_back(
          fmt::format("{} is {} from another medium, in a cell {} high: its upright current flows in the "
                      "middle of that, and fields may be wrong by tens of percent; give a cell from {:.6g} "
                      "to {:.6g} m, whose middle it is",
                      source_name(n), length_text(away), length_text(high), p[2] - away, p[2] + away));
  }
}

void Problem::warn_of_displacement(std::vector<std::string>& lines) const {
  constexpr double vacuum = 8.8541878128e-12, told = 0.01;
  const double fastest = *std::max_element(frequencies.begin(), frequencies.end());
  std::size_t most = mesh.size();
  for (std::size_t n = 0; n < mesh.size(); ++n)
    if (conductivity[0][n] > conductivity_of_air &&
        (most == mesh.size() || conductivity[0][n] < conductivity[0][most]))
      most = n;
  if (most == mesh.size()) return;
  const double share = 2 * std::numbers::pi * fastest * vacuum / conductivity[0][most];
  if (share <= told) return;
  const std::size_t i = most % mesh.n_east(), j = most / mesh.n_east() % mesh.n_north(),
                    k = most / mesh.n_east() / mesh.n_north();
  lines.push_back(fmt::format(
      "displacement currents are left out: at {:.4g} Hz in a medium of {:.4g} ohm m (as at {:.4g}, {:.4g}, "
      "{:.4g} m) they are {:.2g} of conduction currents already with the permittivity of vacuum, and that of "
      "rocks is 4 to 80 times as large",
      fastest, 1 / conductivity[0][most], (mesh.easting()[i] + mesh.easting()[i + 1]) / 2,
      (mesh.northing()[j] + mesh.northing()[j + 1]) / 2, (mesh.up()[k] + mesh.up()[k + 1]) / 2, share));
}

/// Warns of receivers on uneven ground, whose E is computed from uncut cells below them.
void Problem::warn_of_ground(std::vector<std::string>& lines) const {
  if (std::all_of(components.begin(), components.end(), [](const Component& c) { return c.magnetic; }))
    return;
  std::size_t cut = 0, first = 0;
  double deepest = 0;
  for (std::size_t n = 0; n < receivers.size(); ++n) {
    const double below = above_whole_ground(mesh, sides(), receivers[n]);
    if (below == 0) continue;
    if (cut++ == 0) first = n;
    deepest = std::max(deepest, below);
  }
  if (cut > 0)
    lines.push_back(fmt::format(
        "{} of {} receivers (the first is receiver {}) are on uneven ground that cuts cells: E there is "
        "continued from whole cells of rock, up to {:.3g} m below, which is right to 2 to 10 %, and to 15 % "
        "where "
        "the ground is as steep as the steps of cells; smaller cells make it better "
        "(simulation.min_width_limits, "
        "mesh)",
        cut, receivers.size(), first + 1, deepest));
}

std::vector<std::string> Problem::warnings() const {
  std::vector<std::string> lines;
  const double slowest = *std::min_element(frequencies.begin(), frequencies.end());
  const auto box = mesh.bounds();
  const bool plane = sources.front().kind == Source::Kind::plane_wave;
  warn_of_cells(lines);
  warn_of_walls(lines);
  warn_of_upright(lines);
  warn_of_displacement(lines);
  warn_of_ground(lines);
  // From a source on the face between ground and air, the current flows into the ground.
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
  if (plane && parameters.strike == Strike::none && !layers_of_sides(mesh, sigma(slowest)).alike)
    lines.emplace_back(
        "the sides of the mesh are not the same layers all around: plane waves come in over their mean, "
        "so keep the sides far from receivers, or give simulation.strike where the earth has one");
  if (plane && parameters.strike != Strike::none &&
      !section_of_ends(mesh, sigma(slowest), parameters.strike == Strike::north ? 1 : 2).alike)
    lines.emplace_back(
        "the two ends of the mesh along simulation.strike are not alike: plane waves come in over their "
        "mean, so keep the ends far from receivers");
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
