#include "terrane/physics/elastic/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "terrane/base/error.hpp"
#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/physics/elastic/attenuation.hpp"
#include "terrane/physics/elastic/plain.hpp"

namespace terrane::elastic {

double largest_eigenvalue(const Basis& basis, const Hexahedron& shape, const Medium& rock) {
  const PlainElement element(basis, shape, rock);
  const auto& mass = element.mass();
  const std::size_t size = 3 * mass.size();
  std::vector<double> u(size), f(size);
  unsigned random = 12345;  // any start that is not smooth
  for (auto& value : u) value = static_cast<double>((random = random * 1664525u + 1013904223u) >> 8) - 0x1p23;
  double largest = 0;
  for (int iteration = 0; iteration < 120; ++iteration) {
    std::fill(f.begin(), f.end(), 0.0);
    element.subtract_forces(u.data(), f.data());
    double above = 0, below = 0;  // Rayleigh's quotient uᵀ K u / uᵀ M u
    for (std::size_t n = 0; n < size; ++n) {
      above -= u[n] * f[n];
      below += u[n] * mass[n / 3] * u[n];
    }
    const double before = largest;
    largest = above / below;
    double most = 0;
    for (std::size_t n = 0; n < size; ++n) {
      u[n] = -f[n] / mass[n / 3];
      most = std::max(most, std::fabs(u[n]));
    }
    if (most == 0 || (iteration > 20 && std::fabs(largest - before) <= 1e-6 * largest)) break;
    for (auto& value : u) value /= most;
  }
  return 1.01 * largest;  // what the iteration may still lack
}

namespace {

/// What the largest eigenvalue grows with: v² Σ_r |∂ξ_r/∂x|², at the worst of 27 points. For bricks their
/// quotient lies between 34 (cubes) and 47 (plates) at degree 4.
double stiffness_measure(const Hexahedron& element, double fastest) {
  double most = 0;
  for (int a = 0; a < 27; ++a) {
    const auto m = element.map(of_27_points(a));
    double sum = 0;
    for (const auto& c : m.cofactor) sum += dot(c, c);
    most = std::max(most, sum / (m.det * m.det));
  }
  return most * fastest * fastest;
}

/// Elements of one shape and rock have one eigenvalue: the shape's numbers to nine digits.
std::vector<double> shape_key(const Hexahedron& element, std::uint32_t medium) {
  std::vector<double> key{static_cast<double>(medium)};
  const double size = element.shortest();
  for (std::size_t m = 1; m < 8; ++m)
    for (const double x : element.monomial[m]) key.push_back(std::round(x / size * 1e6) + 0.0);
  key.push_back(std::round(std::log(size) * 1e9));
  return key;
}

struct Stiffest {
  std::uint32_t element = 0;
  double eigenvalue = 0;
};

Stiffest stiffest_element(const Mesh& mesh, const Basis& basis) {
  std::vector<double> fastest;
  for (const auto& rock : mesh.media) fastest.push_back(rock.fastest());
  std::vector<double> measure(mesh.size());
  for_each(mesh.size(), 0,
           [&](std::size_t n) { measure[n] = stiffness_measure(mesh.element(n), fastest[mesh.medium[n]]); });
  // An element with less than half of the largest measure cannot be the stiffest.
  const double least = 0.5 * *std::max_element(measure.begin(), measure.end());
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t n = 0; n < mesh.size(); ++n)
    if (measure[n] >= least) candidates.push_back(n);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return measure[a] > measure[b]; });
  std::map<std::vector<double>, std::uint32_t> shapes;
  std::vector<std::uint32_t> chosen;
  constexpr std::size_t most = 4000;  // a second of work or two
  for (const auto n : candidates) {
    if (chosen.size() == most) break;
    if (shapes.emplace(shape_key(mesh.element(n), mesh.medium[n]), n).second) chosen.push_back(n);
  }
  std::vector<double> eigenvalues(chosen.size());
  for_each(chosen.size(), 0, [&](std::size_t n) {
    eigenvalues[n] = largest_eigenvalue(basis, mesh.element(chosen[n]), mesh.rock(chosen[n]));
  });
  const auto best = static_cast<std::size_t>(std::max_element(eigenvalues.begin(), eigenvalues.end()) -
                                             eigenvalues.begin());
  return {chosen[best], eigenvalues[best]};
}

