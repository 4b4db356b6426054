// Gauss-Newton inversion, for data that depend non-linearly on the model: each step is a linear problem of
// this component.
//
//   φ(m) = ‖W (F(m) − d)‖² + β (m − m̃)ᵀ R (m − m̃)
//
// F(m): computed data (data/forward.hpp); m_k: the model after k steps; J: ∂F/∂m at m_k; φ_d: the first term;
// W, d, m̃, R: objective.hpp.
//
//   near m_k         F(m) ≈ F(m_k) + J (m − m_k)
//   linear problem   with the data d − F(m_k) + J m_k: its minimum m′ is computed for every β at once
//                    (data_space.hpp), or within bounds by GPCG (bounded.hpp)
//   β                such that φ_d of the linear problem is a tenth of φ_d(m_k), but not below the target
//   m_{k+1}          m_k + t (m′ − m_k), where t is 1 or is reduced, by parabolas through φ, until φ
//                    decreases by at least a tenth of the decrease that its derivative predicts (Armijo)
//
// until φ_d has reached its target and the next step would hardly lower φ. Outliers get Huber's weights,
// computed from the last residuals (robust.hpp). If there is only one minimum, the model does not depend on
// the cooling: the last steps all have the same β.
#pragma once

#include <functional>

#include "terrane/inversion/loop/problem.hpp"

namespace terrane::inversion {

/// φ_d and φ_m at a model, with constant data weights.
struct Value {
  double phi_d = 0, phi_m = 0;
  double phi(double beta) const { return phi_d + beta * phi_m; }
};
/// objective.weight: [rows] √ω/σ with Huber's weights ω; 0 for data that are not used
Value value_at(std::span<const double> predicted, std::span<const double> model, const Objective& objective);
/// The gradient of φ: −2 Jᵀ W² (d − F(m)) + 2 β R (m − m̃). objective.data are d, objective.g is J at the
/// model.
std::vector<double> gradient_at(std::span<const double> predicted, std::span<const double> model,
                                const Objective& objective, double beta);

/// The implementation of invert() for problems that have `forward`.
Outcome gauss_newton(const Problem& problem, const Settings& settings,
                     const std::function<void(const Iteration&)>& seen = {}, Progress* progress = nullptr,
                     Keeper* keeper = nullptr);

}  // namespace terrane::inversion
