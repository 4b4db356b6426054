// Tensor meshes with cell properties in HDF5.
//
// Layout: /easting [n_east + 1], /northing [n_north + 1], /up [n_up + 1]: faces in ascending order, float64,
// each with the string attribute "units" ("m"). Every other dataset of the root group with shape [n_up,
// n_north, n_east] is a cell property with attributes "units" and "long_name"; "density" is the one that a
// gravity model needs. String attributes of the root group are kept.
#pragma once

#include <string>

#include "terrane/io/content.hpp"

namespace terrane::io {

/// memory: maximum number of bytes; 0: the free memory.
MeshData read_hdf5(const std::string& path, std::size_t memory = 0);
void write_hdf5(const std::string& path, const MeshData& mesh);

}  // namespace terrane::io
