#include "terrane/physics/electromagnetic/forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/physics/electromagnetic/survey/primary.hpp"

namespace terrane::electromagnetic {

namespace {

constexpr double vacuum = 4e-7 * std::numbers::pi;

std::size_t cell_of(const std::vector<double>& faces, double x) {
  return static_cast<std::size_t>(std::upper_bound(faces.begin() + 1, faces.end() - 1, x) - faces.begin()) -
         1;
}

/// What a solve of one rank leaves for rank 0.
struct Found {
  std::uint64_t number;
  Solve solve;
};

class Pairs {
 public:
  Pairs(const Problem& problem, Stream& stream)
      : problem_(problem),
        stream_(stream),
        solver_(stream, problem.mesh, problem.along(), problem.parameters.rough != Rough::never),
        receptions_(receivers(problem)),
        sampler_(stream, solver_.metric(), sums(receptions_)),
        b_(solver_.image()),
        x_(solver_.vector()),
        layers_(has_plane_waves(problem) ? layers_of_sides(problem.mesh, problem.along()) : Layers{}) {}

  /// One source at one frequency. data: [component, receiver].
  Solve solve(std::size_t number, std::vector<std::complex<double>>& data) {
    const std::size_t source = number / problem_.frequencies.size();
    const double hertz = problem_.frequencies[number % problem_.frequencies.size()];
    const double omega_mu = 2 * std::numbers::pi * hertz * vacuum;
    solver_.set_frequency(hertz);
    omega_mu_ = omega_mu;
    for (auto& field : b_.e) field.fill_zero(stream_);
    for (auto& field : x_.e) field.fill_zero(stream_);
    known_.assign(problem_.data_of_a_solve(), 0.0);
    const auto& sent = problem_.sources[source];
    if (sent.kind == Source::Kind::plane_wave) send_plane_wave(sent, hertz);
    else add(stream_, moments(problem_.mesh, sent, fmt::format("source {}", source + 1)), {0, -omega_mu}, b_);
    solver_.complete(b_);
    seen_.clear();
    Solve done;
    iterate(done);
    done.divergence = solver_.divergence(b_, x_);
    data = fields();
    return done;
  }

 private:
  static bool has_plane_waves(const Problem& problem) {
    return std::any_of(problem.sources.begin(), problem.sources.end(),
                       [](const Source& source) { return source.kind == Source::Kind::plane_wave; });
  }
  static std::vector<Reception> receivers(const Problem& problem) {
    std::vector<Reception> all;
    for (const auto& component : problem.components)
      for (std::size_t n = 0; n < problem.receivers.size(); ++n)
        all.push_back(receiver(problem.mesh, problem.along(), problem.receivers[n], component,
                               fmt::format("receiver {}", n + 1)));
    return all;
  }
  /// What is taken of E at all receivers, then what is taken of its curl.
  static std::vector<EdgeSum> sums(const std::vector<Reception>& receptions) {
    std::vector<EdgeSum> all;
    for (const auto& one : receptions) all.push_back(one.electric);
    for (const auto& one : receptions) all.push_back(one.curl);
    return all;
  }

  /// b of what differs from the layers at the sides, whose field is known.
  void send_plane_wave(const Source& sent, double hertz) {
    const auto north = plane_wave(problem_.mesh, layers_, 1, hertz),
               east = plane_wave(problem_.mesh, layers_, 2, hertz);
    const EdgeField primary = [&](int axis, const std::array<Index, 3>& place) -> std::complex<double> {
      const auto node = static_cast<std::size_t>(place[0]) + 1;  // interior nodes begin with the second
      if (axis == 0) return 0;
      return axis == 1 ? sent.moment[1] * north[node] : sent.moment[0] * east[node];
    };
    fill_contrast(stream_, solver_.metric(), problem_.along(), layers_, primary, omega_mu_, b_);
    for (std::size_t n = 0; n < known_.size(); ++n)
      known_[n] =
          value(receptions_[n].electric, solver_.metric(), primary) +
          std::complex<double>(0, 1 / omega_mu_) * value(receptions_[n].curl, solver_.metric(), primary);
  }

