#include "terrane/physics/electromagnetic/solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "terrane/parallel/threads/for_each.hpp"
#include "terrane/parallel/threads/for_each_box.hpp"
#include "terrane/physics/electromagnetic/formula/layered.hpp"

namespace terrane::electromagnetic {

namespace {

using Z = std::complex<double>;
constexpr double vacuum = 4e-7 * std::numbers::pi;

std::vector<Reception> receivers(const Problem& problem, const Sigma& sigma) {
  std::vector<Reception> all;
  for (const auto& component : problem.components)
    for (std::size_t n = 0; n < problem.receivers.size(); ++n)
      all.push_back(receiver(problem.mesh, sigma, problem.sides(), problem.receivers[n], component,
                             fmt::format("receiver {}", n + 1)));
  return all;
}
/// The sums over edges for all receivers: those of E, then of curl E, then, if weights are complex, of E with
/// their imaginary parts.
std::vector<EdgeSum> sums(const std::vector<Reception>& receptions, bool complex) {
  std::vector<EdgeSum> all;
  for (const auto& one : receptions) all.push_back(one.electric);
  for (const auto& one : receptions) all.push_back(one.curl);
  for (std::size_t n = 0; n < receptions.size() && complex; ++n) all.push_back(receptions[n].quadrature);
  return all;
}

/// The value recorded at a receiver for a field given on edges.
Z taken(const Reception& reception, const Metric& metric, const EdgeField& field, double omega_mu) {
  return value(reception.electric, metric, field) + Z(0, 1) * value(reception.quadrature, metric, field) +
         Z(0, 1 / omega_mu) * value(reception.curl, metric, field);
}

/// |σ| of the cells along each axis, and the complex remainder σ − |σ|.
class Magnitudes {
 public:
  Magnitudes(const Sigma& sigma, std::size_t cells) {
    for (std::size_t a = 0; a < 3; ++a) {
      same_[a] =
          a > 0 && sigma.real[a] == sigma.real[a - 1] && sigma.quadrature[a] == sigma.quadrature[a - 1];
      for (std::size_t n = 0; n < cells && !same_[a]; ++n) {
        const Z value = sigma(a, n);
        size_[a].push_back(std::abs(value));
        beyond_[a].push_back(value - size_[a].back());
      }
    }
  }
  Conductivity size() const { return along<Conductivity>(size_); }
  Beyond beyond() const { return along<Beyond>(beyond_); }

 private:
  template <class Pointers, class Values>
  Pointers along(const Values& values) const {
    Pointers all{};
    for (std::size_t a = 0; a < 3; ++a) all[a] = same_[a] ? all[a - 1] : &values[a];
    return all;
  }
  std::array<bool, 3> same_{};
  std::array<std::vector<double>, 3> size_;
  std::array<std::vector<Z>, 3> beyond_;
};

/// Conductivities of all cells for the layers of a mesh, at one frequency.
class CellsOfLayers {
 public:
  CellsOfLayers(const TensorMesh& mesh, const Layers& layers) {
    const std::size_t in_layer = mesh.n_north() * mesh.n_east();
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t k = 0; k < mesh.n_up(); ++k) {
        const Z sigma = layers.conductivity[a][k];
        real_[a].insert(real_[a].end(), in_layer, sigma.real());
        quadrature_[a].insert(quadrature_[a].end(), in_layer, sigma.imag());
      }
  }
  Sigma sigma() const {
    Sigma all;
    for (std::size_t a = 0; a < 3; ++a) all.real[a] = &real_[a], all.quadrature[a] = &quadrature_[a];
    return all;
  }

 private:
  std::array<std::vector<double>, 3> real_, quadrature_;
};

/// The weights of E of one receiver in one earth minus those in another; empty if both earths are equal
/// around the receiver.
Reception difference(const Reception& one, const Reception& other) {
  Reception made;
  const auto take = [](const EdgeSum& terms, double sign, EdgeSum& sum) {
    for (auto term : terms) {
      term.weight *= sign;
      sum.push_back(term);
    }
  };
  const auto same = [](const EdgeSum& a, const EdgeSum& b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(),
                      [](const auto& p, const auto& q) { return p.edge == q.edge && p.weight == q.weight; });
  };
  if (same(one.electric, other.electric) && same(one.quadrature, other.quadrature)) return made;
  take(one.electric, 1, made.electric);
  take(other.electric, -1, made.electric);
  take(one.quadrature, 1, made.quadrature);
  take(other.quadrature, -1, made.quadrature);
  return made;
}

bool knows_a_part(const Problem& problem) {
  return problem.parameters.field == Field::secondary ||
         std::any_of(problem.sources.begin(), problem.sources.end(),
                     [](const Source& source) { return source.kind == Source::Kind::plane_wave; });
}

