// Choice of the potential that is solved for around a current electrode: the difference from a primary
// potential in closed form (formula/primary.hpp) of a half space, of the layers that a column of cells has,
// or beside a vertical contact, whichever describes the cells; or the total potential, where none does.
//
// A secondary potential begins with (σ − σ_p) E_p of the cells that are not the primary's medium. The mesh
// has these fluxes wrong by a part of (h/d)², d from the electrode and h the width of the cell. Measured with
// contacts at 0.25 to 4 cells and media of 1/100 to 100 times the resistivity (docs/theory/electric.md), the
// error of potentials is 1.5 % |σ_p − σ|/|σ_p + σ| (h/d)² on the own side of such cells, and beyond, where
// little of the flux or of the potential is left, 2.8 % |σ_p/σ − 1| (h/d)², or |σ/σ_p − 1|.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "terrane/mesh/tensor_mesh.hpp"
#include "terrane/physics/electric/formula/primary.hpp"
#include "terrane/physics/electric/grid/assemble.hpp"
#include "terrane/physics/electric/parameters.hpp"
#include "terrane/survey/electrodes.hpp"

namespace terrane::electric {

/// For each current electrode the medium of its primary potential, or none where the total potential is
/// solved for. Under an uneven surface the primary potential is that below the slope at the electrode
/// (formula/slope.hpp).
using Primaries = std::map<std::size_t, std::optional<Primary>>;

/// The primaries of all electrodes that arrays take current from, chosen by the medium around them and on the
/// way to the electrodes that measure with them. Throws InputError: `secondary`, where there is no primary
/// potential. errors: receives for each the estimated relative error of potentials; or null
Primaries primaries_of(const TensorMesh& mesh, const Conductivity& conductivity, const Parameters& parameters,
                       const Electrodes& electrodes, std::map<std::size_t, double>* errors = nullptr);

/// Arrays as they are solved for: with `automatic` potentials, whose errors differ from source to source,
/// current and potential electrodes change places where this leaves less; or, where both leave as little,
/// where the latter are farther apart, or come first from west to east. But electrodes of many more arrays
/// than the others are always those of currents. So ABMN and MNAB are one array, and their data the same.
/// Under uneven ground, where solves the other way are not many, arrays are followed by as many turned ones,
/// and data are the mean of both.
Electrodes as_solved(const TensorMesh& mesh, const Conductivity& conductivity, const Parameters& parameters,
                     const Electrodes& electrodes);

/// The choices of `automatic` on this mesh, to be repeated on another mesh of the same earth.
TakenElsewhere taken_on(const TensorMesh& mesh, const Conductivity& conductivity,
                        const Parameters& parameters, const Electrodes& electrodes);

/// The electrodes whose total potentials are corrected by those of homogeneous ground on the same mesh: where
/// `automatic` finds no primary potential, in a half space.
std::vector<std::size_t> held_against_homogeneous(const Primaries& primaries,
                                                  const Conductivity& conductivity,
                                                  const Parameters& parameters);

}  // namespace terrane::electric
