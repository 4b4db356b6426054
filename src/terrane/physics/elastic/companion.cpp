#include "terrane/physics/elastic/companion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/job/earth_on.hpp"
#include "terrane/mesh/companion.hpp"
#include "terrane/physics/elastic/mesh/margin.hpp"

namespace terrane::elastic {

namespace {

constexpr double wider = 1.5, widest_element = 1.6;  // width of elements, in elements of the run
constexpr double widest_in_fast_rock = 2;            // further factor where all rock is faster
constexpr double sides_away = 1;       // distance of absorbing sides from those of the run, in its elements
constexpr double steps_after_end = 6;  // so that seismograms can be interpolated up to the end
constexpr double most_work = 1.0;      // of the companion, relative to that of the run

/// The coordinate at a fractional number of elements from the first face; also outside.
double face_at(const std::vector<double>& faces, double count) {
  const auto last = static_cast<double>(faces.size() - 2);
  const auto element = static_cast<std::size_t>(std::clamp(std::floor(count), 0.0, last));
  return faces[element] + (count - static_cast<double>(element)) * (faces[element + 1] - faces[element]);
}

/// The number of elements from the first face to a coordinate within; a whole number at faces.
double count_at(const std::vector<double>& faces, double x) {
  const auto above = std::upper_bound(faces.begin() + 1, faces.end() - 1, x) - faces.begin();
  const auto element = static_cast<std::size_t>(above - 1);
  const double count =
      static_cast<double>(element) + (x - faces[element]) / (faces[element + 1] - faces[element]);
  return std::fabs(count - std::round(count)) < 1e-6 ? std::round(count) : count;
}

struct WiderAxis {
  std::vector<double> faces, within;
};

/// planes: interfaces along the axis; factors: how many times as wide elements may be made between two faces
/// of the run, beside `wider`; low, high: whether the sides move outwards
WiderAxis wider_axis(const std::vector<double>& faces, const std::vector<double>& planes,
                     const std::vector<double>& factors, bool low, bool high) {
  const auto last = static_cast<double>(faces.size() - 1);
  std::vector<double> kept;
  for (const double plane : planes)
    if (plane > faces.front() && plane < faces.back()) kept.push_back(count_at(faces, plane));
  kept.push_back(last);
  std::sort(kept.begin(), kept.end());
  WiderAxis axis{{face_at(faces, low ? -sides_away : 0)}, {}};
  double from = 0;
  for (const double to : kept) {
    if (to - from < 1e-6) continue;
    double factor = INFINITY;
    for (auto n = static_cast<std::size_t>(from); static_cast<double>(n) < to; ++n)
      factor = std::min(factor, factors[n]);
    const double begin = from - (low && from == 0 ? sides_away : 0),
                 end = to + (high && to == last ? sides_away : 0), count = end - begin;
    const double pieces = std::max(
        {1.0, std::ceil(count / (widest_element * factor) - 1e-9), std::round(count / (wider * factor))});
    for (double n = 1; n <= pieces; ++n)
      axis.faces.push_back(face_at(faces, n < pieces ? begin + count * n / pieces : end));
    from = to;
  }
  axis.within = axis.faces;
  axis.within.front() = faces.front(), axis.within.back() = faces.back();
  return axis;
}

/// For each interval between two faces of an axis, by how much its slowest wave is better resolved than the
/// worst of all, up to widest_in_fast_rock.
std::vector<double> factors_along(std::size_t axis, const TensorMesh& cells,
                                  const std::vector<double>& slowest) {
  const std::vector<double>* all[3] = {&cells.easting(), &cells.northing(), &cells.up()};
  const auto& faces = *all[axis];
  const std::size_t count = faces.size() - 1;
  const std::size_t step[3] = {1, cells.n_east(), cells.n_east() * cells.n_north()};
  std::vector<double> least(count, INFINITY);
  for (std::size_t cell = 0; cell < slowest.size(); ++cell) {
    const std::size_t n = cell / step[axis] % count;
    least[n] = std::min(least[n], slowest[cell] / (faces[n + 1] - faces[n]));
  }
  const double worst = *std::min_element(least.begin(), least.end());
  for (double& one : least) one = std::clamp(one / worst, 1.0, widest_in_fast_rock);
  return least;
}

std::vector<double> slowest_of_cells(const Problem& p, const TensorMesh& cells) {
  std::vector<double> of_media, slowest(cells.size());
  for (const auto& medium : p.mesh.media) of_media.push_back(medium.slowest());
  for (std::size_t n = 0; n < cells.size(); ++n) slowest[n] = of_media[p.mesh.medium[n]];
  return slowest;
}

/// The interfaces of an earth whose cells have properties from a file: faces across which these change.
Interfaces interfaces_of_cells(const Problem& p, const TensorMesh& cells) {
  std::vector<std::vector<double>> rock(3);
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const auto& medium = p.mesh.medium_of(n);
    const auto speeds = medium.speeds({0, 0, 1});
    rock[0].push_back(medium.density), rock[1].push_back(speeds[0]), rock[2].push_back(speeds[2]);
  }
  const std::vector<double>* pointers[] = {&rock[0], &rock[1], &rock[2]};
  const std::vector<double>* faces[3] = {&cells.easting(), &cells.northing(), &cells.up()};
  Interfaces found;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto changes = changes_along(a, cells, pointers);
    for (std::size_t n = 1; n < changes.size(); ++n) {
      if (changes[n]) found.planes[a].push_back((*faces[a])[n]);
      if (changes[n] && changes[n - 1]) found.others = "a file gives rock that changes from cell to cell";
    }
  }
  return found;
}