double longest_edge(const Hexahedron& element) {
  double most = 0;
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t bit = 1; bit < 8; bit *= 2)
      if (!(a & bit)) {
        const auto &p = element.corner[a], &q = element.corner[a + bit];
        most = std::max(most, norm({p[0] - q[0], p[1] - q[1], p[2] - q[2]}));
      }
  return most;
}

void check_numbers(const Problem& p) {
  if (!std::isfinite(p.begin) || !std::isfinite(p.end) || !(p.step >= 0))
    throw InputError("elastic: times",
                     fmt::format("begin {} s, end {} s, step {} s", p.begin, p.end, p.step));
  for (std::size_t n = 0; n < p.sources.size(); ++n) {
    const auto& s = p.sources[n];
    const auto what = fmt::format("elastic: source {}", n + 1);
    for (const double x : s.strength)
      if (!std::isfinite(x)) throw InputError(what, "its strength is no finite number");
    for (const double x : s.course.samples)
      if (!std::isfinite(x)) throw InputError(what, "a sample of its course is no finite number");
    if (!(s.course.width > 0) || !std::isfinite(s.course.width) || !std::isfinite(s.course.delay))
      throw InputError(what, fmt::format("width {}, delay {} s", s.course.width, s.course.delay),
                       "The width is a frequency or a time above zero.");
  }
}

}  // namespace

Place locate(const Mesh& mesh, const Vector& at, const std::string& what) {
  Place best;
  double nearest = INFINITY;
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const auto& corners = mesh.elements[n];
    bool near = true;
    for (std::size_t d = 0; d < 3 && near; ++d) {
      double low = INFINITY, high = -INFINITY;
      for (const auto node : corners) {
        low = std::min(low, mesh.nodes[node][d]);
        high = std::max(high, mesh.nodes[node][d]);
      }
      const double room = 0.1 * (high - low);
      near = at[d] >= low - room && at[d] <= high + room;
    }
    if (!near) continue;
    const auto element = mesh.element(n);
    const auto place = element.locate(at);
    const double miss = place.distance / element.shortest();
    if (miss < nearest && !(nearest < 1e-9)) {  // of equals the first
      nearest = miss;
      best = {n, place.xi};
    }
  }
  if (!(nearest <= 1e-6))
    throw InputError(what,
                     fmt::format("easting {:.6g}, northing {:.6g}, up {:.6g} m lies outside the mesh", at[0],
                                 at[1], at[2]),
                     "Where there is topography, compare with the surface at that place.");
  return best;
}

std::size_t Problem::points_of_element() const {
  const auto p = static_cast<std::size_t>(degree) + 1;
  return p * p * p;
}

std::size_t Problem::steps() const {
  return static_cast<std::size_t>(std::ceil((end - begin) / step * (1 - 1e-12)));
}

void Problem::settle() {
  const Basis basis(degree);
  check_numbers(*this);
  mesh.check();
  std::sort(mesh.absorbing.begin(), mesh.absorbing.end(), [](const AbsorbingFace& a, const AbsorbingFace& b) {
    return a.element != b.element ? a.element < b.element : a.side < b.side;
  });
  source_places.clear(), receiver_places.clear();
  for (std::size_t n = 0; n < sources.size(); ++n)
    source_places.push_back(locate(mesh, sources[n].at, fmt::format("elastic: source {}", n + 1)));
  for (std::size_t n = 0; n < receivers.size(); ++n)
    receiver_places.push_back(locate(mesh, receivers[n], fmt::format("elastic: receiver {}", n + 1)));

  highest_frequency = 0;
  if (!begin_given) begin = 0;
  for (const auto& source : sources) {
    if (!begin_given) begin = std::min(begin, source.course.begins());
    highest_frequency = std::max(highest_frequency, source.course.highest_frequency());
  }
  if (!(end > begin))
    throw InputError("elastic: end",
                     fmt::format("{:.6g} s is not after the beginning, {:.6g} s", end, begin));

  resolved_frequency = INFINITY;
  for (std::uint32_t n = 0; n < mesh.size(); ++n) {
    const double here = mesh.rock(n).slowest() * degree / (5 * longest_edge(mesh.element(n)));
    if (here < resolved_frequency) resolved_frequency = here, coarsest = n;
  }
  points_per_wavelength = highest_frequency > 0 ? 5 * resolved_frequency / highest_frequency : INFINITY;
  if (points_per_wavelength < 2.5)
    throw InputError(
        "elastic: mesh",
        fmt::format("at the sources' highest frequency, {:.4g} Hz, there are {:.2g} points per wavelength "
                    "in element {}",
                    highest_frequency, points_per_wavelength, coarsest),
        fmt::format("Five are good, to {:.4g} Hz: take smaller elements there, a higher degree, or a "
                    "slower source.",
                    resolved_frequency));

  if (relaxation_middle == 0) relaxation_middle = middle_below(highest_frequency > 0 ? highest_frequency : 1);
  for (std::size_t n = 0; n < mesh.media.size(); ++n)
    if (auto& rock = mesh.media[n]; !rock.loses_energy())
      rock = unrelaxed(rock, relaxation_middle, reference_frequency,
                       rock.name.empty() ? fmt::format("elastic: rock {}", n) : rock.name);

  const auto worst = stiffest_element(mesh, basis);
  stiffest = worst.element;
  stable_step = 2 / std::sqrt(worst.eigenvalue);
  if (step == 0) step = 0.97 * stable_step;
  if (step > stable_step * (1 + 1e-12))
    throw InputError(
        "elastic: step", fmt::format("{:.6g} s is not stable on this mesh", step),
        fmt::format("Steps may be {:.6g} s at most, because of element {}; without the key they are 0.97 "
                    "of that.",
                    stable_step, stiffest));
  if ((end - begin) / step > 1e9)
    throw InputError("elastic: step", fmt::format("{:.3g} steps are too many", (end - begin) / step));
}

