// Krylov methods as loops that depend neither on the operator nor on how and where vectors are stored.
//
//   Space         vectors and operations on them:
//     Vector, Number            Number: double, or Complex<double>
//     Vector vector()           a zero vector in the domain of A: solutions and directions
//     Vector image()            a zero vector in the range of A: right-hand sides and residuals
//     Number dot(u, v)          uᵀv, not conjugated
//     Number inner(u, v)        uᴴv
//     double norm(u)
//     subtract(b, q, r)         r = b − q
//     blend(α, u, β, v)         v = α u + β v; if β is 0, v = α u even if v was NaN
//     advance(α, p, q, x, r)    x += α p,  r −= α q
//     double advance_and_norm(α, p, q, x, r)    the same, and returns ‖r‖; optional
//   apply(p, q)       q = A p; may return pᵀq
//   precondition(r, z, scale)   z = B r, B ≈ A⁻¹; scale = 1/‖b‖, for a B in single precision; may return rᵀz
//   precondition.new_direction(r, β, p)   optional, for conjugate gradients: p = B r + β p without storing z
//   precondition.residual(b, x, room)     optional: room.r = b − A x; returns ‖room.r‖ (RoomOfGradients)
//   precondition.whole_step(room, x, scale, fresh)   optional: a whole iteration of conjugate gradients on a
//                     device that keeps α and β (device_gradients.hpp); returns a StepDone, or nothing
//
// If A = Aᵀ and B = Bᵀ are complex, conjugate gradients without conjugation are COCG (van der Vorst &
// Melissen 1990); one loop does both. The Space computes all sums: bitwise independent of the number of
// threads and ranks if it uses parallel/reduce.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "terrane/solve/report.hpp"
#include "terrane/solve/values.hpp"

namespace terrane::solve {

/// Numbers that an iteration returns to the host. If the iteration broke down, x is unchanged.
template <class Number>
struct StepDone {
  Number rho{}, curvature{};  ///< rᵀz, pᵀA p
  double norm = 0;            ///< ‖r‖
};

/// One iteration of conjugate gradients, on the host (GradientSteps) or by kernels of a device that keep α
/// and β there. If find_alpha() returns false, the iteration ends without changing x.
template <class Steps>
void gradients_iteration(Steps&& steps) {
  steps.precondition();                     // z = B r;  ρ' = rᵀz
  steps.find_beta();                        // β = ρ'/ρ, or 0 after a restart;  ρ = ρ'
  steps.direction();                        // p = z + β p
  steps.product();                          // q = A p;  pᵀq
  if (steps.find_alpha()) steps.advance();  // α = ρ/pᵀq;  x += α p;  r −= α q;  ‖r‖
}

namespace detail {

/// The reason why no step can follow from these ρ = rᵀz and pᵀAp, if there is one: for a real operator both
/// must be positive, for a complex one not zero.
inline std::optional<Reason> breakdown(double rho, double curvature) {
  if (!std::isfinite(rho) || !std::isfinite(curvature)) return Reason::not_finite;
  if (!(rho > 0) || !(curvature > 0)) return Reason::breakdown;
  return std::nullopt;
}
inline std::optional<Reason> breakdown(const Complex<double>& rho, const Complex<double>& curvature) {
  const double a = std::hypot(rho.re, rho.im), b = std::hypot(curvature.re, curvature.im);
  if (!std::isfinite(a) || !std::isfinite(b)) return Reason::not_finite;
  if (a == 0 || b == 0) return Reason::breakdown;
  return std::nullopt;
}

/// History of the errors of a solve, and the reason why it ends.
struct Course {
  const Stopping& stopping;
  SolveReport report;
  double halved = std::numeric_limits<double>::infinity();
  int last_halved = 0;

