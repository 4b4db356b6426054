// Meshes of other programs, Gmsh (io/gmsh.hpp) and SPECFEM3D (io/specfem_mesh.hpp), converted to elements.
//
// Elements of 20 and 27 nodes have curved sides if these nodes do not lie on straight edges; the seven nodes
// that are missing in elements of 20 are interpolated from the 20. The orientation of mirrored elements is
// corrected.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/io/specfem_mesh.hpp"
#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

struct MeshFile {
  std::vector<Vector> nodes;                           ///< positions, m
  std::vector<std::array<std::uint32_t, 8>> elements;  ///< indices of nodes in the order of Hexahedron
  std::vector<std::array<Vector, 27>> curves;          ///< nodes of curved elements, as in Mesh::curves
  std::vector<std::uint32_t> curve;  ///< index of each element in `curves`, or Mesh::straight
  std::vector<std::uint32_t> group;  ///< group of each element, as an index into `groups`
  std::vector<std::string> groups;   ///< names of groups; of SPECFEM3D: numbers of materials
  std::vector<Medium> media;         ///< media of the groups; empty if the file has none
  /// For each group of SPECFEM3D whose medium depends on the position (tomography.hpp): the name of its file
  /// in the folder; else empty.
  std::vector<std::string> tomography;

  using Face = io::HexahedraFile::Face;
  std::vector<Face> faces;
  std::vector<std::string> sides;  ///< names of sides; of SPECFEM3D west, east, south, north, bottom, top

  std::size_t turned = 0;  ///< number of elements whose orientation was corrected
  double bent = 0;         ///< largest distance of a node from its position with straight edges, m
  std::vector<std::string> notes;
};

/// Throws FileError, InputError with the line, or the byte of a binary file.
MeshFile read_gmsh(const std::filesystem::path& file);
MeshFile read_gmsh(std::string name, std::string bytes);
MeshFile read_specfem_mesh(const std::filesystem::path& folder);
/// Reads a mesh of SPECFEM3D from the contents of its files; for tests.
MeshFile read_specfem_mesh(const std::string& name, const io::SpecfemMeshFiles& files);

/// Makes the mesh, with the sides named in `absorbing` as absorbing faces. The medium index of an element is
/// its group. curved: whether elements have the curved sides of the file; else only corners are used. Throws
/// InputError: the file has no such side; a face is not an outer face of any element; two nodes are less than
/// 1e-6 of the shortest edge apart, so that parts of the mesh are not connected there (the message says
/// where).
Mesh mesh_of(const MeshFile& file, const std::vector<std::string>& absorbing, bool curved = true);

}  // namespace terrane::elastic
