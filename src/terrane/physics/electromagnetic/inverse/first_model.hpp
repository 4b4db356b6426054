// The homogeneous ground whose fields fit the measured ones best: the first model of an inversion whose job
// names no medium.
//
// Candidates are three ρ per decade from 0.1 to 1e5 Ω·m, then twelve around the best. For each, the fields F
// of all sources over a half-space below air are computed by Hankel transforms; the ρ with the least sum of
// (ln |d| − ln |F(ρ)|)² over the measured fields d is chosen. Sources and receivers lie on the ground; the
// formulas do not allow points on an interface, so they are moved down by a thousandth of the least distance
// between them.
#pragma once

#include <optional>

#include "terrane/physics/electromagnetic/inverse/fields.hpp"
#include "terrane/physics/electromagnetic/problem.hpp"

namespace terrane::electromagnetic::inverse {

/// The common height of all sources and receivers; empty if their heights differ by more than a metre.
std::optional<double> common_height(const Problem& problem);

/// The best resistivity, Ω·m; not finite if no source is a wire, an electric dipole or a vertical magnetic
/// dipole.
/// ground: common_height()
double nearest_half_space(const Problem& problem, const MeasuredFields& measured, double ground);

}  // namespace terrane::electromagnetic::inverse
