// Arrays of electrodes of two more kinds.
//
//   SuperSting   (.stg) three lines on the instrument and the unit, then records parted by commas: number,
//   user,
//                date, time, V/I (ohm), its error (tenths of a percent), current (mA), apparent resistivity
//                (ohm m), command file, and x, y, z of two electrodes of current and two of potential; the
//                order of the poles of current is that which gives the apparent resistivity its sign
//   R2, ResIPy   (protocol.dat) a count, then records of a number, four electrodes and V/I (ohm); a sixth
//   number
//                that is above zero in all records is its standard deviation. Places stand in electrodes.dat
//                beside it: x z or x y z, an electrode a line. R2 has M, N, A, B, ResIPy A, B, M, N: by
//                reciprocity V/I is that of both
#pragma once

#include <string_view>

#include "terrane/io/electrodes.hpp"

namespace terrane::io {

/// Whether first bytes are those of such a file.
bool begins_sting(std::string_view head);
bool begins_protocol(std::string_view head);

/// Throws InputError with the line.
ElectrodeData read_sting(TextReader& in);
/// places: those of electrodes.dat.
ElectrodeData read_protocol(TextReader& in, TextReader& places);
/// With electrodes.dat beside the file that `in` reads. Throws InputError also where there is none.
ElectrodeData read_protocol(TextReader& in);

}  // namespace terrane::io