  /// E, and H = i/(ωμ₀) curl E, at the receivers.
  std::vector<std::complex<double>> fields() {
    const auto sampled = sampler_.of(stream_, x_);
    auto values = known_;
    for (std::size_t n = 0; n < values.size(); ++n)
      values[n] += sampled[n] + std::complex<double>(0, 1 / omega_mu_) * sampled[values.size() + n];
    return values;
  }

  void iterate(Solve& done) {
    const auto& p = problem_.parameters;
    solve::Stopping stopping{.relative = p.tolerance, .most_iterations = p.most_iterations, .patience = 25};
    stopping.change = [&] { return done.change = change(); };
    stopping.most_change = p.receiver_tolerance;
    const auto go = [&](bool rough, int most) {
      stopping.most_iterations = most;
      solver_.set_rough(rough);
      const auto report = solver_.solve(b_, x_, stopping);
      done.rough = rough;
      done.iterations += report.iterations;
      done.residual = report.residual;
      done.reason = report.reason;
    };
    constexpr int patience_of_plain = 30;
    const bool plain_first = p.rough == Rough::automatic && p.most_iterations > patience_of_plain;
    go(p.rough == Rough::always, plain_first ? patience_of_plain : p.most_iterations);
    if (!done.converged() && plain_first && done.reason != solve::Reason::not_finite)
      go(true, p.most_iterations - done.iterations);
    // Where fields are below the rounding of the strongest, receivers never settle.
    if (done.reason == solve::Reason::stagnated && done.residual <= p.tolerance)
      done.reason = solve::Reason::converged;
  }

  /// What has changed at the receivers since the last call: the largest part of the field there.
  double change() {
    auto now = fields();
    const std::size_t count = problem_.receivers.size();
    double most = seen_.empty() ? INFINITY : 0;
    for (std::size_t n = 0; n < count && !seen_.empty(); ++n)
      for (const bool magnetic : {false, true}) {
        double size = 0, difference = 0;
        for (std::size_t c = 0; c < problem_.components.size(); ++c) {
          if (problem_.components[c].magnetic != magnetic) continue;
          size += std::norm(now[c * count + n]);
          difference += std::norm(now[c * count + n] - seen_[c * count + n]);
        }
        if (size > 0) most = std::max(most, std::sqrt(difference / size));
      }
    seen_ = std::move(now);
    return most;
  }

