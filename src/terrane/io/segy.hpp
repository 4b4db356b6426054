// SEG-Y and SU: traces with headers of 240 bytes.
//
// SEG-Y (SEG Technical Standards Committee: revision 1, 2002; revision 2, 2017; 2.1, 2023): a text header of
// 3200 bytes, a binary header of 400 bytes, and traces of equal length. Reads revisions 0 to 2.1 of either
// byte order; writes revision 1, big-endian. SU (Seismic Unix) has only the traces, in the byte order of the
// machine that wrote it, as IEEE floats; the bytes from 181 on have other meanings.
//
// The numbers are byte positions: above 3200 in the file (binary header), up to 240 in a trace header.
//
//   3217, 117 sampling interval   from the binary header, else from the traces; other intervals are noted
//   3221, 115, 3269 samples       the count that fits the file length (segy_layout.hpp), also above 16 bits
//   3225 format of samples        1 to 3, 5 to 12, 15, 16; 4 is refused
//   3253, 3257 gain, sign         noted
//   3255 unit of length           applied to positions, heights and offsets
//   3505 further text headers     skipped; their number is that which fits the file length; -1: up to
//                                 ((SEG: EndText))
//   3507 further trace headers    skipped; their number is that which fits the file length; the one named
//                                 SEG00001 is applied
//   3513, 3521, 3529              number of traces, first trace, texts at the end: applied; fewer traces are
//                                 refused
//   29 kind of trace              11 pressure; 12, 13, 14 motion up, north, east; dead traces are noted
//   69, 71, 215 scale factors     applied to heights, positions and times
//   89 unit of positions          1 lengths; 2, 3, 4 longitude and latitude; others are noted
//   103 static corrections        noted
//   169 factor of whole numbers   noted
//   109 delay                     applied; traces that begin at different times are refused
//   203, 205 unit of samples      applied: what traces hold has its name by their unit, such as velocity; one
//                                 that contradicts their kind, and a factor to another unit, are noted
//
// Written files contain the sampling interval (whole microseconds), shot numbers, positions of sources and
// receivers in units of 10⁻⁴ to 1 m, the unit of samples, and the component of each trace (the standard calls
// the velocities vertical, cross-line and in-line). If all positions are zero on reading, offsets are used as
// eastings, with a note. Notes are in the attribute "note".
#pragma once

#include <bit>
#include <string>
#include <string_view>

#include "terrane/io/gathers.hpp"

namespace terrane::io {

enum class SegySamples { ieee, ibm };

/// bytes: the whole file; name: for messages; memory: maximum number of bytes for the traces; 0: the free
/// memory. Throws InputError: no sampling interval, an unknown format of samples, a file that ends inside a
/// trace.
Gathers read_segy(const std::string& name, std::string_view bytes, std::size_t memory = 0);
Gathers read_su(const std::string& name, std::string_view bytes, std::size_t memory = 0);

/// Throws what check_segy() throws; InputError also for a value too large for IBM floats.
void write_segy(const std::string& path, const Gathers& gathers, SegySamples samples = SegySamples::ieee);
void write_su(const std::string& path, const Gathers& gathers, std::endian order = std::endian::native);
/// Throws if the format cannot hold the gathers: more than 32767 samples (SU: 65535), a sampling interval
/// that is not a whole number of microseconds up to the same limit, a first time that is not a whole number
/// of milliseconds, positions beyond 2³¹ m.
void check_segy(const std::string& path, const Gathers& gathers);
void check_su(const std::string& path, const Gathers& gathers);

/// Whether the first bytes are those of a SEG-Y file.
bool begins_segy(std::string_view head);

}  // namespace terrane::io
