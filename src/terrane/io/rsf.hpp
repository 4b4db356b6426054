// Madagascar's RSF: a text of key=value words (the last one of each key counts), and numbers in a separate
// file or after the text.
//
//   n1=300 d1=0.004 o1=0 label1="Time" unit1="s"  n2=… data_format="native_float" in="shot.rsf@"
//
// The first axis varies fastest and determines the kind of content. Time (by its unit s or ms, or its label):
// gathers of receivers (axis 2) and shots (axis 3), both evenly spaced along easting. Depth: a mesh with one
// property, whose cells have the samples at their centres; the axes are depth downward, easting, northing.
// Numbers are floats of either byte order, or text. With in="stdin" they follow the header in the same file,
// as in all files that Terrane writes. Heights and northings of gathers, for which RSF has no keys, are in
// keys of Terrane (source_up, source_northing, receiver_up, receiver_northing, m); without them they are 0.
//
//   n, o, d of axes 1 to 3        applied; n of the others must be 1; a time axis without d is noted
//   unit of axes                  lengths and times; others are refused
//   label, unit of the numbers    name and unit of the property
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

/// name: for messages; bytes: the whole header file; numbers: a function that reads the file named by `in`;
/// property: the property of the cells; if empty, that given by label and unit, or density. Throws
/// InputError: other kinds of numbers or axes, too few numbers.
std::variant<Gathers, MeshData> read_rsf(const std::string& name, std::string_view bytes,
                                         const std::function<std::string(const std::string&)>& numbers,
                                         const std::string& property = {}, std::size_t memory = 0);

/// Throws InputError: sources or receivers that are not evenly spaced along easting.
void write_rsf(const std::string& path, const Gathers& gathers);
void check_rsf(const std::string& path, const Gathers& gathers);
/// field: name of the property; empty: the only one. Throws InputError: cells of unequal width, no such
/// property.
void write_rsf(const std::string& path, const MeshData& data, const std::string& field = {});
void check_rsf(const std::string& path, const MeshData& data, const std::string& field = {});

}  // namespace terrane::io