bool all_at_faces(const TensorMesh& cells, const std::array<std::vector<double>, 3>& planes) {
  const std::vector<double>* all[3] = {&cells.easting(), &cells.northing(), &cells.up()};
  for (std::size_t a = 0; a < 3; ++a)
    for (const double plane : planes[a]) {
      if (plane <= all[a]->front() || plane >= all[a]->back()) continue;
      const double count = count_at(*all[a], plane);
      if (count != std::round(count)) return false;
    }
  return true;
}

/// Whether the earth is described by bodies, and not by properties of cells in files.
bool bodies_give_rock(const Config& job) {
  const auto kind = plans_mesh(job) ? "planned" : kind_of_mesh(job.table("mesh"));
  return (kind == "planned" || kind == "regular" || kind == "tensor") && !job.table("model").has("file");
}

OpenSides sides_with_tractions(const Problem& p, const TensorMesh& cells) {
  OpenSides open{false, false, false, false, false, false};
  bool* const sides[6] = {&open.west, &open.east, &open.south, &open.north, &open.bottom, &open.top};
  for (const auto& face : p.mesh.absorbing)
    if (face.element < cells.size()) *sides[face.side] = true;
  return open;
}

Problem settings_of_run(const Problem& p) {
  Problem other;
  other.degree = p.degree;
  other.precision = p.precision;
  other.sums = p.sums;
  other.begin = p.begin;
  other.end = p.end + steps_after_end * p.step;
  other.reference_frequency = p.reference_frequency;
  other.fading_frequency = p.fading_frequency;
  other.relaxation_middle = p.relaxation_middle;
  other.records_pressure = p.records_pressure;
  other.remove_dispersion = p.remove_dispersion;
  other.sources = p.sources;
  other.receivers = p.receivers;
  return other;
}

bool loses_energy_anywhere(const Mesh& mesh) {
  return std::any_of(mesh.media.begin(), mesh.media.end(),
                     [](const Medium& medium) { return medium.loses_energy(); });
}

/// Why the error of a run cannot be estimated, or was not compared with true errors; empty if it can be.
std::string why_no_companion(const Problem& p, const TensorMesh& cells, const Interfaces& interfaces,
                             bool under_surface, bool of_bodies) {
  if (cells.size() == 0) return "elements of [elements] cannot be made again with other widths";
  if (under_surface) return "the estimate has not been tested under a surface that is not flat";
  if (std::any_of(p.mesh.media.begin(), p.mesh.media.end(), [](const auto& one) { return one.is_fluid(); }))
    return "the estimate has not been tested with fluids";
  if (!interfaces.others.empty())
    return fmt::format("a second run needs faces of elements at all interfaces, and {}", interfaces.others);
  if (p.mesh.varying() > 0) return "rock that varies within elements is averaged alike in a second run";
  if (!of_bodies && loses_energy_anywhere(p.mesh)) return "a file gives rock with a Q";
  return {};
}

}  // namespace

