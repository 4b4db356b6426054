// SEG-Y and SU: traces with headers of 240 bytes.
//
// SEG-Y (SEG Technical Standards Committee: revision 1, 2002; revision 2, 2017): a text of 3200 bytes, 400
// bytes about all traces, and traces of one length. Read are revisions 0 to 2 of either byte order with
// samples in IBM or IEEE floats, of 4 or 8 bytes, or whole numbers of 1 to 4; written is revision 1,
// big-endian. SU (Seismic Unix) has the traces alone, in the byte order of the machine that wrote it, in IEEE
// floats.
//
// Held are: the times of samples (whole microseconds), number of the shot, places of source and receiver in
// units of 10⁻⁴ to 1 m; which component a trace has (11 pressure; 12, 13, 14 the velocities up, north, east,
// which the standard calls vertical, cross-line and in-line). Where all places are zero, offsets are taken
// for eastings. Values have no unit. A header that contradicts the length of the file is passed over, and the
// attribute "note" says so.
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
/// Throws what does not fit: more samples than 32767 (SU: 65535), a time between them that is no whole number
/// of microseconds up to as many, a first time that is no whole number of milliseconds, places beyond 2³¹ m.
void check_segy(const std::string& path, const Gathers& gathers);
void check_su(const std::string& path, const Gathers& gathers);

/// Whether these first bytes are those of a SEG-Y file.
bool begins_segy(std::string_view head);

}  // namespace terrane::io
