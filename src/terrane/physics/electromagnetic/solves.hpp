// Solves a problem for one source at one frequency after another, on one mesh and model.
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
  double divergence = 0;  ///< error of the charges of E over all nodes, relative (grid/maxwell.hpp)
  double divergence_in_earth = 0, divergence_in_air = 0;
  bool rough = false;

  bool converged() const { return reason == solve::Reason::converged; }
};

/// A warning that solve `number`, in [source, frequency], did not converge.
std::string trouble(const Problem& problem, std::size_t number, const Solve& solve);

/// The field of a solve's source in layers, by Hankel transforms, [component, receiver]. A receiver on an
/// interface is on the side that height_on_its_side() chooses.
std::vector<std::complex<double>> fields_of_layers(const Problem& problem, const Layers& layers,
                                                   std::size_t number, int threads);

/// Complex numbers on the edges along up, north and east.
using EdgeValues = std::array<std::vector<std::complex<double>>, 3>;

class Solves {
 public:
  /// `problem` must outlive this object.  Throws what MaxwellSolver and receiver() throw.
  /// comm: null, or the ranks that share every field; then all members except metric(), known() and
  /// omega_mu() are collective and return the same on each rank
  Solves(const Problem& problem, Stream& stream, Comm* comm = nullptr);

  /// Computes the solve with index `number` in [source, frequency]. data: [component, receiver].
  Solve solve(std::size_t number, std::vector<std::complex<double>>& data);
  /// For ranks that do not share fields: solve() calls `stopped` in every iteration, and throws Cancelled if
  /// it returns true.
  void stop_when(std::function<bool()> stopped) { stopped_ = std::move(stopped); }
  /// E of the last solve on interior edges, including the known part.
  EdgeValues field();
  /// Solves A x = b at the frequency of solve `number`, as solve() does; b is overwritten.
  Solve solve_for(std::size_t number, const EdgeValues& b);
  /// The field found by solve_for(), interpolated to the receivers.
  std::vector<std::complex<double>> recorded();
  /// x of the last solve, without the known part of the field.
  EdgeValues found();

  /// The known part of the last solve on an edge, edges on walls included; interior nodes are counted from 0.
  std::complex<double> known(int axis, const std::array<Index, 3>& place) const;

  /// Weights of the receivers at the frequency of a solve, [component, receiver].
  const std::vector<Reception>& receptions(std::size_t number);
  /// Derivatives with respect to conductivities of the weights of one receiver and component, `datum`, at
  /// that frequency.
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
  void send_dipoles(std::size_t number);
  Solve finish();
  void iterate(Solve& done);
  double change();
  std::vector<std::complex<double>> fields();

  const Problem& problem_;
  std::function<bool()> stopped_;
  Stream& stream_;
  Comm* comm_;
  // Members that prepare() sets up for one frequency.
  double prepared_ = 0;
  Sigma sigma_;
  Layers layers_;         // layers whose field is the known part
  CrossSection section_;  // used instead of layers_ if the earth continues along a strike
  std::optional<MaxwellSolver<float>> solver_;
  std::optional<Sampler> sampler_;
  std::vector<Reception> receptions_;  // [component, receiver]
  EdgeVector b_, x_;
  double omega_mu_ = 0;
  EdgeField primary_;                        // empty: no primary field
  std::vector<std::complex<double>> known_;  // the primary field at the receivers, which x_ does not contain
  std::vector<std::complex<double>> seen_;
  int settled_ = 0;  // iterations in a row with changes at receivers below a tenth of the tolerance
};

}  // namespace terrane::electromagnetic
