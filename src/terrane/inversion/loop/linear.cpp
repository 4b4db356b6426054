// The steps of a linear inversion: weights of the cells; regulariser R and its centre m̃ (objective.hpp); β
// and the smooth model (data_space.hpp), repeated until the weights of outliers are constant; then sparse
// norms, or bounds; results.
#include "terrane/inversion/loop/linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/inversion/data/robust.hpp"
#include "terrane/inversion/loop/state.hpp"

namespace terrane::inversion {

namespace {

/// The search for β: a secant in (ln β, ln φ_d).
struct Secant {
  double beta = 0;
  int trial = 0;
  double before_t = 0, before_f = 0, slope = 0.7;

  template <class Self, class Field>
  static void fields(Self& s, const Field& field) {
    field("beta", s.beta);
    field("trial", s.trial);
    field("before_t", s.before_t);
    field("before_f", s.before_f);
    field("slope", s.slope);
  }
};

/// The state of descents within bounds.
struct BoundedState {
  Secant secant;
  int number = 0;
  double least = 0;  ///< gradient norm at which descents end: tolerance times initial norm

  template <class Self, class Field>
  static void fields(Self& w, const Field& field) {
    field("secant", w.secant);
    field("number", w.number);
    field("least", w.least);
  }
};

/// An inversion in progress: the objective, the model, and the table of iterations.
class Run {
 public:
  Run(const Problem& problem, const Settings& settings, const std::function<void(const Iteration&)>& seen,
      Progress* progress, Keeper* keeper)
      : problem_(problem), settings_(settings), seen_(seen), progress_(progress), keeper_(keeper) {}
  Outcome all();

 private:
  void prepare();
  void weigh();
  void restore(const State& from);
  State common_state() const;
  template <class Phase>
  void save_state(const char* name, const Phase& phase);
  /// Whether the checkpoint was saved in the phase of this name; if so, `phase` gets the saved state.
  template <class Phase>
  bool resumed(const char* name, Phase& phase) const;
  template <class Self, class Field>
  static void fields(Self& r, const Field& field) {
    field("smooth", r.smooth_);
    field("outcome", r.out_);
    field("target", r.target_);
    field("round", r.round_);
    field("trust", r.trust_);
    field("best", r.best_);
  }
  void smooth();
  bool doubt_outliers(int round);
  void smooth_in_data_space();
  void smooth_dense();
  void cooled();
  void sparse();
  bool sparse_step(SparseState& state);
  void bounded();
  void finish();
  /// Finds β with at(β) = target, starting from secant.beta; returns the β of the last call.
  double find_beta(Secant secant, double largest_step, const std::function<double(double)>& at,
                   const std::function<void(const Secant&)>& between = {});
  void remember(double phi_d, double beta);
  void take_best();
  double value_of_sparse(const SparseStage& stage) const;
  void line(std::string what, int number, double beta, double phi_d, double phi_m);
  void log(std::string what, int number, const Step& step) {
    line(std::move(what), number, step.beta, step.phi_d, step.phi_m);
  }
  std::vector<double> less_centre() const;
  double phi_m_now() const { return regulariser_->terms(less_centre()).sum(); }

  const Problem& problem_;
  const Settings& settings_;
  const std::function<void(const Iteration&)>& seen_;
  Progress* progress_;
  Keeper* keeper_;
  std::optional<State> from_, last_;  ///< state of the checkpoint; last state of this run
  double seconds_before_ = 0;         ///< seconds of earlier, stopped runs
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  std::unique_ptr<Regulariser> regulariser_;
  std::vector<double> deviation_, trust_;  ///< 1/σ (0: datum not used); Huber's weights ω
  std::vector<double> weight_, data_, reference_, centre_;
  std::optional<Trends> trends_;
  std::shared_ptr<const solve::LinearOperator> g_;
  double target_ = 0;  ///< target of φ_d within bounds and for sparse norms, with constant Huber weights
  /// The model so far whose φ_d is nearest to the target, among trials of β or in the last stage of sparse
  /// norms.
  struct Best {
    double off = INFINITY, beta = 0;  ///< off: |ln(φ_d / target)|
    std::vector<double> model;

