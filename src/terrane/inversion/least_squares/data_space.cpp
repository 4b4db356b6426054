#include "terrane/inversion/least_squares/data_space.hpp"

#include <algorithm>
#include <cmath>

#include "terrane/base/error.hpp"
#include "terrane/solve/matrices/matrix_kernels.hpp"

namespace terrane::inversion {

namespace {

/// Multiplies by K: u = W G R⁻¹ Gᵀ W v; half: gets R⁻¹ Gᵀ W v [columns]. Returns the number of inner steps of
/// R⁻¹.
int multiply_by_k(const Objective& o, double tolerance, std::span<const double> v, std::span<double> u,
                  std::vector<double>& half) {
  std::vector<double> weighted(v.begin(), v.end());
  for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] *= o.weight[i];
  half.resize(o.g->columns());
  o.g->apply_transpose(weighted, half);
  const int inner = o.regulariser->solve(half, tolerance);
  if (!u.empty()) {
    o.g->apply(half, u);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] *= o.weight[i];
  }
  return inner;
}

/// The x between low and high at which the increasing function f is nearest to 0.
template <class F>
double bisect(double low, double high, const F& f) {
  for (int i = 0; i < 200 && high - low > 1e-15 * std::fabs(low); ++i) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (f(middle) < 0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

// ---- Lanczos ----

/// Sets the first Lanczos vector v₁ = r/‖r‖; returns whether any steps are needed.
bool Lanczos::begin(double target) {
  auto r = objective_.weighted_residual(objective_.centre);
  s_.length = solve::norm(r);
  s_.last = {0, INFINITY, s_.length * s_.length, 0};
  const double misfit = settings_.misfit ? settings_.misfit(r) : s_.length * s_.length;
  if (misfit <= target && !(settings_.beta > 0)) {
    reason_ = "the reference model fits the data already";
    converged_ = true;
    return false;
  }
  if (!std::isfinite(s_.length))
    throw InputError("inversion", "the data or their uncertainties are not finite");
  for (double& value : r) value /= s_.length;
  s_.v.push_back(std::move(r));
  return true;
}

void Lanczos::orthogonalise(std::span<double> u) const {
  for (int twice = 0; twice < 2; ++twice)
    for (const auto& v : s_.v) {
      const double along = solve::dot(v, u);
      for (std::size_t i = 0; i < u.size(); ++i) u[i] -= along * v[i];
    }
}

Lanczos::Lanczos(const Objective& objective, double target, const LanczosSettings& settings,
                 const std::function<void(const Step&)>& seen, Progress* progress, LanczosState from,
                 const std::function<void(const LanczosState&, bool)>& between)
    : objective_(objective), settings_(settings), s_(std::move(from)) {
  if (s_.v.empty() && !begin(target)) return;
  std::vector<double> u(objective_.g->rows()), half;
  const auto most = std::min<std::size_t>(static_cast<std::size_t>(settings_.most_steps), objective_.used());
  while (true) {
    const bool stops = progress != nullptr && progress->cancelled();
    if (between && !s_.a.empty()) between(s_, stops);
    if (stops) throw Cancelled();
    if (progress != nullptr) progress->advance(0);
    s_.inner_steps += multiply_by_k(objective_, settings_.inner_tolerance, s_.v.back(), u, half);
    s_.a.push_back(solve::dot(s_.v.back(), u));
    orthogonalise(u);
    next_ = solve::norm(u);
    const double before = s_.last.beta;
    const double beta = settings_.beta > 0 ? settings_.beta : beta_for(target, u);
    s_.last = at(beta);
    if (seen) seen(s_.last);
    const double rest = unsettled(beta);
    s_.still = std::fabs(beta / before - 1) < settings_.tolerance ? s_.still + 1 : 0;
    if (beta > 0 && s_.still >= 2 && rest <= settings_.tolerance * (s_.last.phi_d - rest)) {
      reason_ = "converged";
      converged_ = true;
      break;
    }
    if (next_ <= 1e-13 * s_.a.front() || s_.a.size() == objective_.used()) {
      converged_ = beta > 0;
      reason_ = converged_ ? "converged"
                           : "no model fits the data to the target: their uncertainties are too small";
      break;
    }
    if (s_.a.size() == most) {
      reason_ = "most steps";
      break;
    }
    for (double& value : u) value /= next_;
    s_.b.push_back(next_);
    s_.v.push_back(u);
  }
}

/// The vector y of data_space.hpp: solves (T + β) y = ‖r‖ e₁ by elimination from the last row to the first,
/// and back substitution.
std::vector<double> Lanczos::coefficients(double beta) const {
  const std::size_t k = s_.a.size();
  std::vector<double> pivot(k), y(k);
  for (std::size_t i = k; i-- > 0;)
    pivot[i] = s_.a[i] + beta - (i + 1 < k ? s_.b[i] * s_.b[i] / pivot[i + 1] : 0.0);
  y[0] = s_.length / pivot[0];
  for (std::size_t i = 1; i < k; ++i) y[i] = -s_.b[i - 1] * y[i - 1] / pivot[i];
  return y;
}

/// The β at which φ_d = β²‖y‖² equals the target (φ_d increases with β); 0 if φ_d exceeds the target even at
/// the smallest β.  beyond: b_{k+1} v_{k+1}, for a misfit that is a function of the residuals, W (d − G m) =
/// β V y − y_k b_{k+1} v_{k+1}
double Lanczos::beta_for(double target, std::span<const double> beyond) const {
  const double top = std::log(largest_eigenvalue());
  std::vector<double> r(settings_.misfit ? beyond.size() : 0);
  const auto excess = [&](double t) {
    const double beta = std::exp(t);
    const auto y = coefficients(beta);
    if (!settings_.misfit) return beta * beta * solve::dot(y, y) - target;
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = -y.back() * beyond[i];
    for (std::size_t k = 0; k < y.size(); ++k)
      for (std::size_t i = 0; i < r.size(); ++i) r[i] += beta * y[k] * s_.v[k][i];
    return settings_.misfit(r) - target;
  };
  if (excess(top - 30) > 0) return 0;
  return std::exp(bisect(top - 30, top + 30, excess));
}

double Lanczos::largest_eigenvalue() const {
  double most = 0;  // Gershgorin's bound of T's eigenvalues, at most three times the largest
  for (std::size_t i = 0; i < s_.a.size(); ++i)
    most = std::max(most, s_.a[i] + (i > 0 ? s_.b[i - 1] : 0.0) + (i < s_.b.size() ? s_.b[i] : 0.0));
  if (s_.a.size() > 200) return most;
  const auto eigen = solve::eigen_tridiagonal(s_.a, std::span(s_.b).first(s_.a.size() - 1));
  return eigen.value.back();
}

Step Lanczos::at(double beta) const {
  if (s_.a.empty() || !std::isfinite(beta)) return s_.last;
  const auto y = coefficients(beta);
  const double last = next_ * y.back();
  Step step{steps(), beta, beta * beta * solve::dot(y, y) + last * last, 0};
  for (std::size_t i = 0; i < y.size(); ++i)
    step.phi_m += s_.a[i] * y[i] * y[i] + (i + 1 < y.size() ? 2 * s_.b[i] * y[i] * y[i + 1] : 0.0);
  return step;
}

double Lanczos::unsettled(double beta) const {
  const double last = next_ * coefficients(beta).back();
  return last * last;
}

std::vector<double> Lanczos::model(double beta) const {
  std::vector<double> m(objective_.centre.begin(), objective_.centre.end());
  if (s_.a.empty() || !std::isfinite(beta)) return m;
  const auto y = coefficients(beta);
  std::vector<double> sum(objective_.g->rows()), half;
  for (std::size_t k = 0; k < y.size(); ++k)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += y[k] * s_.v[k][i];
  multiply_by_k(objective_, settings_.inner_tolerance, sum, {}, half);
  for (std::size_t c = 0; c < m.size(); ++c) m[c] += half[c];
  return m;
}

// ---- dense ----

DenseDataSpace::DenseDataSpace(const Objective& objective, double inner_tolerance, Progress* progress)
    : objective_(objective), inner_tolerance_(inner_tolerance) {
  const std::size_t n = objective_.g->rows();
  std::vector<double> k(n * n), one(n), half;
  for (std::size_t i = 0; i < n; ++i) {
    go_on(progress);
    if (!(objective_.weight[i] > 0)) continue;
    one[i] = 1;
    multiply_by_k(objective_, inner_tolerance_, one, std::span(k).subspan(i * n, n), half);
    one[i] = 0;
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) k[i * n + j] = k[j * n + i] = 0.5 * (k[i * n + j] + k[j * n + i]);
  auto eigen = solve::eigen_symmetric(k, n);
  const auto r = objective_.weighted_residual(objective_.centre);
  lambda_.resize(n);
  c_.resize(n);
  u_.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = n - 1 - i;
    lambda_[i] = std::max(eigen.value[from], 0.0);
    std::copy_n(eigen.vector.data() + from * n, n, u_.data() + i * n);
    c_[i] = solve::dot(std::span(u_).subspan(i * n, n), r);
  }
}

double DenseDataSpace::phi_d(double beta) const {
  double sum = 0;
  for (std::size_t i = 0; i < c_.size(); ++i) {
    const double part = beta / (lambda_[i] + beta) * c_[i];
    sum += part * part;
  }
  return sum;
}

double DenseDataSpace::phi_m(double beta) const {
  double sum = 0;
  for (std::size_t i = 0; i < c_.size(); ++i) {
    const double part = c_[i] / (lambda_[i] + beta);
    sum += lambda_[i] * part * part;
  }
  return sum;
}

double DenseDataSpace::degrees_of_freedom(double beta) const {
  double sum = 0;
  for (const double lambda : lambda_) sum += lambda / (lambda + beta);
  return sum;
}

double DenseDataSpace::gcv(double beta) const {
  double rest = static_cast<double>(objective_.used()) - degrees_of_freedom(beta);
  return static_cast<double>(objective_.used()) * phi_d(beta) / (rest * rest);
}

/// The curvature of the curve with X = ln φ_d, Y = ln φ_m and the parameter ln β:
/// κ = (X'Y'' − Y'X'')/(X'² + Y'²)^(3/2).
double DenseDataSpace::curvature(double beta) const {
  double pm1 = 0, pm2 = 0;
  for (std::size_t i = 0; i < c_.size(); ++i) {
    const double l = lambda_[i], s = l + beta, c2 = c_[i] * c_[i];
    pm1 -= 2 * beta * l * c2 / (s * s * s);
    pm2 -= 2 * beta * l * (l - 2 * beta) * c2 / (s * s * s * s);
  }
  const double pd = phi_d(beta), pm = phi_m(beta), pd1 = -beta * pm1, pd2 = -beta * pm1 - beta * pm2;
  const double x1 = pd1 / pd, y1 = pm1 / pm, x2 = pd2 / pd - x1 * x1, y2 = pm2 / pm - y1 * y1;
  return (x1 * y2 - y1 * x2) / std::pow(x1 * x1 + y1 * y1, 1.5);
}

std::vector<double> DenseDataSpace::model(double beta) const {
  const std::size_t n = c_.size();
  std::vector<double> sum(n), half, m(objective_.centre.begin(), objective_.centre.end());
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum[j] += c_[i] / (lambda_[i] + beta) * u_[i * n + j];
  multiply_by_k(objective_, inner_tolerance_, sum, {}, half);
  for (std::size_t c = 0; c < m.size(); ++c) m[c] += half[c];
  return m;
}

double DenseDataSpace::discrepancy(double target) const {
  const double top = std::log(lambda_.front());
  if (phi_d(std::exp(top - 40)) > target || phi_d(std::exp(top + 30)) < target) return 0;
  return std::exp(bisect(top - 40, top + 30, [&](double t) { return phi_d(std::exp(t)) - target; }));
}

/// Finds the β that minimises worse(β): first on a grid of 400 values, then by golden section around the
/// best.
template <class Function>
double DenseDataSpace::best(const Function& worse) const {
  const double top = std::log(lambda_.front()), low = top - 30;
  double at = top, least = INFINITY;
  constexpr int nodes = 400;
  for (int i = 0; i <= nodes; ++i) {
    const double t = low + (top + 2 - low) * i / nodes, value = worse(std::exp(t));
    if (value < least) {
      least = value;
      at = t;
    }
  }
  double a = at - (top + 2 - low) / nodes, b = at + (top + 2 - low) / nodes;
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  for (int i = 0; i < 60; ++i) {
    const double p = b - golden * (b - a), q = a + golden * (b - a);
    if (worse(std::exp(p)) < worse(std::exp(q))) b = q;
    else a = p;
  }
  return std::exp(0.5 * (a + b));
}

double DenseDataSpace::gcv_minimum() const {
  return best([&](double beta) { return gcv(beta); });
}

/// The corner of the L-curve, within the range in which both φ_d and φ_m change: at its ends, rounding causes
/// false corners.
double DenseDataSpace::l_curve_corner() const {
  const double all = solve::dot(c_, c_);
  return best([&](double beta) {
    const double fitted = phi_d(beta);
    return fitted < 1e-3 * static_cast<double>(objective_.used()) || fitted > 0.5 * all ? 0
                                                                                        : -curvature(beta);
  });
}

/// var        = (1/β) [ (R⁻¹)_jj − Σ_n (R⁻¹GᵀW u_n)_j² / (λ_n + β) ]
/// resolution = (R⁻¹GᵀW (K + β)⁻¹ W G)_jj = Σ_n (R⁻¹GᵀW u_n)_j (GᵀW u_n)_j / (λ_n + β)
/// of cell j; λ_n, u_n: eigenvalues and eigenvectors of K. The other symbols are those of data_space.hpp.
DenseDataSpace::Posterior DenseDataSpace::posterior(double beta) const {
  const std::size_t n = c_.size();
  Posterior made{std::vector<double>(objective_.g->columns()), std::vector<double>(objective_.g->columns())};
  auto& [variance, resolution] = made;
  std::vector<double> half, whole(variance.size());
  objective_.regulariser->diagonal_of_inverse(variance);
  for (std::size_t i = 0; i < n; ++i) {
    if (lambda_[i] <= 1e-14 * lambda_.front()) break;
    multiply_by_k(objective_, inner_tolerance_, std::span(u_).subspan(i * n, n), {}, half);
    objective_.regulariser->apply(half, whole);
    for (std::size_t c = 0; c < variance.size(); ++c) {
      variance[c] -= half[c] * half[c] / (lambda_[i] + beta);
      resolution[c] += half[c] * whole[c] / (lambda_[i] + beta);
    }
  }
  for (double& v : variance) v = std::sqrt(std::max(v, 0.0) / beta);
  return made;
}

}  // namespace terrane::inversion
