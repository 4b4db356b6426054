// Data with outliers: Huber's norm in place of the square.
//
//   Σ ρ(r),  ρ(r) = r² for |r| ≤ c, and 2c|r| − c² beyond,  r: residuals divided by σ
//
// The sum is minimised by reweighting: least-squares problems with the weights ω = min(1, c/|r|) of the last
// residuals are solved until the weights no longer change. Outliers must not influence how closely other data
// are fitted; so β (the weight of φ_m, objective.hpp) is chosen by Huber's second proposal,
//   Σ min(r², c²) / κ = χ N,  κ the mean of min(r², c²) for normal noise, χ N the target (objective.hpp)
// (Huber 1981, Robust Statistics, ch. 6), which for c → ∞ is φ_d = χ N.
#pragma once

#include <span>
#include <vector>

namespace terrane::inversion {

/// κ: the mean of min(r², c²) for normally distributed r with standard deviation 1.
double huber_consistency(double c);
/// Huber's misfit Σ min(r², c²) / κ over the residuals r of all data that are used, κ = huber_consistency(c).
double huber_misfit(std::span<const double> residual, double c);
/// The weight ω of a residual r: min(1, c/|r|).
double huber_weight(double residual, double c);

}  // namespace terrane::inversion
