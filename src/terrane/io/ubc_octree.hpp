// Octree meshes of UBC-GIF, converted to tensor meshes.
//
// Such a file has the numbers of smallest cells along each axis, the top south-west corner, the widths of the
// smallest cells, the number n of octree cells, and n lines i j k s: a cell is s smallest cells wide along
// every axis, and i, j, k (from 1; east, north, down) are the indices of the smallest cell at its top
// south-west corner. Models have one number for each of these lines, in the same order.
//
// The tensor mesh has the faces of all octree cells and no others, extended through the whole mesh. Each
// octree cell is a whole number of its cells, which all get its values, so that nothing is averaged; but the
// tensor mesh has more cells than the octree.
#pragma once

#include <string_view>
#include <vector>

#include "terrane/io/content.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

/// Whether the text continues with an octree mesh, from its first five lines and the number of further lines
/// or numbers.
bool is_ubc_octree(TextReader& in);
/// Whether the first bytes are those of an octree mesh and not of a tensor mesh.
bool begins_ubc_octree(std::string_view head);

/// The tensor mesh, and for each of its cells the octree cell that contains it; a note states both numbers of
/// cells. Throws InputError (file:line: cells that overlap, leave gaps, or are outside), and MemoryError
/// before the mesh is made.
MeshData read_ubc_octree(TextReader& in);

/// Copies one number per octree cell, in the unit of the file, to the cells of the tensor mesh. Throws
/// InputError.
std::vector<double> read_octree_model(TextReader& in, const Octree& octree);
/// Copies an array of one number per octree cell to the cells of the tensor mesh; other arrays are not
/// changed.
Array on_cells_of(const Octree& octree, Array array);

}  // namespace terrane::io