  explicit Course(const Stopping& when) : stopping(when) { report.reason = Reason::most_iterations; }
  void reached(int iteration, double error) {
    report.iterations = iteration;
    report.history.push_back(error);
    if (!(error <= halved / 2)) return;
    halved = error;
    last_halved = iteration;
  }
  /// Whether the iterations end here. error: ‖r‖/‖b‖. carried: whether r was only updated by the recurrence
  /// and not computed as b − A x; such an error does not count as convergence.
  bool ends(double error, bool carried, double change) {
    const int n = report.iterations;
    if (!std::isfinite(error)) report.reason = Reason::not_finite;
    else if (error <= stopping.relative && !carried && change <= stopping.most_change)
      report.reason = Reason::converged;
    else if (n - last_halved >= stopping.patience) report.reason = Reason::stagnated;
    else if (n < stopping.most_iterations) return false;
    return true;
  }
};

/// z = B r; returns rᵀz, which the preconditioner may have computed itself.
template <class Space, class Precondition, class Vector>
typename Space::Number precondition_and_product(Space& space, const Precondition& precondition,
                                                const Vector& r, Vector& z, double scale) {
  using Answer = decltype(precondition(r, z, scale));
  if constexpr (std::is_same_v<Answer, typename Space::Number>) {
    return precondition(r, z, scale);
  } else {
    precondition(r, z, scale);
    return space.dot(r, z);
  }
}
/// q = A p; returns pᵀq, which the operator may have computed itself.
template <class Space, class Apply, class Vector>
typename Space::Number apply_and_product(Space& space, const Apply& apply, Vector& p, Vector& q) {
  using Answer = decltype(apply(p, q));
  if constexpr (std::is_same_v<Answer, typename Space::Number>) {
    return apply(p, q);
  } else {
    apply(p, q);
    return space.dot(p, q);
  }
}
/// p = z + β p
template <class Space, class Precondition, class Vector>
void new_direction(Space& space, const Precondition& precondition, const Vector& r, const Vector& z,
                   typename Space::Number beta, Vector& p) {
  if constexpr (requires { precondition.new_direction(r, beta, p); }) precondition.new_direction(r, beta, p);
  else space.blend(typename Space::Number{1}, z, beta, p);
}
template <class Space, class Vector>
double advance_and_norm(Space& space, typename Space::Number alpha, const Vector& p, const Vector& q,
                        Vector& x, Vector& r) {
  if constexpr (requires { space.advance_and_norm(alpha, p, q, x, r); }) {
    return space.advance_and_norm(alpha, p, q, x, r);
  } else {
    space.advance(alpha, p, q, x, r);
    return space.norm(r);
  }
}

/// The steps of an iteration as separate calls. z and q share memory: z is added to p before q is computed.
template <class Space, class Apply, class Precondition>
struct GradientSteps {
  using Number = typename Space::Number;
  using Vector = typename Space::Vector;
  Space& space;
  const Apply& apply;
  const Precondition& preconditioner;
  Vector &x, &r, &p, &q;
  double scale;
  bool fresh;
  StepDone<Number>& done;
  Number next = {}, beta = {};

  void precondition() { next = precondition_and_product(space, preconditioner, r, q, scale); }
  void find_beta() {
    beta = fresh ? Number{} : next / done.rho;
    done.rho = next;
  }
  void direction() { new_direction(space, preconditioner, r, q, beta, p); }
  void product() { done.curvature = apply_and_product(space, apply, p, q); }
  bool find_alpha() const { return !breakdown(done.rho, done.curvature); }
  void advance() { done.norm = advance_and_norm(space, done.rho / done.curvature, p, q, x, r); }
};

}  // namespace detail

/// Vectors of conjugate gradients, for several solves. z and q share memory: z is added to p before q is
/// computed. A Space may provide this memory by scratch(); the preconditioner may use it while it computes z.
template <class Space>
struct RoomOfGradients {
  typename Space::Vector r, p, q;
  explicit RoomOfGradients(Space& space) : r(space.image()), p(space.vector()), q(scratch(space)) {}

