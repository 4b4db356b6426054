// Electrode arrays in the formats of programs and instruments for resistivity surveys.
//
//   RES2DINV     one item per line: title, unit spacing, kind of electrode array, number of data, whether x
//                is that of the first electrode (0) or of the middle (1), whether there are
//                chargeabilities; then lines of data and possibly topography. Kinds 1 to 7 (Wenner α,
//                pole-pole, dipole-dipole, Wenner β and γ, pole-dipole, Wenner-Schlumberger) and 11 (any,
//                with the positions of electrodes) are read. Remote electrodes of pole-pole and pole-dipole
//                arrays are those of the file if it used their exact geometric factors
//   Syscal       tables of Prosys: Spa.1 to Spa.4 are A, B, M, N along the line; Rho, Dev. (per cent),
//                M (mV/V), Vp (mV), In (mA); units in heads of columns count before these
//
// These settings of files are applied: kind of array, meaning of x, number of data, IP unit, kind of value
// (apparent resistivity or resistance), kind of error, topography (with distances horizontal or along the
// ground). Other kinds, x of the middle of pole-dipole arrays, and units other than mV/V and mrad are refused
// or noted. Numbers after the topography, which define fixed regions, are noted.
#pragma once

#include <string_view>

#include "terrane/io/electrodes.hpp"

namespace terrane::io {

/// Whether the first bytes are those of a RES2DINV file.
bool begins_res2dinv(std::string_view head);
bool begins_syscal(std::string_view head);

/// Electrodes are along easting; their heights are those of the topography, or else on the ground. Throws
/// InputError with the line.
ElectrodeData read_res2dinv(TextReader& in);
ElectrodeData read_syscal(TextReader& in);

}  // namespace terrane::io