void Problem::put_into(Packet& packet) const {
  packet.put(mesh.nodes), packet.put(mesh.elements), packet.put(mesh.medium), packet.put(mesh.absorbing);
  packet.put(mesh.vertex);
  packet.put(mesh.media.size());
  for (const auto& rock : mesh.media) {
    packet.put(rock.density), packet.put(rock.stiffness), packet.put(rock.isotropic);
    packet.put(rock.taken_kappa), packet.put(rock.taken_mu);
  }
  packet.put(degree), packet.put(precision), packet.put(sums), packet.put(remove_dispersion);
  packet.put(std::array{begin, end, step, relaxation_middle});
  packet.put(sources.size());
  for (const auto& s : sources) {
    packet.put(s.at), packet.put(s.is_moment), packet.put(s.strength);
    packet.put(s.course.pulse), packet.put(s.course.width), packet.put(s.course.delay),
        packet.put(s.course.samples);
  }
  packet.put(receivers), packet.put(source_places), packet.put(receiver_places);
}

Problem Problem::from(Packet& packet) {
  Problem p;
  p.mesh.nodes = packet.get_vector<Vector>();
  p.mesh.elements = packet.get_vector<std::array<std::uint32_t, 8>>();
  p.mesh.medium = packet.get_vector<std::uint32_t>();
  p.mesh.absorbing = packet.get_vector<AbsorbingFace>();
  p.mesh.vertex = packet.get_vector<std::uint32_t>();
  p.mesh.media.resize(packet.get<std::size_t>());
  for (auto& rock : p.mesh.media) {
    rock.density = packet.get<double>();
    rock.stiffness = packet.get<Stiffness>();
    rock.isotropic = packet.get<bool>();
    rock.taken_kappa = packet.get<std::array<double, 3>>();
    rock.taken_mu = packet.get<std::array<double, 3>>();
  }
  p.degree = packet.get<int>();
  p.precision = packet.get<Precision>();
  p.sums = packet.get<Sums>();
  p.remove_dispersion = packet.get<bool>();
  const auto times = packet.get<std::array<double, 4>>();
  p.relaxation_middle = times[3];
  p.begin = times[0], p.end = times[1], p.step = times[2];
  p.sources.resize(packet.get<std::size_t>());
  for (auto& s : p.sources) {
    s.at = packet.get<Vector>();
    s.is_moment = packet.get<bool>();
    s.strength = packet.get<std::array<double, 6>>();
    s.course.pulse = packet.get<Pulse>();
    s.course.width = packet.get<double>();
    s.course.delay = packet.get<double>();
    s.course.samples = packet.get_vector<double>();
  }
  p.receivers = packet.get_vector<Vector>();
  p.source_places = packet.get_vector<Place>();
  p.receiver_places = packet.get_vector<Place>();
  return p;
}

}  // namespace terrane::elastic