  const Problem& problem_;
  Stream& stream_;
  MaxwellSolver<float> solver_;
  std::vector<Reception> receptions_;  // [component, receiver]
  Sampler sampler_;
  EdgeVector b_, x_;
  Layers layers_;  // of plane waves
  double omega_mu_ = 0;
  std::vector<std::complex<double>> known_;  // what is not in x_, at the receivers
  std::vector<std::complex<double>> seen_;
};

/// Rank 0 takes what all ranks found in a round, in any order.
void collect(Comm& comm, const std::vector<Found>& found, const std::vector<std::complex<double>>& data,
             std::size_t each, Outcome& out) {
  const auto all_found = comm.gather(std::as_bytes(std::span(found)), 0);
  const auto all_data = comm.gather(std::as_bytes(std::span(data)), 0);
  for (std::size_t rank = 0; rank < all_found.size(); ++rank)
    for (std::size_t n = 0; n < all_found[rank].size() / sizeof(Found); ++n) {
      Found one;
      std::memcpy(&one, all_found[rank].data() + n * sizeof(Found), sizeof one);
      out.solves[one.number] = one.solve;
      std::memcpy(out.data.data() + one.number * each, all_data[rank].data() + n * each * sizeof(out.data[0]),
                  each * sizeof(out.data[0]));
    }
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

double Problem::conductivity_at(const Vector3& p) const {
  return conductivity[0][mesh.index(cell_of(mesh.easting(), p[0]), cell_of(mesh.northing(), p[1]),
                                    cell_of(mesh.up(), p[2]))];
}

double Problem::memory() const {
  // Of an unknown on the device: 5 vectors and their divergence, b, conductances and the networks of all
  // levels in single precision (250 bytes), 3 more vectors of the rough form; on the host the model, and
  // copies on their way.
  const double cells = static_cast<double>(mesh.size());
  return 3 * cells * (340 + (parameters.rough == Rough::never ? 0 : 40) + 30) +
         16 * static_cast<double>(solves() * data_of_a_solve());
}

void Problem::check() const {
  if (sources.empty()) throw InputError("electromagnetic", "there is no source", "Give [[source]] tables.");
  if (receivers.empty() || components.empty())
    throw InputError("electromagnetic", "nothing is recorded", "Give receivers and components.");
  if (frequencies.empty()) throw InputError("electromagnetic", "there is no frequency");
  for (const double hertz : frequencies)
    if (!(hertz > 0) || !std::isfinite(hertz))
      throw InputError("electromagnetic", fmt::format("a frequency is {} Hz", hertz),
                       "It must be above zero; physics = \"electric\" is direct current.");
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const auto what = fmt::format("source {}", n + 1);
    const auto& [kind, points, moment, current] = sources[n];
    if (kind != Source::Kind::plane_wave) moments(mesh, sources[n], what);
    else if (moment[2] != 0 || (moment[0] == 0 && moment[1] == 0))
      throw InputError(what, "a plane wave has a horizontal field, not zero");
  }
  for (std::size_t n = 0; n < receivers.size(); ++n)
    receiver(mesh, along(), receivers[n], components.front(), fmt::format("receiver {}", n + 1));
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
        fmt::format("cells of {:.3g} m beside a {}, where the skin depth at {:.4g} Hz is {:.3g} m: "
                    "errors of 5 % and more; 4 cells per skin depth give 1 to 2 %, 8 give 0.5 %",
                    coarsest, beside, *fastest, depth));
  if (nearest < wave / 2)
    lines.push_back(
        fmt::format("a wall of the mesh is {:.3g} m from a {}, and a wavelength at {:.4g} Hz is {:.3g} m: "
                    "let cells that grow by up to 1.5 go on for a wavelength, also in the air",
                    nearest, beside, *slowest, wave));
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
          "source {} is grounded in air: its current goes through what conducts a millionth of the ground",
          n + 1));
  }
  if (plane && !layers_of_sides(mesh, along()).alike)
    lines.push_back(
        "the sides of the mesh are not the same layers all around: plane waves come in over their mean, "
        "so keep the sides far from receivers");
  const double sides = std::max(box.east - box.west, box.north - box.south) / 2;
  std::size_t top = mesh.n_up();
  while (top > 0 && conductivity[0][mesh.index(mesh.n_east() / 2, mesh.n_north() / 2, top - 1)] <= 1e-6)
    --top;
  const double air = box.top - mesh.up()[top];
  if (air > 0 && air < sides / 3)
    lines.push_back(
        fmt::format("the air is {:.3g} m high over a mesh of {:.3g} m from its middle to a side: "
                    "give it a third of that, or iterations double",
                    air, sides));
  return lines;
}

Outcome forward(const Problem& problem, Stream& stream, Progress* progress, Comm* ranks) {
  Alone alone;
  Progress silent;
  Comm& comm = ranks ? *ranks : alone;
  Progress& told = progress ? *progress : silent;
  problem.check();
  const std::size_t solves = problem.solves(), each = problem.data_of_a_solve();
  const auto size = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank());
  std::optional<Pairs> pairs;
  together(comm, [&] {
    if (rank < solves) pairs.emplace(problem, stream);
  });
  std::vector<Found> found;
  std::vector<std::complex<double>> data, one;
  told.start("solving for fields", solves);
  for (std::size_t first = 0; first < solves; first += size) {
    if (comm.lowest(told.cancelled() ? 0 : 1) == 0) throw Cancelled();
    const std::size_t mine = first + rank;
    together(comm, [&] {
      if (mine >= solves) return;
      const auto done = pairs->solve(mine, one);
      found.push_back({mine, done});
      data.insert(data.end(), one.begin(), one.end());
    });
    told.advance(std::min(size, solves - first));
  }
  told.finish();
  Outcome out;
  if (rank == 0) {
    out.data.resize(solves * each);
    out.solves.resize(solves);
  }
  collect(comm, found, data, each, out);
  return out;
}

}  // namespace terrane::electromagnetic
