// Arrays of electrodes as programs and instruments of resistivity surveys write them.
//
//   RES2DINV     a line: title, unit spacing, kind of array, number of data, whether x is that of the first
//                electrode (0) or of the middle (1), whether there are chargeabilities; then lines of data
//                and, perhaps, topography. Kinds 1 to 7 (Wenner α, pole-pole, dipole-dipole, Wenner β and γ,
//                pole-dipole, Wenner-Schlumberger) and 11 (any, with places of electrodes) are read.
//   Syscal       tables of Prosys: Spa.1 to Spa.4 are A, B, M, N along the line; Rho, Dev. (per cent), M
//   (mV/V)
//
// What alters numbers: kind, place of x, number of data, IP unit, kind of value (apparent resistivity or
// resistance), kind of error, topography (whose distances are horizontal, or along the ground) are applied;
// other kinds, middles of pole-dipole arrays, units other than mV/V and mrad, are refused or noted. Numbers
// behind the topography, of fixed regions, are noted.
#pragma once

#include <string_view>

#include "terrane/io/electrodes.hpp"

namespace terrane::io {

/// Whether first bytes are those of such a file.
bool begins_res2dinv(std::string_view head);
bool begins_syscal(std::string_view head);

/// Electrodes stand along easting; heights from topography, else on the ground. Throws InputError with the
/// line.
ElectrodeData read_res2dinv(TextReader& in);
ElectrodeData read_syscal(TextReader& in);

}  // namespace terrane::io
