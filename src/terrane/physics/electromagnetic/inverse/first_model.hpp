// The even ground whose fields come nearest to those that were measured: what an inversion begins with where
// its job names no medium.
//
// Of each candidate ρ, three a decade from 0.1 to 1e5 Ω·m and twelve around the best, the fields of all
// sources over a half-space below air are computed by Hankel transforms; that of the least Σ |ln |d| − ln
// |F(ρ)||² of the amplitudes is taken. Sources and receivers stand on the ground; they are moved into it by a
// thousandth of the least distance between them, as formulas want.
#pragma once

#include <optional>

#include "terrane/physics/electromagnetic/inverse/fields.hpp"
#include "terrane/physics/electromagnetic/problem.hpp"

namespace terrane::electromagnetic::inverse {

/// The height of all sources and receivers; none where they differ by more than a metre.
std::optional<double> common_height(const Problem& problem);

/// Ω·m; not finite where no source is a wire, an electric dipole or an upright magnetic one.
/// ground: common_height()
double nearest_half_space(const Problem& problem, const MeasuredFields& measured, double ground);

}  // namespace terrane::electromagnetic::inverse
