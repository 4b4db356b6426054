// Choice of the potential that is solved for around a current electrode: the difference from a primary
// potential in closed form (formula/primary.hpp), that of a half space, of the layers in a column of cells,
// or beside a vertical contact, whichever describes the cells best; or the total potential if none does.
//
// The source of a secondary potential is the current density (σ − σ_p) E_p in cells whose conductivity σ
// differs from the conductivity σ_p of the primary's medium; E_p is the field of the primary potential. On
// the mesh it has an error proportional to (h/d)², d the distance from the electrode and h the width of the
// cell. The resulting error of potentials was measured with contacts at 0.25 to 4 cells and contrasts of
// resistivity from 1/100 to 100 (docs/theory/electric.md). It is 1.5 % |σ_p − σ|/|σ_p + σ| (h/d)² on the
// electrode's side of such cells. Beyond them it is 2.8 % (h/d)² times the larger of |σ_p/σ − 1| and
// |σ/σ_p − 1|, because little of the flux or of the potential remains there.
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

/// For each current electrode the medium of its primary potential; empty if the total potential is solved
/// for. Below an uneven surface the primary potential is that below the slope at the electrode
/// (formula/slope.hpp).
using Primaries = std::map<std::size_t, std::optional<Primary>>;

/// The primaries of all current electrodes, chosen from the medium around them and between them and the
/// potential electrodes of the same arrays. Throws InputError: `secondary` was asked for, and there is no
/// primary potential. errors: receives for each electrode the estimated relative error of potentials; or null
Primaries primaries_of(const TensorMesh& mesh, const Conductivity& conductivity, const Parameters& parameters,
                       const Electrodes& electrodes, std::map<std::size_t, double>* errors = nullptr);

/// Arrays as they are solved for. Errors of `automatic` potentials differ from source to source; so current
/// and potential electrodes are exchanged if that reduces the error or, for errors within 20 % of each other,
/// if the potential electrodes are farther apart or, for equal distances, occur in more arrays, or lie
/// farther west. But if one of an array's two pairs of electrodes occurs in at least five times as many
/// arrays as the other pair, it is always used as the pair of current electrodes. None of this depends on
/// which pair is named first, so arrays ABMN and MNAB have the same data. Over uneven ground, unless this
/// needs many more solves, the list of arrays is followed by that of exchanged arrays, and data are the mean
/// of both.
Electrodes as_solved(const TensorMesh& mesh, const Conductivity& conductivity, const Parameters& parameters,
                     const Electrodes& electrodes);

/// The choices of `automatic` on this mesh, to be repeated on another mesh of the same earth.
TakenElsewhere taken_on(const TensorMesh& mesh, const Conductivity& conductivity,
                        const Parameters& parameters, const Electrodes& electrodes);

/// The electrodes whose total potentials are corrected by those over homogeneous ground on the same mesh:
/// those in a half space for which `automatic` finds no primary potential.
std::vector<std::size_t> held_against_homogeneous(const Primaries& primaries,
                                                  const Conductivity& conductivity,
                                                  const Parameters& parameters);

}  // namespace terrane::electric
