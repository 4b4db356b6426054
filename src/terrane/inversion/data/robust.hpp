// Data with outliers: Huber's norm in place of the square.
//
//   Σ ρ(r),  ρ(r) = r² for |r| ≤ c, and 2c|r| − c² beyond,  r: residuals divided by σ
//
// by reweighting: a least-squares problem with the weights ω = min(1, c/|r|) of the last residuals, until
// they stay. Outliers must not decide how closely the others are fitted; so β is that of Huber's second
// proposal,
//   Σ min(r², c²) / κ = χ N,  κ the mean of min(r², c²) for normal noise
// (Huber 1981, Robust Statistics, ch. 6), which for c → ∞ is φ_d = χ N.
#pragma once

#include <span>
#include <vector>

namespace terrane::inversion {

/// Mean of min(r², c²) where r is normal with a deviation of 1.
double huber_consistency(double c);
/// Σ min(r², c²) / κ over the residuals of data that count.
double huber_misfit(std::span<const double> residual, double c);
/// min(1, c/|r|)
double huber_weight(double residual, double c);

}  // namespace terrane::inversion
