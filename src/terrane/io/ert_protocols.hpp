// Electrode arrays in two more formats.
//
//   SuperSting   (.stg) three lines on the instrument and the unit, then records separated by commas: number,
//                user, date, time, V/I (ohm), its error (tenths of a percent), current (mA), apparent
//                resistivity (ohm m), command file, and x, y, z of two current and two potential electrodes.
//                The polarity of the current electrodes follows from the sign of the apparent resistivity
//   R2, ResIPy   (protocol.dat) a count, then records of a number, four electrodes and V/I (ohm); a sixth
//                number is its standard deviation if it is above zero in all records. Positions are in
//                electrodes.dat in the same folder, one electrode per line: x z or x y z. R2 has the order M,
//                N, A, B, ResIPy A, B, M, N: by reciprocity V/I is the same
#pragma once

#include <string_view>

#include "terrane/io/electrodes.hpp"

namespace terrane::io {

/// Whether the first bytes are those of a SuperSting file.
bool begins_sting(std::string_view head);
bool begins_protocol(std::string_view head);

/// Throws InputError with the line.
ElectrodeData read_sting(TextReader& in);
/// places: the content of electrodes.dat.
ElectrodeData read_protocol(TextReader& in, TextReader& places);
/// Reads also electrodes.dat in the folder of the file `in`. Throws InputError also if there is none.
ElectrodeData read_protocol(TextReader& in);

}  // namespace terrane::io
