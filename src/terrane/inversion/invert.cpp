// The order of an inversion:
//   weights → R → m̃ → β and the smooth model (data space) → sparse norms → bounds → what is reported
#include "terrane/inversion/invert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/inversion/data_space.hpp"

namespace terrane::inversion {

namespace {

/// One inversion on its way: the objective, the model, and the table.
class Run {
 public:
  Run(const Problem& problem, const Settings& settings, const std::function<void(const Iteration&)>& seen,
      Progress* progress)
      : problem_(problem), settings_(settings), seen_(seen), progress_(progress) {}
  Outcome all();

 private:
  void prepare();
  void smooth();
  void smooth_in_data_space();
  void smooth_dense();
  void cooled();
  void sparse();
  void bounded();
  void finish();
  /// β so that at(β) = target, from `beta`; returns the β of the last call.
  double find_beta(double beta, double largest_step, const std::function<double(double)>& at);
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
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  std::unique_ptr<Regulariser> regulariser_;
  std::vector<double> weight_, data_, reference_, centre_;
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
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  out_.iterations.push_back({std::move(what), number, beta, phi_d, phi_m, out_.products, seconds});
  if (seen_) seen_(out_.iterations.back());
}

void Run::prepare() {
  const auto& p = problem_;
  reference_ = p.reference.empty() ? std::vector<double>(p.g->columns()) : p.reference;
  data_ = p.data;
  weight_.resize(data_.size());
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const bool used = !std::isnan(data_[i]);
    weight_[i] = used ? 1 / p.sigma[i] : 0;
    if (!used) data_[i] = 0;
  }
  out_.weight = cell_weights(p, settings_, out_.z0);
  regulariser_ = std::make_unique<Regulariser>(p.mesh, p.active, settings_.alphas, out_.weight,
                                               settings_.weights_in_gradients, settings_.threads);
  centre_ = reference_;
  if (!settings_.reference_in_gradients) {  // the same minimum, around m̃ = R⁻¹ R_s m_ref
    regulariser_->apply_smallness(reference_, centre_);
    regulariser_->solve(centre_, 1e-12);
  }
  objective_ = {p.g.get(), data_, weight_, regulariser_.get(), centre_};
  out_.data = objective_.used();
  out_.target = settings_.chi * static_cast<double>(out_.data);
}

void Run::smooth() {
  if (settings_.solver == Solver::model_space) cooled();
  else if (settings_.choice == Choice::gcv || settings_.choice == Choice::l_curve || settings_.posterior)
    smooth_dense();
  else smooth_in_data_space();
}

/// Ten values of β a decade around the one chosen.
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
  const int before = out_.products;
  const Lanczos solved(
      objective_, out_.target, lanczos,
      [&](const Step& step) {
        out_.products = before + step.steps;
        log("lanczos", step.steps, step);
      },
      progress_);
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
  if (settings_.posterior) out_.deviation = dense.posterior_deviation(out_.beta);
}

/// A secant in (ln β, ln φ_d), whose slope is taken between 0.2 and 1.5.
double Run::find_beta(double beta, double largest_step, const std::function<double(double)>& at) {
  double before_t = 0, before_f = 0, slope = 0.7;
  for (int trial = 0; trial < 30; ++trial) {
    const double t = std::log(beta), f = std::log(at(beta) / out_.target);
    if (std::fabs(std::exp(f) - 1) <= settings_.misfit_tolerance) return beta;
    if (trial > 0 && std::fabs(t - before_t) > 1e-7)
      slope = std::clamp((f - before_f) / (t - before_t), 0.2, 1.5);
    before_t = t;
    before_f = f;
    beta = std::exp(t - std::clamp(f / slope, -largest_step, largest_step));
  }
  out_.converged = false;
  out_.reason = "most trials of beta";
  out_.warnings.push_back(
      fmt::format("after 30 trials of β, φ_d is {:.2f} times its target", std::exp(before_f)));
  return beta;
}