    template <class Self, class Field>
    static void fields(Self& b, const Field& field) {
      field("off", b.off);
      field("beta", b.beta);
      field("model", b.model);
    }
  } best_;
  int round_ = 0;
  bool smooth_ = false;  ///< true: the smooth model has been computed
  Objective objective_;
  std::unique_ptr<NormalEquations> equations_;
  Outcome out_;
};

std::vector<double> Run::less_centre() const {
  std::vector<double> u(out_.model);
  for (std::size_t c = 0; c < u.size(); ++c) u[c] -= centre_[c];
  return u;
}

void Run::line(std::string what, int number, double beta, double phi_d, double phi_m) {
  const double seconds =
      seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  out_.iterations.push_back({std::move(what), number, beta, phi_d, phi_m, out_.products, seconds});
  show_nearness(progress_, out_);
  if (seen_) seen_(out_.iterations.back());
}

void Run::prepare() {
  const auto& p = problem_;
  reference_ = p.reference.empty() ? std::vector<double>(p.g->columns()) : p.reference;
  deviation_.resize(p.data.size());
  for (std::size_t i = 0; i < deviation_.size(); ++i)
    deviation_[i] = std::isnan(p.data[i]) ? 0 : 1 / p.sigma[i];
  trust_.assign(deviation_.size(), 1.0);
  out_.weight = cell_weights(p, settings_, out_.z0);
  regulariser_ =
      std::make_unique<Regulariser>(p.mesh, p.active, settings_.alphas, out_.weight,
                                    settings_.weights_in_gradients, settings_.threads, p.components);
  if (p.weights) regulariser_->weigh(*p.weights);
  if (settings_.device.has_own_memory()) regulariser_->move_to(settings_.device);
  centre_ = centre_of(p, settings_, reference_, *regulariser_);
  weigh();
  out_.data = objective_.used();
  const std::size_t taken = trends_ ? trends_->columns() : 0;
  out_.target = target_ = settings_.chi * static_cast<double>(out_.data - taken);
}

/// Sets up the objective: with Huber's weight ω of each datum, and the trend removed from data and operator.
void Run::weigh() {
  weight_ = deviation_;
  data_ = problem_.data;
  for (std::size_t i = 0; i < weight_.size(); ++i) {
    weight_[i] *= std::sqrt(trust_[i]);
    if (!(weight_[i] > 0)) data_[i] = 0;
  }
  g_ = problem_.g;
  if (settings_.trend != Trend::none) {
    trends_.emplace(settings_.trend, problem_.sets, problem_.easting, problem_.northing, weight_);
    trends_->remove(data_);
    g_ = std::make_shared<Detrended>(problem_.g, *trends_);
  }
  objective_ = {g_.get(), data_, weight_, regulariser_.get(), centre_};
  equations_.reset();
}

// ---- the state of the solution, for checkpoints ----

/// The part of the state that is common to all phases.
State Run::common_state() const {
  State s;
  s.steps = out_.iterations.size();
  fields(*this, PutState(s));
  return s;
}

/// Called between two steps of a phase: stores the state, and writes a checkpoint if one is due.
template <class Phase>
void Run::save_state(const char* name, const Phase& phase) {
  if (keeper_ == nullptr || !keeper_->keeps()) return;
  last_ = common_state();
  PutState{*last_}(name, phase);
  if (keeper_->due()) {
    keeper_->write(*last_);
    last_.reset();
  }
}

template <class Phase>
bool Run::resumed(const char* name, Phase& phase) const {
  if (!from_ || !from_->has(name)) return false;
  TakeState{*from_}(name, phase);
  return true;
}

void Run::restore(const State& from) {
  const auto trust = trust_;
  fields(*this, TakeState(from));
  if (trust_.size() != trust.size() || (!out_.model.empty() && out_.model.size() != g_->columns()))
    refuse_checkpoint();
  if (!out_.iterations.empty()) seconds_before_ = out_.iterations.back().seconds;
  if (trust_ != trust) weigh();
}

// ---- phases ----

void Run::smooth() {
  if (settings_.solver == Solver::model_space) cooled();
  else if (settings_.choice == Choice::gcv || settings_.choice == Choice::l_curve || settings_.posterior)
    smooth_dense();
  else do
      smooth_in_data_space();
    while (settings_.huber > 0 && doubt_outliers(++round_));
  smooth_ = true;
}

/// Computes ω from the residuals of the smooth model; returns whether it has changed, so that the model must
/// be computed again.
bool Run::doubt_outliers(int round) {
  constexpr int most_rounds = 30;
  auto r = objective_.weighted_residual(out_.model);
  target_ = solve::dot(r, r);  // target of the descents within bounds
  double change = 0;
  auto trust = trust_;
  for (std::size_t i = 0; i < r.size(); ++i) {
    r[i] /= std::sqrt(trust_[i]);
    trust[i] = huber_weight(r[i], settings_.huber);
    change = std::max(change, std::fabs(trust[i] - trust_[i]));
  }
  line("robust", round, out_.beta, huber_misfit(r, settings_.huber), phi_m_now());
  if (change < 0.03) return false;
  if (round == most_rounds) {
    out_.warnings.push_back("the weights of outliers still change: see the table of iterations");
    return false;
  }
  trust_ = std::move(trust);
  weigh();
  return true;
}

/// φ_d and φ_m at ten values of β per decade around the chosen one.
template <class At>
std::vector<Step> curve_of(double beta, const At& at) {
  std::vector<Step> curve;
  for (int i = -20; i <= 20; ++i) curve.push_back(at(beta * std::pow(10.0, 0.1 * i)));
  return curve;
}

void Run::smooth_in_data_space() {
  LanczosSettings lanczos;
  lanczos.tolerance = settings_.tolerance;
  lanczos.inner_tolerance = std::min(1e-6, 1e-3 * settings_.tolerance);
  if (settings_.choice == Choice::fixed) lanczos.beta = settings_.beta;
  if (settings_.most_products > 0) lanczos.most_steps = settings_.most_products;
  if (settings_.huber > 0)
    lanczos.misfit = [&](std::span<const double> weighted) {
      std::vector<double> r(weighted.begin(), weighted.end());
      for (std::size_t i = 0; i < r.size(); ++i) r[i] /= std::sqrt(trust_[i]);
      return huber_misfit(r, settings_.huber);
    };
  LanczosState state;
  if (resumed("lanczos", state)) {
    const bool whole =
        !state.a.empty() && state.b.size() == state.a.size() && state.v.size() == state.a.size() + 1;
    const auto of_data = [&](const std::vector<double>& v) { return v.size() == objective_.g->rows(); };
    if (!whole || !std::all_of(state.v.begin(), state.v.end(), of_data)) refuse_checkpoint();
  }
  const int before = out_.products - static_cast<int>(state.a.size());
  from_.reset();
  const Lanczos solved(
      objective_, out_.target, lanczos,
      [&](const Step& step) {
        out_.products = before + step.steps;
        log("lanczos", step.steps, step);
      },
      progress_, std::move(state),
      [&](const LanczosState& at, bool stops) {
        if (keeper_ == nullptr || !keeper_->keeps()) return;
        if (!stops && !keeper_->due()) return;
        last_ = common_state();
        PutState{*last_}("lanczos", at);
        if (stops) return;
        keeper_->write(*last_);
        last_.reset();
      });
  out_.reason = solved.reason();
  out_.converged = solved.converged();
  out_.beta = solved.beta();
  if (!(out_.beta > 0)) {
    out_.beta = solved.largest_eigenvalue() * 1e-13;
    out_.warnings.push_back(fmt::format("{}; φ_d is {:.4g} at least, the target {:.4g}", solved.reason(),
                                        solved.at(out_.beta).phi_d, out_.target));
  }
  out_.model = solved.model(out_.beta);
  if (!std::isfinite(out_.beta)) return;
  out_.beta_relative = out_.beta / solved.largest_eigenvalue();
  out_.curve.clear();
  for (const auto& step : curve_of(out_.beta, [&](double beta) { return solved.at(beta); }))
    if (solved.unsettled(step.beta) < 0.02 * step.phi_d) out_.curve.push_back(step);
}

void Run::smooth_dense() {
  const DenseDataSpace dense(objective_, 1e-10, progress_);
  out_.products += static_cast<int>(out_.data);
  switch (settings_.choice) {
    case Choice::gcv:
      out_.beta = dense.gcv_minimum();
      out_.reason = "minimum of generalised cross-validation";
      break;
    case Choice::l_curve:
      out_.beta = dense.l_curve_corner();
      out_.reason = "corner of the L-curve";
      break;
    case Choice::fixed:
      out_.beta = settings_.beta;
      out_.reason = "beta as given";
      break;
    case Choice::discrepancy:
      out_.beta = dense.discrepancy(out_.target);
      out_.reason = "converged";
  }
  out_.converged = out_.beta > 0;
  if (!out_.converged)
    throw InputError("inversion.chi",
                     "no β gives this misfit: the reference model fits already, or nothing does");
  const auto step = [&](double beta) { return Step{0, beta, dense.phi_d(beta), dense.phi_m(beta)}; };
  log("dense", 1, step(out_.beta));
  out_.model = dense.model(out_.beta);
  out_.beta_relative = out_.beta / dense.eigenvalues().front();
  out_.curve = curve_of(out_.beta, step);
  if (settings_.posterior) {
    auto posterior = dense.posterior(out_.beta);
    out_.deviation = std::move(posterior.deviation);
    out_.resolution = std::move(posterior.resolution);
  }
}

void Run::remember(double phi_d, double beta) {
  const double off = std::fabs(std::log(phi_d / target_));
  if (off < best_.off) best_ = {off, beta, out_.model};
}

/// Restores the best model, if none is near enough to the target.
void Run::take_best() {
  if (best_.model.empty()) return;
  out_.model = best_.model;
  out_.beta = best_.beta;
}

/// Finds β by secants in (ln β, ln φ_d), with slopes d ln φ_d / d ln β limited to 0.2 … 1.5.
double Run::find_beta(Secant secant, double largest_step, const std::function<double(double)>& at,
                      const std::function<void(const Secant&)>& between) {
  if (secant.trial == 0) best_ = {};
  for (; secant.trial < 30; ++secant.trial) {
    if (between) between(secant);
    const double phi_d = at(secant.beta), t = std::log(secant.beta), f = std::log(phi_d / target_);
    remember(phi_d, secant.beta);
    if (std::fabs(std::exp(f) - 1) <= settings_.misfit_tolerance) return secant.beta;
    if (secant.trial > 0 && std::fabs(t - secant.before_t) > 1e-7)
      secant.slope = std::clamp((f - secant.before_f) / (t - secant.before_t), 0.2, 1.5);
    secant.before_t = t;
    secant.before_f = f;
    secant.beta = std::exp(t - std::clamp(f / secant.slope, -largest_step, largest_step));
  }
  out_.converged = false;
  out_.reason = "most trials of beta";
  out_.warnings.push_back(
      fmt::format("after 30 trials of β, φ_d is {:.2f} times its target or its inverse, in the "
                  "nearest of them, which is taken",
                  std::exp(best_.off)));
  take_best();
  return out_.beta;
}

/// The slow alternative to data space: β decreases step by step from the largest eigenvalue of K, with
/// conjugate gradients, preconditioned by the diagonal, at each β.
void Run::cooled() {
  LanczosSettings few;
  few.most_steps = 6;
  const Lanczos probe(objective_, out_.target, few);
  out_.model = centre_;
  if (!std::isfinite(probe.beta())) {
    out_.reason = probe.reason();
    out_.converged = true;
    return;
  }
  equations_ = std::make_unique<NormalEquations>(objective_);
  const double largest = probe.largest_eigenvalue();
  int number = 0;
  out_.converged = true;
  out_.reason = "converged";
  const auto at = [&](double beta) {
    equations_->set_beta(beta);
    const auto done =
        minimise(*equations_, out_.model, std::min(1e-4, settings_.tolerance * 0.1), false, 5000, progress_);
    out_.products += done.products;
    line("cooling", ++number, beta, done.phi_d, phi_m_now());
    return done.phi_d;
  };
  out_.beta =
      settings_.choice == Choice::fixed ? settings_.beta : find_beta({largest / 10}, std::log(10.0), at);
  if (settings_.choice == Choice::fixed) at(out_.beta);
  out_.beta_relative = out_.beta / largest;
}

double Run::value_of_sparse(const SparseStage& stage) const {
  return sparse_terms(settings_.norms, stage, settings_.alphas, regulariser_->magnitudes(less_centre()),
                      regulariser_->measures())
      .sum();
}

void Run::sparse() {
  if (!equations_) equations_ = std::make_unique<NormalEquations>(objective_);
  SparseState state;
  if (!resumed("sparse", state)) {
    state.begin(regulariser_->magnitudes(less_centre()));
    best_ = {};
  }
  from_.reset();
  constexpr int most_steps = 80;
  for (; state.step < most_steps; ++state.step) {
    save_state("sparse", state);
    if (!sparse_step(state)) break;
  }
  out_.reason = out_.converged ? "converged" : "most steps of sparse norms";
  if (!out_.converged) take_best();
}

/// Solves one least-squares problem; returns whether another one is needed.
bool Run::sparse_step(SparseState& state) {
  const auto& stage = state.stage;
  if (state.in_stage == 0) {
    state.next_stage(settings_.norms, settings_.epsilon, regulariser_->magnitudes(less_centre()));
    if (state.step > 0 && settings_.choice != Choice::fixed)
      out_.beta *= beta_of_next_stage(out_.phi_d / target_, std::min(0.1, 2 * settings_.misfit_tolerance));
  }
  regulariser_->reweight(sparse_factors(settings_.norms, stage, regulariser_->magnitudes(less_centre())));
  equations_->set_beta(out_.beta);
  // Before the last stage, a rough minimum for each ε is enough.
  const bool last_stage = state.part <= settings_.epsilon;
  const auto done = problem_.bounds.any() ? minimise_within(*equations_, problem_.bounds, out_.model,
                                                            last_stage ? 1e-2 : 3e-2, 0, 40, progress_)
                                          : minimise(*equations_, out_.model, 2e-2, false, 40, progress_);
  out_.products += done.products;
  out_.phi_d = done.phi_d;
  const double phi_m = value_of_sparse(stage), now = done.phi_d + out_.beta * phi_m;
  line("sparse", state.step + 1, out_.beta, done.phi_d, phi_m);
  if (now > state.phi * (1 + 1e-6))
    out_.warnings.push_back(
        fmt::format("step {}: φ rose from {:.6g} to {:.6g}", state.step + 1, state.phi, now));
  const bool still = (state.phi - now) < 1e-3 * now;
  const bool fits = settings_.choice == Choice::fixed ||
                    std::fabs(done.phi_d / target_ - 1) <= std::max(0.05, settings_.misfit_tolerance);
  state.phi = now;
  if (last_stage) remember(done.phi_d, out_.beta);
  out_.converged = last_stage && still && fits;
  if (out_.converged) return false;
  state.in_stage = last_stage && fits && !still ? state.in_stage + 1 : 0;
  return true;
}

void Run::bounded() {
  BoundedState state{{out_.beta}};
  int& number = state.number;
  double& least = state.least;
  if (!resumed("bounds", state)) {
    const auto before = out_.model;
    problem_.bounds.clip(out_.model);
    if (out_.model == before) return;  // the smooth model is within bounds: it is the result
  }
  from_.reset();
  if (!equations_) equations_ = std::make_unique<NormalEquations>(objective_);
  Descent last;
  const auto descend = [&](double beta, double part) {
    last = minimise_within(*equations_, problem_.bounds, out_.model, part, least, 3000, progress_);
    if (least == 0) least = settings_.tolerance * last.began;
    out_.products += last.products;
    line("bounds", ++number, beta, last.phi_d, phi_m_now());
    return last.phi_d;
  };
  // A rough minimum for each trial of β, starting from the model of the previous trial.
  const auto at = [&](double beta) {
    equations_->set_beta(beta);
    const double rough = descend(beta, 1e-2);
    const bool near = settings_.choice != Choice::discrepancy || std::fabs(rough / target_ - 1) < 0.1;
    return near && last.gradient > least ? descend(beta, 0) : rough;
  };
  const auto between = [&](const Secant& now) { save_state("bounds", BoundedState{now, number, least}); };
  if (settings_.choice == Choice::discrepancy)
    out_.beta = find_beta(state.secant, std::log(10.0), at, between);
  else at(out_.beta);
  if (!last.converged) {
    out_.converged = false;
    out_.reason = "most products within bounds";
  }
}

void Run::finish() {
  out_.predicted.resize(problem_.g->rows());
  problem_.g->apply(out_.model, out_.predicted);
  if (trends_) {
    std::vector<double> rest(out_.predicted.size());
    for (std::size_t i = 0; i < rest.size(); ++i)
      if (weight_[i] > 0) rest[i] = problem_.data[i] - out_.predicted[i];
    out_.trend = trends_->nearest(rest);
    for (std::size_t i = 0; i < rest.size(); ++i) out_.predicted[i] += out_.trend[i];
  }
  if (settings_.huber > 0) out_.trust = trust_;
  judge(problem_, settings_, deviation_, reference_, *regulariser_, out_);
}

Outcome Run::all() {
  if (progress_ != nullptr) progress_->start("inversion", 0);
  prepare();
  if (keeper_ != nullptr && (from_ = keeper_->begin())) restore(*from_);
  try {
    if (!smooth_) smooth();
    const bool moved = std::isfinite(out_.beta) && out_.beta > 0;
    if (!settings_.norms.square() && moved) sparse();
    else if (problem_.bounds.any() && moved) bounded();
  } catch (const Cancelled&) {
    if (keeper_ != nullptr && last_) keeper_->keep_last(*last_);
    throw;
  }
  finish();
  if (progress_ != nullptr) progress_->finish();
  return std::move(out_);
}

}  // namespace

Outcome invert_linear(const Problem& problem, const Settings& settings,
                      const std::function<void(const Iteration&)>& seen, Progress* progress, Keeper* keeper) {
  return Run(problem, settings, seen, progress, keeper).all();
}

}  // namespace terrane::inversion
