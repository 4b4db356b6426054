// NumPy arrays (.npy): float32, float64 and integers, either byte order, C or Fortran order; one array
// per file.
#pragma once

#include <string>
#include <string_view>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// Values are returned in C order, whatever the order in the file. name: for messages; bytes: the whole file.
Array read_npy(const std::string& name, std::string_view bytes);
Array read_npy(const std::string& path);
/// float64, C order, little-endian.
void write_npy(const std::string& path, const Array& array);

}  // namespace terrane::io