/// The slow twin: β cooled from λ_max(K), conjugate gradients with the diagonal at each.
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
      settings_.choice == Choice::fixed ? settings_.beta : find_beta(largest / 10, std::log(10.0), at);
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
  const auto largest = largest_magnitudes(regulariser_->magnitudes(less_centre()));
  SparseStage stage;
  stage.epsilon = largest;
  for (double& e : stage.epsilon) e = e > 0 ? e : 1;
  const double first_epsilon = stage.epsilon[0];
  double part = 1, phi = INFINITY;
  constexpr int most_steps = 80;
  for (int step = 0, in_stage = 0; step < most_steps; ++step) {
    if (in_stage == 0) {
      part = std::max(part / 1.25, settings_.epsilon);
      for (std::size_t t = 0; t < 4; ++t)
        stage.epsilon[t] = part * (largest[t] > 0 ? largest[t] : first_epsilon);
      stage.scale = sparse_scales(settings_.norms, stage.epsilon, regulariser_->magnitudes(less_centre()));
      if (step > 0 && settings_.choice != Choice::fixed) {
        const double ratio = out_.target / out_.phi_d;
        if (std::fabs(1 / ratio - 1) > std::min(0.1, 2 * settings_.misfit_tolerance))
          out_.beta *= std::clamp(ratio, 0.5, 2.0);
      }
      phi = INFINITY;
    }
    regulariser_->reweight(sparse_factors(settings_.norms, stage, regulariser_->magnitudes(less_centre())));
    equations_->set_beta(out_.beta);
    const auto done = problem_.bounds.any()
                          ? minimise_within(*equations_, problem_.bounds, out_.model, 1e-2, 0, 60, progress_)
                          : minimise(*equations_, out_.model, 1e-4, false, 1000, progress_);
    out_.products += done.products;
    out_.phi_d = done.phi_d;
    const double phi_m = value_of_sparse(stage), now = done.phi_d + out_.beta * phi_m;
    line("sparse", step + 1, out_.beta, done.phi_d, phi_m);
    if (now > phi * (1 + 1e-6))
      out_.warnings.push_back(fmt::format("step {}: φ rose from {:.6g} to {:.6g}", step + 1, phi, now));
    const bool last_stage = part <= settings_.epsilon;
    const bool still = (phi - now) < 1e-4 * now;
    const bool fits = settings_.choice == Choice::fixed ||
                      std::fabs(done.phi_d / out_.target - 1) <= std::max(0.05, settings_.misfit_tolerance);
    phi = now;
    out_.converged = last_stage && still && fits;
    if (out_.converged) break;
    in_stage = in_stage + 1 < 2 || (last_stage && fits && !still) ? in_stage + 1 : 0;
  }
  out_.reason = out_.converged ? "converged" : "most steps of sparse norms";
}

void Run::bounded() {
  const auto before = out_.model;
  problem_.bounds.clip(out_.model);
  if (out_.model == before) return;  // the smooth model lies within them: it is the answer
  if (!equations_) equations_ = std::make_unique<NormalEquations>(objective_);
  int number = 0;
  double least = 0;  // of the gradient: what the tolerance leaves of that at the start
  Descent last;
  const auto descend = [&](double beta, double part) {
    last = minimise_within(*equations_, problem_.bounds, out_.model, part, least, 3000, progress_);
    if (least == 0) least = settings_.tolerance * last.began;
    out_.products += last.products;
    line("bounds", ++number, beta, last.phi_d, phi_m_now());
    return last.phi_d;
  };
  // Roughly at first: each trial of β from the model of the last.
  const auto at = [&](double beta) {
    equations_->set_beta(beta);
    const double rough = descend(beta, 1e-2);
    const bool near = settings_.choice != Choice::discrepancy || std::fabs(rough / out_.target - 1) < 0.1;
    return near && last.gradient > least ? descend(beta, 0) : rough;
  };
  if (settings_.choice == Choice::discrepancy) out_.beta = find_beta(out_.beta, std::log(10.0), at);
  else at(out_.beta);
  if (!last.converged) {
    out_.converged = false;
    out_.reason = "most products within bounds";
  }
}