/// The edge values of all ranks.
EdgeValues on_host(const MaxwellSolver<float>& solver, const EdgeVector& x) {
  EdgeValues all;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto parts = solver.gather(x, static_cast<int>(a));
    const std::size_t count = parts.size() / 2;
    all[a].resize(count);
    for (std::size_t n = 0; n < count; ++n) all[a][n] = {parts[n], parts[count + n]};
  }
  return all;
}

void put_on_device(Stream& stream, const Metric& metric, const EdgeValues& values, EdgeVector& b) {
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t count = values[a].size();
    std::vector<double> parts(2 * count);
    for (std::size_t n = 0; n < count; ++n) {
      parts[n] = values[a][n].real();
      parts[count + n] = values[a][n].imag();
    }
    b.e[a].upload(stream, parts, metric.edges(static_cast<int>(a)));
  }
}

/// The layers of a mesh as a LayeredEarth: equal neighbours are merged.
LayeredEarth earth_of(const TensorMesh& mesh, const Layers& layers) {
  LayeredEarth earth;
  for (std::size_t k = 0; k < mesh.n_up(); ++k) {
    const LayeredEarth::Layer layer{layers.conductivity[2][k], layers.conductivity[0][k]};
    if (k > 0 && layer.horizontal == earth.layers.back().horizontal &&
        layer.vertical == earth.layers.back().vertical)
      continue;
    if (k > 0) earth.interfaces.push_back(mesh.up()[k]);
    earth.layers.push_back(layer);
  }
  return earth;
}

/// The field of a source in layers; a point vertically above or below a dipole is shifted sideways.
DipoleField field_in_layers(const LayeredEarth& earth, const Source& source, double hertz, Vector3 place) {
  if (source.kind == Source::Kind::wire) return wire(earth, hertz, source.points, source.current, place);
  const auto& from = source.points.front();
  const double rho = std::hypot(place[0] - from[0], place[1] - from[1]), high = std::abs(place[2] - from[2]);
  if (rho == 0 || rho < 1e-5 * high) place[0] = from[0] + 1e-5 * std::max(high, 1.0);
  return source.kind == Source::Kind::magnetic_dipole
             ? vertical_magnetic_dipole(earth, hertz, from, source.moment[2], place)
             : electric_dipole(earth, hertz, from, source.moment, place);
}

}  // namespace

std::vector<Z> fields_of_layers(const Problem& problem, const Layers& layers, std::size_t number,
                                int threads) {
  const auto earth = earth_of(problem.mesh, layers);
  const std::size_t frequencies = problem.frequencies.size(), count = problem.receivers.size();
  const auto& sent = problem.sources[number / frequencies];
  std::vector<Z> all(problem.data_of_a_solve());
  for_each(count, threads, [&](std::size_t n) {
    auto place = problem.receivers[n];
    place[2] = height_on_its_side(problem.mesh, *problem.sides()[2], place);
    const auto there = field_in_layers(earth, sent, problem.frequencies[number % frequencies], place);
    for (std::size_t c = 0; c < problem.components.size(); ++c) {
      const auto& [magnetic, axis] = problem.components[c];
      all[c * count + n] = (magnetic ? there.h : there.e)[static_cast<std::size_t>(2 - axis)];
    }
  });
  return all;
}

std::string trouble(const Problem& problem, std::size_t number, const Solve& solve) {
  const std::size_t frequencies = problem.frequencies.size();
  return fmt::format(
      "source {} at {} Hz did not converge ({} after {} iterations, residual {:.1e}, receivers change by "
      "{:.1e})",
      number / frequencies + 1, problem.frequencies[number % frequencies], solve::name(solve.reason),
      solve.iterations, solve.residual, solve.change);
}

Solves::Solves(const Problem& problem, Stream& stream, Comm* comm)
    : problem_(problem),
      stream_(stream),
      comm_(comm),
      receptions_((prepare(problem.frequencies.front()), receivers(problem, sigma_))),
      b_(solver_->vector()),
      x_(solver_->vector()) {
  make_sampler();
}

void Solves::make_sampler() {
  sampler_.emplace(stream_, metric(), x_, sums(receptions_, sigma_.complex()), comm_);
}

