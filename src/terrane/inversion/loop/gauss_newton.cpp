#include "terrane/inversion/loop/gauss_newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/inversion/data/robust.hpp"
#include "terrane/inversion/loop/state.hpp"

namespace terrane::inversion {

namespace {

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> u(a.begin(), a.end());
  for (std::size_t c = 0; c < u.size(); ++c) u[c] -= b[c];
  return u;
}

/// An inversion in progress: the present model with its data, and the table of iterations.
class Steps {
 public:
  Steps(const Problem& problem, const Settings& settings, const std::function<void(const Iteration&)>& seen,
        Progress* progress, Keeper* keeper)
      : problem_(problem), settings_(settings), seen_(seen), progress_(progress), keeper_(keeper) {}
  Outcome all();

 private:
  void prepare();
  void restore(const State& from);
  void save_state();
  template <class Self, class Field>
  static void fields(Self& s, const Field& field) {
    field("number", s.number_);
    field("outcome", s.out_);
    field("factor", s.factor_);
    field("trust", s.trust_);
    field("misfits", s.misfits_);
    field("best", s.best_);
    field("sparse", s.sparse_);
    field("sparse_target", s.sparse_target_);
  }
  void look_around(std::vector<double> model);
  void store_jacobian();
  void doubt_outliers(double scale);
  void step();
  double choose_beta(const Lanczos& lanczos);
  std::vector<double> linear_minimum(const Objective& linear, double aim, double scale);
  void within_bounds(const Objective& linear, double aim, std::vector<double>& model);
  std::vector<double> descent(const Objective& linear);
  bool search(const std::vector<double>& to, double slope);
  bool arrived(double slope);
  bool stuck() const;
  std::string why_stuck() const;
  void go_to_centre();
  void sparse();
  bool sparse_step();
  void descend_sparse();
  double value_of_sparse() const;
  Objective linearised(std::vector<double>& data) const;
  void line();
  void remember();
  void take_best();
  void tell_sensitivity();
  void finish();

  /// The objective linearised at the present model: its data are d, its operator is J there.
  Objective objective() const { return {here_.jacobian.get(), data_, weight_, regulariser_.get(), centre_}; }
  std::vector<double> residual() const;
  double misfit() const;

  const Problem& problem_;
  const Settings& settings_;
  const std::function<void(const Iteration&)>& seen_;
  Progress* progress_;
  Keeper* keeper_;
  std::optional<State> last_;
  double seconds_before_ = 0;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  std::unique_ptr<Regulariser> regulariser_;
  std::vector<double> reference_, centre_, data_;
  std::vector<double> deviation_, trust_, weight_;  ///< 1/σ (0: not used); Huber's ω; √ω/σ
  double doubt_ = 0;                                ///< largest change of Huber's weights ω in the last step
  double factor_ = 1;                               ///< β with bounds divided by β without bounds
  Linearised here_;                                 ///< F and J at the present model
  int number_ = 0;
  std::vector<double> misfits_;  ///< φ_d after each step
  SparseState sparse_;  ///< state of the reweighting for compact norms, which begins at the smooth model
  double sparse_target_ = 0;  ///< target of φ_d for compact norms, with constant Huber weights; 0: not begun
  /// The model that fits best so far: the misfit may rise and fall, so the last model need not be the best.
  struct Best {
    int number = 0;
    double phi_d = INFINITY, beta = 0, beta_relative = 0;
    std::vector<double> model, data;