 private:
  static typename Space::Vector scratch(Space& space) {
    if constexpr (requires { space.scratch(); }) return space.scratch();
    else return space.image();
  }
};

/// CG and COCG:
///
///   r = b − A x;  z = B r;  p = z;  ρ = rᵀz
///   repeat   q = A p;  α = ρ/pᵀq;  x += α p;  r −= α q
///            stop when ‖r‖ ≤ tol ‖b‖, with r computed as b − A x; if only the updated r is so small,
///            restart from x
///            z = B r;  ρ' = rᵀz;  p = z + (ρ'/ρ) p;  ρ = ρ'
///
/// Memory traffic of an iteration in numbers per unknown, without that of A and B: pᵀq 2, x and r 6, ‖r‖ 1,
/// rᵀz 2, p 3.
template <class Space, class Apply, class Precondition>
SolveReport conjugate_gradients(Space& space, const Apply& apply, const Precondition& precondition,
                                const typename Space::Vector& b, typename Space::Vector& x,
                                const Stopping& stopping, RoomOfGradients<Space>& room) {
  using Number = typename Space::Number;
  auto &r = room.r, &q = room.q;
  detail::Course course(stopping);
  const double norm_b = space.norm(b);
  if (norm_b == 0) {
    space.blend(Number{1}, b, Number{}, x);
    course.report.reason = Reason::converged;
    return course.report;
  }
  const double scale = 1 / norm_b;
  const auto anew = [&] {
    if constexpr (requires { precondition.residual(b, x, room); }) {
      return precondition.residual(b, x, room) * scale;
    } else {
      apply(x, q);
      space.subtract(b, q, r);
      return space.norm(r) * scale;
    }
  };
  double error = anew(), change = std::numeric_limits<double>::infinity();
  StepDone<Number> done;
  bool fresh = true;  // true: r was computed as b − A x, and p restarts from z
  if (!stopping.change) change = 0;
  course.reached(0, error);

  for (int n = 0;; ++n) {
    if (error <= stopping.relative && change <= stopping.most_change && !fresh) {
      error = anew();
      fresh = true;
    }
    if (course.ends(error, !fresh, change)) break;

    std::optional<StepDone<Number>> on_device;
    if constexpr (requires { precondition.whole_step(room, x, scale, fresh); })
      on_device = precondition.whole_step(room, x, scale, fresh);
    if (on_device) done = *on_device;
    else
      gradients_iteration(detail::GradientSteps<Space, Apply, Precondition>{space, apply, precondition, x, r,
                                                                            room.p, q, scale, fresh, done});
    fresh = false;
    if (const auto wrong = detail::breakdown(done.rho, done.curvature)) {
      course.report.reason = *wrong;
      break;
    }
    error = done.norm * scale;
    if (stopping.change) change = stopping.change();
    course.reached(n + 1, error);
  }
  course.report.residual = fresh ? error : anew();
  return course.report;
}

/// The quasi-minimal residual method for A = Aᵀ, B = Bᵀ, by coupled two-term recurrences without look-ahead
/// (Freund & Nachtigal 1994): the steps of COCG, with residuals that fall smoothly.
///
///   q = A p;  α = ρ/pᵀq;  r −= α q;  ϑ' = ‖r‖/τ;  c² = 1/(1 + ϑ'²);  d = c²ϑ² d + c²α p;  x += d
///   τ = τ ϑ' c;  z = B r;  ρ' = rᵀz;  p = z + (ρ'/ρ) p
///
/// A prime marks a new value; ϑ and d begin with 0, τ with ‖r‖. After n iterations ‖b − A x‖ ≤ √(n+1) τ. This
/// bound costs nothing; the residual is computed only if the bound is small enough. Memory traffic in numbers
/// per unknown, without that of A and B, in the order above: pᵀq 2, r 3, ‖r‖ 1, d 3, x 3, rᵀz 2, p 3.
template <class Space, class Apply, class Precondition>
SolveReport quasi_minimal_residuals(Space& space, const Apply& apply, const Precondition& precondition,
                                    const typename Space::Vector& b, typename Space::Vector& x,
                                    const Stopping& stopping) {
  using Number = typename Space::Number;
  auto r = space.image(), z = space.vector(), p = space.vector(), q = space.image(), d = space.vector();
  detail::Course course(stopping);
  const double norm_b = space.norm(b), scale = norm_b > 0 ? 1 / norm_b : 0;
  const auto residual = [&] {  // computes the residual in q
    apply(x, q);
    space.subtract(b, q, q);
    return space.norm(q) * scale;
  };
  double error = residual(), theta = 0;
  space.blend(Number{1}, q, Number{}, r);
  double tau = error * norm_b;
  Number rho{};
  course.reached(0, error);
  while (!course.ends(error, false, 0)) {
    const int n = course.report.iterations;
    const Number next = detail::precondition_and_product(space, precondition, r, z, scale);
    space.blend(Number{1}, z, n == 0 ? Number{} : next / rho, p);
    rho = next;
    const Number curvature = detail::apply_and_product(space, apply, p, q);
    if (const auto wrong = detail::breakdown(rho, curvature)) {
      course.report.reason = *wrong;
      break;
    }
    const Number alpha = rho / curvature;
    space.blend(-alpha, q, Number{1}, r);
    const double next_theta = space.norm(r) / tau, square = 1 / (1 + next_theta * next_theta);
    space.blend(square * alpha, p, Number{square * theta * theta}, d);
    space.blend(Number{1}, d, Number{1}, x);
    tau *= next_theta * std::sqrt(square);
    theta = next_theta;
    error = std::sqrt(n + 2.0) * tau * scale;
    if (error <= stopping.relative) error = residual();
    course.reached(n + 1, error);
  }
  course.report.residual = residual();
  return course.report;
}

/// Stabilised bi-conjugate gradients (van der Vorst 1992), for any A and B: two products with A and two with
/// B per iteration. ŝ is the initial r; ρ' = ŝᴴr is computed anew, ρ is that of the previous iteration. In
/// the first iteration β = 0.
///
///   β = (ρ'/ρ)(α/ω);  p = r + β (p − ω v);  y = B p;  v = A y;  α = ρ'/ŝᴴv;  r −= α v;  x += α y
///   z = B r;  t = A z;  ω = tᴴr/tᴴt;  x += ω z;  r −= ω t
///
/// Memory traffic in numbers per unknown, without that of A and B: ρ' 2, p 3 + 3, ŝᴴv 2, r and x 6, ω 3, x
/// and r 6, ‖r‖ 1.
template <class Space, class Apply, class Precondition>
SolveReport stabilised_bi_conjugate_gradients(Space& space, const Apply& apply,
                                              const Precondition& precondition,
                                              const typename Space::Vector& b, typename Space::Vector& x,
                                              const Stopping& stopping) {
  using Number = typename Space::Number;
  auto r = space.image(), shadow = space.image(), p = space.image(), v = space.image(), t = space.image();
  auto y = space.vector(), z = space.vector();
  detail::Course course(stopping);
  const double norm_b = space.norm(b), scale = norm_b > 0 ? 1 / norm_b : 0;
  apply(x, t);
  space.subtract(b, t, r);
  space.blend(Number{1}, r, Number{}, shadow);
  double error = space.norm(r) * scale;
  Number rho{1}, alpha{1}, omega{1};
  course.reached(0, error);
  while (!course.ends(error, false, 0)) {
    const Number next = space.inner(shadow, r);
    const Number beta = course.report.iterations == 0 ? Number{} : next / rho * (alpha / omega);
    space.blend(-omega, v, Number{1}, p);
    space.blend(Number{1}, r, beta, p);
    rho = next;
    precondition(p, y, scale);
    apply(y, v);
    alpha = rho / space.inner(shadow, v);
    space.advance(alpha, y, v, x, r);
    precondition(r, z, scale);
    apply(z, t);
    omega = space.inner(t, r) / space.inner(t, t);
    space.advance(omega, z, t, x, r);
    error = space.norm(r) * scale;
    course.reached(course.report.iterations + 1, error);
  }
  apply(x, t);
  space.subtract(b, t, r);
  course.report.residual = space.norm(r) * scale;
  if (course.report.converged() && course.report.residual > 10 * stopping.relative)
    course.report.reason = Reason::stagnated;  // r of the recurrence has drifted from b − A x
  return course.report;
}

}  // namespace terrane::solve