void Run::finish() {
  out_.predicted.resize(problem_.g->rows());
  problem_.g->apply(out_.model, out_.predicted);
  out_.phi_d = 0;
  for (const auto& set : problem_.sets) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = set.first; i < set.first + set.count; ++i) {
      if (!(weight_[i] > 0)) continue;
      const double r = weight_[i] * (data_[i] - out_.predicted[i]);
      sum += r * r;
      ++count;
    }
    out_.phi_d += sum;
    out_.chi_squared.push_back(count > 0 ? sum / static_cast<double>(count) : 0);
  }
  const auto u = [&](const std::vector<double>& from) {
    std::vector<double> less(out_.model);
    for (std::size_t c = 0; c < less.size(); ++c) less[c] -= from[c];
    return less;
  };
  // By its definition: a reference outside the gradients counts in the smallness alone.
  regulariser_->reweight(std::nullopt);
  out_.phi_m = settings_.reference_in_gradients ? regulariser_->terms(u(reference_))
                                                : regulariser_->terms(out_.model, u(reference_));
  for (std::size_t c = 0; problem_.bounds.any() && c < out_.model.size(); ++c)
    out_.on_bounds += out_.model[c] <= problem_.bounds.lower[c] || out_.model[c] >= problem_.bounds.upper[c];
  const double chi = out_.phi_d / out_.target;
  if (settings_.choice == Choice::discrepancy && out_.converged && std::isfinite(out_.beta) &&
      std::fabs(chi - 1) > std::max(0.05, settings_.misfit_tolerance) && chi > 1)
    out_.warnings.push_back(fmt::format("φ_d is {:.3f} times its target", chi));
}

Outcome Run::all() {
  prepare();
  smooth();
  const bool moved = std::isfinite(out_.beta) && out_.beta > 0;
  if (!settings_.norms.square() && moved) sparse();
  else if (problem_.bounds.any() && moved) bounded();
  finish();
  return std::move(out_);
}

}  // namespace

std::vector<double> cell_weights(const Problem& p, const Settings& settings, double& z0) {
  switch (settings.weighting) {
    case Weighting::none:
      break;
    case Weighting::distance:
      return distance_weights(p.mesh, p.active, {p.easting, p.northing, p.up}, settings.exponent,
                              settings.threads);
    case Weighting::sensitivity: {
      std::vector<double> weight(p.sigma.size()), volume;
      for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = std::isnan(p.data[i]) ? 0 : 1 / p.sigma[i];
      for (std::size_t c = 0; c < p.g->columns(); ++c)
        volume.push_back(p.mesh.prism(p.active.empty() ? c : p.active[c]).volume());
      return sensitivity_weights(*p.g, weight, volume);
    }
    case Weighting::depth: {
      z0 = settings.z0;
      if (z0 == 0) {  // of the station nearest to the middle of all
        const std::size_t n = p.easting.size();
        double middle[2] = {0, 0};
        for (std::size_t s = 0; s < n; ++s) {
          middle[0] += p.easting[s] / static_cast<double>(n);
          middle[1] += p.northing[s] / static_cast<double>(n);
        }
        std::size_t nearest = 0;
        const auto distance = [&](std::size_t s) {
          return std::hypot(p.easting[s] - middle[0], p.northing[s] - middle[1]);
        };
        for (std::size_t s = 1; s < n; ++s)
          if (distance(s) < distance(nearest)) nearest = s;
        std::vector<double> row(p.g->columns());
        p.g->row(nearest, row);
        z0 = fit_z0(p.mesh, p.active, row, p.easting[nearest], p.northing[nearest], settings.exponent);
      }
      return depth_weights(p.mesh, p.active, z0, settings.exponent);
    }
  }
  return std::vector<double>(p.g->columns(), 1.0);
}

Outcome invert(const Problem& problem, const Settings& settings,
               const std::function<void(const Iteration&)>& seen, Progress* progress) {
  check(problem, settings);
  return Run(problem, settings, seen, progress).all();
}

}  // namespace terrane::inversion