    template <class Self, class Field>
    static void fields(Self& b, const Field& field) {
      field("number", b.number);
      field("phi_d", b.phi_d);
      field("beta", b.beta);
      field("beta_relative", b.beta_relative);
      field("model", b.model);
      field("data", b.data);
    }
  } best_;
  Outcome out_;
};

/// The residuals W (d − F) of the data that are used.
std::vector<double> Steps::residual() const {
  std::vector<double> r;
  for (std::size_t i = 0; i < data_.size(); ++i)
    if (deviation_[i] > 0) r.push_back(deviation_[i] * (data_[i] - here_.data[i]));
  return r;
}

/// s² times Huber's misfit of the residuals divided by s. With s = 1 Huber's misfit hardly differs between
/// two models that are both far from fitting the data.
double huber_misfit_of(std::vector<double> r, double s, double huber) {
  for (double& one : r) one /= s;
  return s * s * huber_misfit(r, huber);
}

/// φ_d; with Huber's norm, the misfit of scaled residuals until the next step may reach the target.
double Steps::misfit() const {
  const auto r = residual();
  if (!(settings_.huber > 0)) return solve::dot(r, r);
  auto size = r;
  for (double& one : size) one = std::fabs(one);
  const auto middle = size.begin() + static_cast<std::ptrdiff_t>(size.size() / 2);
  std::nth_element(size.begin(), middle, size.end());
  const double s = std::max(1.0, 1.4826 * *middle);  // σ of normal noise from the median of |r|
  const double far = huber_misfit_of(r, s, settings_.huber);
  return settings_.cooling * far > out_.target ? far : huber_misfit(r, settings_.huber);
}

/// Makes `model` the present model, and computes F there.
void Steps::look_around(std::vector<double> model) {
  here_ = {};  // frees the memory of J for the next one
  here_ = problem_.forward->at(model, progress_);
  out_.model = std::move(model);
}

/// Stores J of the present model, from which a step begins. Models that a line search refuses need none.
void Steps::store_jacobian() {
  here_.store_entries(progress_);
  if (settings_.jacobian_in_memory) here_.jacobian = in_memory(*here_.jacobian, settings_.threads);
}

void Steps::prepare() {
  const auto& p = problem_;
  reference_ = p.reference.empty() ? std::vector<double>(p.columns()) : p.reference;
  data_ = p.data;
  deviation_.resize(data_.size());
  for (std::size_t i = 0; i < data_.size(); ++i) {
    deviation_[i] = std::isnan(data_[i]) ? 0 : 1 / p.sigma[i];
    if (!(deviation_[i] > 0)) data_[i] = 0;
    out_.data += deviation_[i] > 0;
  }
  weight_ = deviation_;
  trust_.assign(deviation_.size(), 1.0);
  out_.target = settings_.chi * static_cast<double>(out_.data);
  auto model = p.start.empty() ? reference_ : p.start;
  p.bounds.clip(model);
  std::optional<State> from;
  if (keeper_ != nullptr && (from = keeper_->begin())) {
    restore(*from);
    model = out_.model;
  }
  look_around(std::move(model));
  if (here_.jacobian == nullptr)
    throw InputError("inversion.start", "the first model is beyond what numbers can be computed for");
  store_jacobian();
  if (!from) {
    out_.forwards = 1;
    auto linear = p;  // sensitivity weights are those of the first model
    linear.forward.reset();
    linear.g = here_.jacobian;
    out_.weight = cell_weights(linear, settings_, out_.z0);
  }
  regulariser_ =
      std::make_unique<Regulariser>(p.mesh, p.active, settings_.alphas, out_.weight,
                                    settings_.weights_in_gradients, settings_.threads, p.components);
  if (p.weights) regulariser_->weigh(*p.weights);
  centre_ = centre_of(p, settings_, reference_, *regulariser_);
  if (sparse_target_ == 0) {
    out_.phi_d = misfit();
    remember();
  }
  if (!from) line();
}

// ---- the state of the iteration, for checkpoints ----

void Steps::save_state() {
  if (keeper_ == nullptr || !keeper_->keeps()) return;
  State s;
  s.steps = static_cast<std::size_t>(number_);
  fields(*this, PutState(s));
  last_ = std::move(s);
  if (!keeper_->due()) return;
  keeper_->write(*last_);
  last_.reset();
}

void Steps::restore(const State& from) {
  fields(*this, TakeState(from));
  if (out_.model.size() != problem_.columns() || out_.weight.size() != problem_.cells() ||
      trust_.size() != data_.size())
    refuse_checkpoint();
  if (!out_.iterations.empty()) seconds_before_ = out_.iterations.back().seconds;
}

// ---- a step ----

/// Sets ω of Huber's norm from the present residuals times `scale`, to match the misfit at which the step
/// aims.
void Steps::doubt_outliers(double scale) {
  doubt_ = 0;
  if (!(settings_.huber > 0)) return;
  for (std::size_t i = 0; i < trust_.size(); ++i) {
    const double now = huber_weight(deviation_[i] * (data_[i] - here_.data[i]) / scale, settings_.huber);
    doubt_ = std::max(doubt_, std::fabs(now - trust_[i]));
    trust_[i] = now;
    weight_[i] = deviation_[i] * std::sqrt(now);
  }
}

/// The β of a step, ignoring bounds. If the misfit is too large for every β: a tenth of the last β.
double Steps::choose_beta(const Lanczos& lanczos) {
  if (settings_.choice == Choice::fixed) return settings_.beta;
  const double found = lanczos.beta();
  const bool first = !(out_.beta > 0);
  if (!std::isfinite(found) && first && out_.model == centre_) return found;
  if (lanczos.steps() == 0) return first ? found : 10 * out_.beta;  // m̃ fits the data, so K was not computed
  const double largest = lanczos.largest_eigenvalue();
  if (!(found > 0)) return first ? 1e-6 * largest : 0.1 * out_.beta;
  if (!std::isfinite(found)) return 10 * (first ? largest : out_.beta);
  return first ? found : std::max(found, 1e-2 * out_.beta);
}

/// The model that minimises φ_d of the linearised data plus β φ_m; also sets β.
std::vector<double> Steps::linear_minimum(const Objective& linear, double aim, double scale) {
  LanczosSettings s;
  s.tolerance = settings_.tolerance;
  s.inner_tolerance = std::min(1e-6, 1e-3 * settings_.tolerance);
  if (settings_.choice == Choice::fixed) s.beta = settings_.beta;
  if (settings_.most_products > 0) s.most_steps = settings_.most_products;
  if (settings_.huber > 0)
    s.misfit = [&](std::span<const double> weighted) {
      std::vector<double> r(weighted.begin(), weighted.end());
      for (std::size_t i = 0; i < r.size(); ++i) r[i] /= std::sqrt(trust_[i]);
      return huber_misfit_of(std::move(r), scale, settings_.huber);
    };
  const Lanczos lanczos(linear, aim, s, {}, progress_);
  out_.products += lanczos.steps() + 1;
  out_.beta = choose_beta(lanczos);
  if (!std::isfinite(out_.beta)) return centre_;
  if (lanczos.steps() > 0) out_.beta_relative = out_.beta / lanczos.largest_eigenvalue();
  auto model = lanczos.model(out_.beta);
  const auto free = model;
  problem_.bounds.clip(model);
  if (model != free) within_bounds(linear, lanczos.at(out_.beta).phi_d, model);
  return model;
}

/// Computes the linear minimum within bounds. Bounds change β by a factor of about 0.7 to 0.8, which is
/// remembered for the next step.
void Steps::within_bounds(const Objective& linear, double aim, std::vector<double>& model) {
  NormalEquations equations(linear);
  const bool few = settings_.most_products > 0;
  const double free = out_.beta;
  for (int trial = 0; trial < (few ? 1 : 4); ++trial) {
    if (settings_.choice != Choice::fixed) out_.beta = free * factor_;
    equations.set_beta(out_.beta);
    const auto done = minimise_within(equations, problem_.bounds, model, settings_.tolerance, 0,
                                      few ? settings_.most_products : 3000, progress_);
    if (settings_.choice == Choice::fixed || (few && !done.converged) ||
        std::fabs(done.phi_d / aim - 1) <= 0.5 * settings_.misfit_tolerance)
      break;  // an unfinished step tells nothing about β
    factor_ = std::clamp(factor_ * std::clamp(std::pow(aim / done.phi_d, 1 / 0.7), 0.1, 10.0), 1e-3, 10.0);
  }
  out_.products += equations.products();
}

/// Lowers φ_d of the linearised data plus β φ_m by a few steps of conjugate gradients from the present model.
/// Lanczos starts from m̃, so its result after few steps may be worse than the present model.
std::vector<double> Steps::descent(const Objective& linear) {
  NormalEquations equations(linear);
  equations.set_beta(out_.beta);
  auto model = out_.model;
  minimise(equations, model, settings_.tolerance, true, settings_.most_products, progress_);
  const auto free = model;
  problem_.bounds.clip(model);
  if (model != free) {
    model = out_.model;
    minimise_within(equations, problem_.bounds, model, settings_.tolerance, 0, settings_.most_products,
                    progress_);
  }
  out_.products += equations.products();
  return model;
}

/// The next trial of a line search after one at t, whose φ is `there`: the minimum of the parabola that has
/// φ and its slope at the present model and φ at t, but between t/10 and t/2 (Nocedal & Wright 2006, 3.5).
double nearer(double t, double phi, double slope, double there) {
  const double minimum = -0.5 * slope * t * t / (there - phi - slope * t);
  return std::isfinite(minimum) ? std::clamp(minimum, 0.1 * t, 0.5 * t) : 0.5 * t;
}

/// The least decrease of φ that a step of the line search has to bring, as a fraction of what the slope alone
/// promises; a step to the minimum of a parabola brings one half. Steps of Gauss and Newton leave out second
/// derivatives of the data: where residuals are large they end behind the minimum, the next one before it,
/// and so on. With a fraction of 1e-4 such steps were accepted, and an inversion of 64 data computed 31
/// models instead of 8.
constexpr double least_decrease = 0.1;

/// Line search from the present model towards `to`, until φ is low enough. Returns false if φ never is low
/// enough; then the model is unchanged.
bool Steps::search(const std::vector<double>& to, double slope) {
  const auto from = out_.model;
  const auto before = here_;
  const double phi = value_at(here_.data, from, objective()).phi(out_.beta);
  for (double t = 1; t > 1e-3;) {
    std::vector<double> model(from);
    for (std::size_t c = 0; c < model.size(); ++c) model[c] += t * (to[c] - from[c]);
    if (t == 1) model = to;
    problem_.bounds.clip(model);
    look_around(std::move(model));
    ++out_.forwards;
    const double there = here_.jacobian == nullptr
                             ? std::numeric_limits<double>::quiet_NaN()
                             : value_at(here_.data, out_.model, objective()).phi(out_.beta);
    if (there <= phi + least_decrease * t * slope) {
      store_jacobian();
      return true;
    }
    t = nearer(t, phi, slope, there);
  }
  here_ = before;
  out_.model = from;
  return false;
}

/// Whether φ_d is at its target and the next step would lower φ by less than the tolerance. If products are
/// limited, the approximate linear minimum may be uphill; then convergence is unknown.
bool Steps::arrived(double slope) {
  if (slope > 0 && settings_.most_products > 0) return false;
  const bool still =
      -slope <= settings_.tolerance * value_at(here_.data, out_.model, objective()).phi(out_.beta);
  const bool fits = settings_.choice == Choice::fixed ||
                    std::fabs(out_.phi_d / out_.target - 1) <= settings_.misfit_tolerance;
  return still && fits && doubt_ < 0.03;
}

/// Whether the misfit has been above its target in the last four steps, and has not fallen by 2 % in these
/// steps.
bool Steps::stuck() const {
  const std::size_t n = misfits_.size();
  if (settings_.choice != Choice::discrepancy || n <= 3) return false;
  const double least = *std::min_element(misfits_.end() - 4, misfits_.end());
  return least > out_.target * (1 + settings_.misfit_tolerance) && misfits_[n - 1] > 0.98 * misfits_[n - 4];
}

/// The objective whose data d − F + J m depend linearly on the model; they are stored in `data`.
Objective Steps::linearised(std::vector<double>& data) const {
  data.resize(data_.size());
  here_.jacobian->apply(out_.model, data);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = weight_[i] > 0 ? data_[i] - here_.data[i] + data[i] : 0.0;
  auto linear = objective();
  linear.data = data;
  return linear;
}

void Steps::step() {
  const double aim = std::max(out_.target, settings_.cooling * out_.phi_d);
  const double scale = std::sqrt(aim / out_.target);
  doubt_outliers(scale);
  const auto about = objective();
  std::vector<double> data;
  const auto linear = linearised(data);
  auto to = linear_minimum(linear, aim, scale);
  if (!std::isfinite(out_.beta) && out_.model != centre_) {
    go_to_centre();
    return;
  }
  if (!std::isfinite(out_.beta)) {
    out_.converged = true;
    out_.reason = "the reference model fits the data already";
    return;
  }
  const auto gradient = gradient_at(here_.data, out_.model, about, out_.beta);
  out_.products += 2;
  const auto slope_to = [&] { return solve::dot(gradient, difference(to, out_.model), settings_.threads); };
  double slope = slope_to();
  bool there = arrived(slope), lower = !there && slope < 0 && search(to, slope);
  if (!there && !lower && settings_.most_products > 0) {
    to = descent(linear);
    slope = slope_to();
    there = arrived(slope);
    lower = !there && slope < 0 && search(to, slope);
  }
  if (there) {
    out_.converged = true;
    out_.reason = "converged";
    return;
  }
  if (!lower) {
    out_.reason = "no step lowers the objective";
    return;
  }
  out_.phi_d = misfit();
  misfits_.push_back(out_.phi_d);
  ++number_;
  line();
  remember();
  if (stuck()) out_.reason = why_stuck();
}

/// The reason why the misfit stays above its target. If the best model is within 5 % of the target, neither
/// uncertainties nor cells are the cause.
std::string Steps::why_stuck() const {
  if (best_.phi_d <= out_.target * (1 + std::max(0.05, settings_.misfit_tolerance)))
    return "the misfit falls no more, and is as near to its target as these steps bring it";
  return "the misfit falls no more: uncertainties too small, cells too large, or the first model too far off";
}

/// Makes m̃ the present model: called if the first model is not m̃, and m̃ fits the data, linearised about
/// the first model, well enough.
void Steps::go_to_centre() {
  look_around(centre_);
  store_jacobian();
  ++out_.forwards;
  out_.beta = out_.beta_relative = 0;
  out_.phi_d = misfit();
  misfits_.push_back(out_.phi_d);
  ++number_;
  line();
  remember();
}

// ---- compact norms ----

double Steps::value_of_sparse() const {
  return sparse_terms(settings_.norms, sparse_.stage, settings_.alphas,
                      regulariser_->magnitudes(difference(out_.model, centre_)), regulariser_->measures())
      .sum();
}

/// The reweighting of linear inversions (linear.cpp), in which every least-squares problem is one of the data
/// linearised at the present model.
void Steps::sparse() {
  if (sparse_target_ == 0) {
    sparse_.begin(regulariser_->magnitudes(difference(out_.model, centre_)));
    sparse_target_ = settings_.huber > 0 ? value_at(here_.data, out_.model, objective()).phi_d : out_.target;
    best_ = {};
  }
  out_.converged = false;
  constexpr int most_steps = 80;
  for (; sparse_.step < most_steps; ++sparse_.step) {
    save_state();
    if (!sparse_step()) break;
  }
  out_.reason = out_.converged ? "converged" : "most steps of sparse norms";
}

/// Solves one least-squares problem; returns whether another one is needed.
bool Steps::sparse_step() {
  const auto magnitudes = regulariser_->magnitudes(difference(out_.model, centre_));
  if (sparse_.in_stage == 0) {
    sparse_.next_stage(settings_.norms, settings_.epsilon, magnitudes);
    if (sparse_.step > 0 && settings_.choice != Choice::fixed)
      out_.beta *=
          beta_of_next_stage(out_.phi_d / sparse_target_, std::min(0.1, 2 * settings_.misfit_tolerance));
  }
  regulariser_->reweight(sparse_factors(settings_.norms, sparse_.stage, magnitudes));
  descend_sparse();
  out_.phi_d = value_at(here_.data, out_.model, objective()).phi_d;
  const double now = out_.phi_d + out_.beta * value_of_sparse();
  ++number_;
  line();
  const bool last_stage = sparse_.part <= settings_.epsilon;
  const bool still = (sparse_.phi - now) < 1e-3 * now;
  const bool fits = settings_.choice == Choice::fixed ||
                    std::fabs(out_.phi_d / sparse_target_ - 1) <= std::max(0.05, settings_.misfit_tolerance);
  sparse_.phi = now;
  if (last_stage) remember();
  out_.converged = last_stage && still && fits;
  sparse_.in_stage = last_stage && fits && !still ? sparse_.in_stage + 1 : 0;
  return !out_.converged;
}

/// One step towards the minimum of the linearised problem; none if it does not lower φ.
void Steps::descend_sparse() {
  std::vector<double> data;
  const auto linear = linearised(data);
  NormalEquations equations(linear);
  equations.set_beta(out_.beta);
  const bool last_stage = sparse_.part <= settings_.epsilon;
  auto to = out_.model;
  if (problem_.bounds.any())
    minimise_within(equations, problem_.bounds, to, last_stage ? 1e-2 : 3e-2, 0, 40, progress_);
  else minimise(equations, to, 2e-2, false, 40, progress_);
  out_.products += equations.products() + 2;
  const auto gradient = gradient_at(here_.data, out_.model, objective(), out_.beta);
  const double slope = solve::dot(gradient, difference(to, out_.model), settings_.threads);
  if (slope < 0) search(to, slope);
}

void Steps::line() {
  const double seconds =
      seconds_before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const bool compact = sparse_target_ > 0;
  const double phi_m =
      compact ? value_of_sparse() : regulariser_->terms(difference(out_.model, centre_)).sum();
  out_.iterations.push_back({compact ? "sparse" : "newton", compact ? sparse_.step + 1 : number_, out_.beta,
                             out_.phi_d, phi_m, out_.products, seconds});
  show_nearness(progress_, out_);
  if (seen_) seen_(out_.iterations.back());
}

/// Remembers the best model; of models that reach the target, the last one.
void Steps::remember() {
  const double now = std::max(out_.phi_d, out_.target);
  if (settings_.choice != Choice::discrepancy || now > std::max(best_.phi_d, out_.target)) return;
  best_ = {number_, out_.phi_d, out_.beta, out_.beta_relative, out_.model, here_.data};
}

void Steps::take_best() {
  if (out_.converged || best_.model.empty() || best_.number == number_) return;
  out_.model = std::move(best_.model);
  here_.data = std::move(best_.data);
  out_.beta = best_.beta;
  out_.beta_relative = best_.beta_relative;
  out_.warnings.push_back(fmt::format(
      "the model is that of step {}, whose φ_d/N, {:.4g}, is the least of all {} steps", best_.number,
      best_.phi_d / static_cast<double>(std::max<std::size_t>(1, out_.data)), number_));
}

/// Sets out_.sensitivity from the last J; if the best model is another one, its J differs little.
void Steps::tell_sensitivity() {
  if (!here_.jacobian || !here_.jacobian->has_quick_diagonal()) return;
  std::vector<double> volume;
  for (std::size_t c = 0; c < problem_.cells(); ++c)
    volume.push_back(problem_.mesh.prism(problem_.active.empty() ? c : problem_.active[c]).volume());
  out_.sensitivity = sensitivity_per_volume(*here_.jacobian, deviation_, volume);
}

void Steps::finish() {
  take_best();
  tell_sensitivity();
  out_.predicted = here_.data;
  out_.warnings.insert(out_.warnings.end(), here_.warnings.begin(), here_.warnings.end());
  if (settings_.huber > 0) out_.trust = trust_;
  judge(problem_, settings_, deviation_, reference_, *regulariser_, out_);
}

Outcome Steps::all() {
  if (progress_ != nullptr) progress_->start("inversion", 0);
  prepare();
  try {
    while (out_.reason.empty()) {
      save_state();
      if (number_ == settings_.most_steps) out_.reason = "most steps";
      else step();
    }
    if (!settings_.norms.square() && std::isfinite(out_.beta) && out_.beta > 0) sparse();
  } catch (const Cancelled&) {
    if (keeper_ != nullptr && last_) keeper_->keep_last(*last_);
    throw;
  }
  finish();
  if (progress_ != nullptr) progress_->finish();
  return std::move(out_);
}

}  // namespace