// Sets up the solver and receivers for a frequency. The solver's networks depend on the model alone or, if
// the medium stores charge, on model and frequency.
void Solves::prepare(double hertz) {
  if (solver_ && (!problem_.stores_charge() || hertz == prepared_)) return;
  prepared_ = hertz;
  sigma_ = problem_.sigma(hertz);
  solver_.reset();
  if (sigma_.complex()) {
    const Magnitudes split(sigma_, problem_.mesh.size());
    solver_.emplace(stream_, problem_.mesh, split.size(), comm_, solve::as_messages_go, split.beyond());
  } else {
    solver_.emplace(stream_, problem_.mesh, sigma_.real, comm_);
  }
  const auto around = problem_.sigma_of_sides(hertz);
  if (knows_a_part(problem_)) layers_ = layers_of_sides(problem_.mesh, around);
  if (const auto strike = problem_.parameters.strike; strike != Strike::none)
    section_ = section_of_ends(problem_.mesh, around, strike == Strike::north ? 1 : 2);
  if (!sampler_) return;  // at the first frequency there is no sampler yet: the constructor sets receptions_
  receptions_ = receivers(problem_, sigma_);
  make_sampler();
}

const std::vector<Reception>& Solves::receptions(std::size_t number) {
  prepare(hertz_of(number));
  return receptions_;
}

std::vector<WeightChange> Solves::weight_changes_of(std::size_t number, std::size_t datum) {
  prepare(hertz_of(number));
  const std::size_t count = problem_.receivers.size();
  return weight_changes(problem_.mesh, sigma_, problem_.sides(), problem_.receivers[datum % count],
                        problem_.components[datum / count]);
}

Solve Solves::solve(std::size_t number, std::vector<Z>& data) {
  begin(number);
  const std::size_t source = number / problem_.frequencies.size();
  const double hertz = hertz_of(number);
  const auto& sent = problem_.sources[source];
  if (sent.kind == Source::Kind::plane_wave) send_plane_wave(sent, hertz);
  else if (problem_.parameters.field == Field::secondary) send_dipoles(number);
  else send_moments(sent, problem_.source_name(source));
  const auto done = finish();
  data = fields();
  return done;
}

Solve Solves::solve_for(std::size_t number, const EdgeValues& b) {
  begin(number);
  put_on_device(stream_, metric(), b, b_);
  return finish();
}
std::vector<Z> Solves::recorded() { return fields(); }
Z Solves::known(int axis, const std::array<Index, 3>& place) const {
  return primary_ ? primary_(axis, place) : Z{};
}
EdgeValues Solves::found() { return on_host(*solver_, x_); }

EdgeValues Solves::field() {
  auto all = found();
  if (!primary_) return all;
  for (int axis = 0; axis < 3; ++axis) {
    auto& values = all[static_cast<std::size_t>(axis)];
    const auto box = metric().edges(axis);
    for_each(box, stream_.threads(), [&](Index k, Index j, Index i) {
      values[static_cast<std::size_t>((k * box.size(1) + j) * box.size(2) + i)] += primary_(axis, {k, j, i});
    });
  }
  return all;
}

// Begins a solve: sets the frequency, and clears right-hand side and field.
void Solves::begin(std::size_t number) {
  const double hertz = hertz_of(number);
  prepare(hertz);
  omega_mu_ = 2 * std::numbers::pi * hertz * vacuum;
  solver_->set_frequency(hertz);
  for (auto& field : b_.e) field.fill_zero(stream_);
  for (auto& field : x_.e) field.fill_zero(stream_);
  known_.assign(problem_.data_of_a_solve(), 0.0);
  primary_ = {};
}

Solve Solves::finish() {
  solver_->complete(b_);
  seen_.clear();
  settled_ = 0;
  Solve done;
  iterate(done);
  const auto charges = solver_->charges(b_, x_);
  done.divergence = charges.everywhere;
  done.divergence_in_earth = charges.earth;
  done.divergence_in_air = charges.air;
  return done;
}

// Sets b for a secondary field, from the contrast to an earth whose field is known on edges.
void Solves::send_over(const Background& background, const EdgeField& primary) {
  primary_ = primary;
  fill_contrast(stream_, metric(), sigma_, background, primary, omega_mu_, b_);
}
void Solves::send_over_layers(const EdgeField& primary) {
  send_over(
      [this](std::size_t axis, const std::array<Index, 3>& cell) {
        return layers_.conductivity[axis][static_cast<std::size_t>(cell[0])];
      },
      primary);
}

EdgeField Solves::wave_over_section(const Source& sent, double hertz) const {
  const bool north = section_.strike == 1;
  const double along = sent.moment[north ? 1 : 0], across = sent.moment[north ? 0 : 1];
  EdgeField first, second;
  if (along != 0) first = wave_along_strike(problem_.mesh, section_, hertz);
  if (across != 0) second = wave_across_strike(problem_.mesh, section_, hertz);
  return [=](int axis, const std::array<Index, 3>& place) {
    return (first ? along * first(axis, place) : Z{}) + (second ? across * second(axis, place) : Z{});
  };
}

void Solves::send_moments(const Source& sent, const std::string& what) {
  const auto sides = problem_.sides();
  add(stream_, metric(), moments(problem_.mesh, sent, what, &sides), {0, -omega_mu_}, b_);
}

