// Electrode arrays in two more formats.
//
//   SuperSting   (.stg) three lines on the instrument and the unit, then records separated by commas: number,
//                user, date, time, V/I (ohm), its error (tenths of a percent), current (mA), apparent
//                resistivity (ohm m), command file, and x, y, z of two current and two potential electrodes.
//                The polarity of the current electrodes follows from the sign of the apparent resistivity
//   R2, ResIPy   (protocol.dat) a count, then records of a number, four electrodes and V/I (ohm); in 3-D
//                (R3t) each electrode has the number of its string before it. Behind V/I stand: its standard
//                deviation (R2); its phase (mrad, a lag is negative), standard deviation and that of the
//                phase (cR2). Programs for forward models write apparent resistivities last, which are not
//                read. Positions are in electrodes.dat or elec.csv in the same folder, one electrode per
//                line: x z or x y z, or as their names say, with the label "17" or "string 17". R2 has the
//                order M, N, A, B, ResIPy A, B, M, N: by reciprocity V/I is the same
#pragma once

#include <string_view>

#include "terrane/io/electrodes.hpp"

namespace terrane::io {

/// Whether the first bytes are those of a SuperSting file.
bool begins_sting(std::string_view head);
bool begins_protocol(std::string_view head);

/// Throws InputError with the line.
ElectrodeData read_sting(TextReader& in);
/// beside: the content of electrodes.dat or elec.csv.
ElectrodeData read_protocol(TextReader& in, TextReader& beside);
/// Reads also the list of electrodes in the folder of the file `in`. Throws InputError also if there is none.
ElectrodeData read_protocol(TextReader& in);

}  // namespace terrane::io
