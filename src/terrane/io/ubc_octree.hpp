// Octree meshes of UBC-GIF, read onto tensor meshes.
//
// Such a file has the counts of its smallest cells along each axis, the top south-west corner, the widths of
// the smallest cells, the number n of cells, and n lines i j k s: a cell is s smallest cells wide along every
// axis, and i, j, k (from 1; east, north, down) is the one at its top south-west corner. Models on it have a
// number for each of these lines, in their order.
//
// The tensor mesh has every face of every octree cell, and no other: each octree cell is whole cells of it,
// which all have its values, so that nothing is averaged. They are more: a face of a small cell is one of all
// cells beside it, too.
#pragma once

#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Whether an octree mesh follows in the text: judged by its first five lines, and by how many lines or
/// numbers there are.
bool is_ubc_octree(TextReader& in);
/// Whether first bytes are those of an octree mesh, and of no tensor mesh.
bool begins_ubc_octree(std::string_view head);

/// The tensor mesh, and the octree cell in which each of its cells lies; a note says how many cells there
/// were and are. Throws InputError (file:line: cells that overlap, leave gaps, or are outside), MemoryError
/// before it is made.
MeshData read_ubc_octree(TextReader& in);

/// Copies one number for each octree cell, as read, to the cells of the tensor mesh. Throws InputError.
std::vector<double> read_octree_model(TextReader& in, const Octree& octree);
/// The same for a bare array with one number for each octree cell; other arrays stay as they are.
Array on_cells_of(const Octree& octree, Array array);

}  // namespace terrane::io
