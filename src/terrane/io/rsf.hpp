// Madagascar's RSF: a text of key=value words (the last one of a key counts) and numbers beside it or behind
// it.
//
//   n1=300 d1=0.004 o1=0 label1="Time" unit1="s"  n2=… data_format="native_float" in="shot.rsf@"
//
// The first axis is the fastest. Two kinds of contents are known by the first axis: time (its unit s or ms,
// or its label) makes gathers of receivers (axis 2) and shots (axis 3), both on lines of even steps along
// easting; depth makes a mesh with one property of cells whose centres are the samples: depth downward,
// easting, northing. Read are floats of either byte order, as text too, in="stdin" for numbers that follow
// the text in the same file. Written are files of that last kind. Heights and northings of gathers, which RSF
// has no words for, are in keys of Terrane's own (source_up, source_northing, receiver_up, receiver_northing,
// m); without them they are 0.
//
//   n, o, d of axes 1 to 3        applied; n of the others must be 1; of times without d a note
//   unit of axes                  lengths and times; others are refused
//   label, unit of the numbers    what a property is, and its unit
//   data_format, esize            native_float, xdr_float, ascii_float; others are refused
//   in                            "stdin", or a file in the folder of the header
//   numbers beyond the axes       refused
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "terrane/io/gathers.hpp"

namespace terrane::io {

/// name: for messages; bytes: the whole file; numbers: reads the file that `in` names; property: that of the
/// cells; if empty, label and unit tell it, or it is the density. Throws InputError: another kind of numbers
/// or axes, too few.
std::variant<Gathers, MeshData> read_rsf(const std::string& name, std::string_view bytes,
                                         const std::function<std::string(const std::string&)>& numbers,
                                         const std::string& property = {}, std::size_t memory = 0);

/// Throws InputError: sources or receivers that stand on no line of even steps along easting.
void write_rsf(const std::string& path, const Gathers& gathers);
void check_rsf(const std::string& path, const Gathers& gathers);
/// field: which property; empty: the only one. Throws InputError: cells of different widths, no such
/// property.
void write_rsf(const std::string& path, const MeshData& data, const std::string& field = {});
void check_rsf(const std::string& path, const MeshData& data, const std::string& field = {});

}  // namespace terrane::io
