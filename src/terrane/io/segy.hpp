// SEG-Y and SU: traces with headers of 240 bytes.
//
// SEG-Y (SEG Technical Standards Committee: revision 1, 2002; revision 2, 2017; 2.1, 2023): a text of 3200
// bytes, 400 bytes about all traces, and traces of one length. Read are revisions 0 to 2.1 of either byte
// order; written is revision 1, big-endian. SU (Seismic Unix) has the traces alone, in the byte order of the
// machine that wrote it, in IEEE floats; its bytes from 181 on have other meanings.
//
//   3217, 117 step                of the file, else of the traces; traces that say another are noted
//   3221, 115, 3269 samples       the count that fills the file (segy_layout.hpp), also beyond 16 bits
//   3225 kind of samples          1 to 3, 5 to 12, 15, 16; 4 is refused
//   3253, 3257 gain, sign         noted
//   3255 unit of length           applied to places, heights and offsets
//   3505 more texts               passed over, by the file's length; -1: up to ((SEG: EndText))
//   3507 more headers             passed over, by the file's length; that called SEG00001 is applied
//   3513, 3521, 3529              traces, first trace, texts at the end: applied; fewer traces are refused
//   29 kind                       11 pressure; 12, 13, 14 velocities up, north, east; dead ones are noted
//   69, 71, 215 scales            applied to heights, places and times
//   89 unit of places             1 lengths; 2, 3, 4 longitude and latitude; others are noted
//   103 static corrections        noted
//   109 delay                     applied; traces that begin at different times are refused
//   203, 205 unit of samples      applied; a factor to another unit is noted
//
// Held are: the times of samples (whole microseconds), number of the shot, places of source and receiver in
// units of 10⁻⁴ to 1 m; which component a trace has (the standard calls the velocities vertical, cross-line
// and in-line). Where all places are zero, offsets are taken for eastings. Notes are the attribute "note".
#pragma once

#include <bit>
#include <string>
#include <string_view>

#include "terrane/io/gathers.hpp"

namespace terrane::io {

enum class SegySamples { ieee, ibm };

/// bytes: the whole file; name: for messages; memory: that the traces may take; 0: what the machine has left.
/// Throws InputError: no time between samples, samples of another kind, a file that ends inside a trace.
Gathers read_segy(const std::string& name, std::string_view bytes, std::size_t memory = 0);
Gathers read_su(const std::string& name, std::string_view bytes, std::size_t memory = 0);

/// Throws InputError, what check_segy() throws, or a value that IBM floats do not hold.
void write_segy(const std::string& path, const Gathers& gathers, SegySamples samples = SegySamples::ieee);
void write_su(const std::string& path, const Gathers& gathers, std::endian order = std::endian::native);
/// Throws where the format cannot hold this: more samples than 32767 (SU: 65535), a time between them that is
/// no whole number of microseconds up to as many, a first time that is no whole number of milliseconds,
/// places beyond 2³¹ m.
void check_segy(const std::string& path, const Gathers& gathers);
void check_su(const std::string& path, const Gathers& gathers);

/// Whether these first bytes are those of a SEG-Y file.
bool begins_segy(std::string_view head);

}  // namespace terrane::io