Interfaces interfaces_of(const Description& earth) {
  Interfaces found;
  const auto add_level = [&](const Surface& surface) {
    if (const auto* level = std::get_if<double>(&surface)) found.planes[2].push_back(*level);
    else found.others = "layers end at surfaces that are not flat";
  };
  for (const auto& body : earth.bodies) {
    if (const auto* layer = std::get_if<Layer>(&body.shape)) {
      add_level(layer->bottom), add_level(layer->top);
    } else if (const auto* box = std::get_if<Box>(&body.shape)) {
      const double sides[6] = {box->west, box->east, box->south, box->north, box->bottom, box->top};
      for (std::size_t n = 0; n < 6; ++n) found.planes[n / 2].push_back(sides[n]);
    } else {
      found.others = "some bodies are neither boxes nor flat layers";
    }
  }
  return found;
}

OtherCells wider_cells(const TensorMesh& cells, const std::array<std::vector<double>, 3>& planes,
                       const std::vector<double>& slowest, const OpenSides& moved) {
  const std::vector<double>* faces[3] = {&cells.easting(), &cells.northing(), &cells.up()};
  const bool sides[3][2] = {{moved.west, moved.east}, {moved.south, moved.north}, {moved.bottom, moved.top}};
  std::array<WiderAxis, 3> made;
  for (std::size_t a = 0; a < 3; ++a)
    made[a] = wider_axis(*faces[a], planes[a], factors_along(a, cells, slowest), sides[a][0], sides[a][1]);
  return {TensorMesh(made[0].faces, made[1].faces, made[2].faces),
          TensorMesh(made[0].within, made[1].within, made[2].within)};
}

CompanionProblem companion_of(const Problem& p, const TensorMesh& cells, const Interfaces& described,
                              bool under_surface, const Config& job, const Config& simulation,
                              const MemoryBudget& memory, EarthRequest request) {
  const bool of_bodies = bodies_give_rock(job);
  const auto interfaces = of_bodies || cells.size() == 0 ? described : interfaces_of_cells(p, cells);
  if (auto why = why_no_companion(p, cells, interfaces, under_surface, of_bodies); !why.empty())
    return {std::nullopt, std::move(why), false};
  request.warn = {}, request.look = {};
  auto other = settings_of_run(p);
  try {
    const auto wide =
        wider_cells(cells, interfaces.planes, slowest_of_cells(p, cells), sides_with_tractions(p, cells));
    other.mesh = elements_on(wide, cells, p.mesh, job, simulation, memory, request).mesh;
    if (!loses_energy_anywhere(p.mesh))  // a Par_file may have switched attenuation off
      for (auto& medium : other.mesh.media) medium.quality_kappa = medium.quality_mu = INFINITY;
    if (p.mesh.size() > cells.size()) add_margins(other.mesh, simulation.count("boundary_elements", 2, 8));
    other.settle();
  } catch (const InputError& error) {
    return {std::nullopt,
            fmt::format("a second run on elements 1.5 times as wide is not possible ({}: {})", error.where(),
                        error.problem()),
            false};
  }
  if (other.steps() < 6) return {std::nullopt, "the run has too few time steps", false};
  const double work = static_cast<double>(other.mesh.size() * other.steps_taken()) /
                      static_cast<double>(p.mesh.size() * p.steps_taken());
  if (work > most_work)
    return {std::nullopt,
            fmt::format("a second run with faces of elements at all interfaces, some of which are close to "
                        "each other, would take {:.2g} times the work of the first",
                        work),
            false};
  return {std::move(other), {}, p.mesh.absorbing.empty() && all_at_faces(cells, interfaces.planes)};
}

}  // namespace terrane::elastic