Value value_at(std::span<const double> predicted, std::span<const double> model, const Objective& objective) {
  Value value;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    if (!(objective.weight[i] > 0)) continue;
    const double r = objective.weight[i] * (objective.data[i] - predicted[i]);
    value.phi_d += r * r;
  }
  const auto u = difference(model, objective.centre);
  std::vector<double> flat(u.size());
  objective.regulariser->apply(u, flat);
  value.phi_m = solve::dot(u, flat, objective.threads());
  return value;
}

std::vector<double> gradient_at(std::span<const double> predicted, std::span<const double> model,
                                const Objective& objective, double beta) {
  std::vector<double> weighted(predicted.size()), gradient(model.size()), flat(model.size());
  for (std::size_t i = 0; i < weighted.size(); ++i)
    if (objective.weight[i] > 0)
      weighted[i] = objective.weight[i] * objective.weight[i] * (objective.data[i] - predicted[i]);
  objective.g->apply_transpose(weighted, gradient);
  objective.regulariser->apply(difference(model, objective.centre), flat);
  for (std::size_t c = 0; c < gradient.size(); ++c) gradient[c] = -2 * gradient[c] + 2 * beta * flat[c];
  return gradient;
}

Outcome gauss_newton(const Problem& problem, const Settings& settings,
                     const std::function<void(const Iteration&)>& seen, Progress* progress, Keeper* keeper) {
  return Steps(problem, settings, seen, progress, keeper).all();
}

}  // namespace terrane::inversion