void Solves::send_plane_wave(const Source& sent, double hertz) {
  if (problem_.parameters.strike != Strike::none) {
    const std::size_t across = section_.strike == 1 ? 2 : 1;
    const auto columns = static_cast<std::size_t>(metric().cells(static_cast<int>(across)));
    send_over(
        [this, across, columns](std::size_t axis, const std::array<Index, 3>& cell) {
          return section_.conductivity[axis][static_cast<std::size_t>(cell[0]) * columns +
                                             static_cast<std::size_t>(cell[across])];
        },
        wave_over_section(sent, hertz));
  } else {
    const auto north = plane_wave(problem_.mesh, layers_, 1, hertz),
               east = plane_wave(problem_.mesh, layers_, 2, hertz);
    send_over_layers([north, east, moment = sent.moment](int axis, const std::array<Index, 3>& place) -> Z {
      // The first interior node is node 1 of the axis.
      const auto node = static_cast<std::size_t>(place[0]) + 1;
      if (axis == 0) return 0;
      return axis == 1 ? moment[1] * north[node] : moment[0] * east[node];
    });
  }
  for (std::size_t n = 0; n < known_.size(); ++n)
    known_[n] = taken(receptions_[n], metric(), primary_, omega_mu_);
}

void Solves::send_dipoles(std::size_t number) {
  const auto& sent = problem_.sources[number / problem_.frequencies.size()];
  const double hertz = hertz_of(number);
  const auto earth = earth_of(problem_.mesh, layers_);
  const std::vector<double>* faces[3] = {&problem_.mesh.up(), &problem_.mesh.northing(),
                                         &problem_.mesh.easting()};
  send_over_layers([=](int axis, const std::array<Index, 3>& place) {
    Vector3 at{};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(place[a]);
      at[2 - a] =
          static_cast<int>(a) == axis ? ((*faces[a])[n] + (*faces[a])[n + 1]) / 2 : (*faces[a])[n + 1];
    }
    return field_in_layers(earth, sent, hertz, at).e[static_cast<std::size_t>(2 - axis)];
  });
  known_ = fields_of_layers(problem_, layers_, number, stream_.threads());
  const std::size_t count = problem_.receivers.size();
  // A receiver's E follows from the current density σE. known_ is the field over layers; here the difference
  // between the receiver's weights in the model and in its layers is added, applied to the primary field.
  const CellsOfLayers cells(problem_.mesh, layers_);
  for (std::size_t n = 0; n < known_.size(); ++n) {
    const auto in_layers = receiver(problem_.mesh, cells.sigma(), problem_.sides(),
                                    problem_.receivers[n % count], problem_.components[n / count], "");
    if (const auto beside = difference(receptions_[n], in_layers); !beside.electric.empty())
      known_[n] += taken(beside, metric(), primary_, omega_mu_);
  }
}

// E, and H = i/(ωμ₀) curl E, at the receivers.
std::vector<std::complex<double>> Solves::fields() {
  const auto sampled = sampler_->of(stream_, x_);
  auto values = known_;
  const std::size_t count = values.size();
  for (std::size_t n = 0; n < count; ++n) {
    values[n] += sampled[n] + Z(0, 1 / omega_mu_) * sampled[count + n];
    if (sigma_.complex()) values[n] += Z(0, 1) * sampled[2 * count + n];
  }
  return values;
}

void Solves::iterate(Solve& done) {
  const auto& p = problem_.parameters;
  solve::Stopping stopping{.relative = p.tolerance, .most_iterations = p.most_iterations, .patience = 25};
  if (!receptions_.empty())
    stopping.change = [&] {
      if (stopped_ && stopped_()) throw Cancelled();
      return done.change = change();
    };
  stopping.most_change = p.receiver_tolerance;
  const auto go = [&](bool rough, int most) {
    stopping.most_iterations = most;
    solver_->set_rough(rough);
    const auto report = solver_->solve(b_, x_, stopping);
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
  // Receivers whose field is below the rounding error of the strongest field never converge; and at low
  // frequencies rounding may keep the residual above its tolerance long after receivers have converged. So a
  // solve that stagnates has converged if its residual is of the order of rounding errors and receivers have
  // hardly changed for `long_since` iterations.
  constexpr int long_since = 20;
  constexpr double of_rounding = 1e-6;
  const bool settled = settled_ >= long_since && done.residual <= of_rounding;
  if (done.reason == solve::Reason::stagnated && (done.residual <= p.tolerance || settled))
    done.reason = solve::Reason::converged;
}

// The largest change of the fields at receivers since the last call, relative to these fields.
double Solves::change() {
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
  settled_ = most <= problem_.parameters.receiver_tolerance / 10 ? settled_ + 1 : 0;
  return most;
}

}  // namespace terrane::electromagnetic
