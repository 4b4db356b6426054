// Solver of a problem: one source at one frequency after the other, on one mesh and model.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "terrane/physics/electromagnetic/problem.hpp"
#include "terrane/physics/electromagnetic/survey/section.hpp"

namespace terrane::electromagnetic {

struct Solve {
  solve::Reason reason = solve::Reason::converged;
  int iterations = 0;
  double residual = 0;
  double change = 0;      ///< largest relative change at receivers in the last iteration
  double divergence = 0;  ///< of all nodes (MaxwellSolver::charges)
  double divergence_in_earth = 0, divergence_in_air = 0;
  bool rough = false;

  bool converged() const { return reason == solve::Reason::converged; }
};

/// A warning about solve `number`, in [source, frequency], which did not converge.
std::string trouble(const Problem& problem, std::size_t number, const Solve& solve);

/// Complex numbers on the edges along up, north and east.
using EdgeValues = std::array<std::vector<std::complex<double>>, 3>;

class Solves {
 public:
  /// The problem must outlive it.  Throws as MaxwellSolver and receiver().
  /// comm: null, or the ranks that share every field; then all members are collective but metric(), known()
  /// and omega_mu(), and return the same on each rank
  Solves(const Problem& problem, Stream& stream, Comm* comm = nullptr);

  /// Solve number, [source, frequency]. data: [component, receiver].
  Solve solve(std::size_t number, std::vector<std::complex<double>>& data);
  /// Where ranks share no field: solve() asks this in every iteration, and throws Cancelled when it is true.
  void stop_when(std::function<bool()> stopped) { stopped_ = std::move(stopped); }
  /// E of the last solve on interior edges, the known part included.
  EdgeValues field();
  /// Solves A x = b at the frequency of solve `number`, in the same way; b is destroyed.
  Solve solve_for(std::size_t number, const EdgeValues& b);
  /// The values at the receivers of what solve_for() has found.
  std::vector<std::complex<double>> recorded();
  /// x of the last solve, without the known part of the field.
  EdgeValues found();

  /// The known part of the last solve on an edge, also of the walls: interior nodes are counted from 0.
  std::complex<double> known(int axis, const std::array<Index, 3>& place) const;

  /// Weights of the receivers at the frequency of a solve, [component, receiver].
  const std::vector<Reception>& receptions(std::size_t number);
  /// How the weights of receiver and component `datum` change with conductivities, at that frequency.
  std::vector<WeightChange> weight_changes_of(std::size_t number, std::size_t datum);
  const Metric& metric() const { return solver_->metric(); }
  double omega_mu() const { return omega_mu_; }

 private:
  double hertz_of(std::size_t number) const {
    return problem_.frequencies[number % problem_.frequencies.size()];
  }
  void prepare(double hertz);
  void make_sampler();
  void begin(std::size_t number);
  void send_over(const Background& background, const EdgeField& primary);
  void send_over_layers(const EdgeField& primary);
  EdgeField wave_over_section(const Source& sent, double hertz) const;
  void send_moments(const Source& sent, const std::string& what);
  void send_plane_wave(const Source& sent, double hertz);
  void send_dipoles(const Source& sent, double hertz);
  Solve finish();
  void iterate(Solve& done);
  double change();
  std::vector<std::complex<double>> fields();

  const Problem& problem_;
  std::function<bool()> stopped_;
  Stream& stream_;
  Comm* comm_;
  // Made by prepare() for a frequency.
  double prepared_ = 0;
  Sigma sigma_;
  Layers layers_;         // layers whose field is the known part
  CrossSection section_;  // in place of layers, where the earth has a strike
  std::optional<MaxwellSolver<float>> solver_;
  std::optional<Sampler> sampler_;
  std::vector<Reception> receptions_;  // [component, receiver]
  EdgeVector b_, x_;
  double omega_mu_ = 0;
  EdgeField primary_;                        // empty: no primary field
  std::vector<std::complex<double>> known_;  // the primary field at the receivers, which x_ does not hold
  std::vector<std::complex<double>> seen_;
  int settled_ = 0;  // iterations in a row with changes at receivers below a tenth of the tolerance
};

}  // namespace terrane::electromagnetic
