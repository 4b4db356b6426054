// Meshes that other programs made, Gmsh (io/gmsh.hpp) and SPECFEM3D (io/specfem_mesh.hpp): their shapes.
//
// Elements of 20 and 27 nodes have curved sides where these nodes do not lie on straight edges; the seven
// nodes that 20 lack are where the 20 put them. Elements that go around the other way are turned.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "terrane/io/specfem_mesh.hpp"
#include "terrane/physics/elastic/mesh/mesh.hpp"

namespace terrane::elastic {

struct MeshFile {
  std::vector<Vector> nodes;                           ///< m
  std::vector<std::array<std::uint32_t, 8>> elements;  ///< nodes in the order of Hexahedron
  std::vector<std::array<Vector, 27>> curves;  ///< nodes of elements that are not straight, as Mesh::curves
  std::vector<std::uint32_t> curve;            ///< index of each element in `curves`, or Mesh::straight
  std::vector<std::uint32_t> group;            ///< group of each element, as an index into `groups`
  std::vector<std::string> groups;             ///< names; SPECFEM3D's materials by their numbers
  std::vector<Medium> media;                   ///< media of the groups; empty where the file has none
  /// For groups of SPECFEM3D whose medium a file gives by place (tomography.hpp): the name of this file in
  /// the folder.
  std::vector<std::string> tomography;

  using Face = io::HexahedraFile::Face;
  std::vector<Face> faces;
  std::vector<std::string> sides;  ///< names: of SPECFEM3D west, east, south, north, bottom, top

  std::size_t turned = 0;  ///< elements
  double bent = 0;         ///< largest distance of a node from where straight edges put it, m
  std::vector<std::string> notes;
};

/// Throws FileError, InputError with the line, or the byte of a binary file.
MeshFile read_gmsh(const std::filesystem::path& file);
MeshFile read_gmsh(std::string name, std::string bytes);
MeshFile read_specfem_mesh(const std::filesystem::path& folder);
/// Its parts, by the names of the files; for tests.
MeshFile read_specfem_mesh(const std::string& name, const io::SpecfemMeshFiles& files);

/// Elements, with waves leaving through the sides named in `absorbing`. Medium of an element: its group.
/// curved: with the sides that the file has; else corners alone count.
/// Throws InputError: a side that the file does not have; a face that is no outer face of any element; nodes
/// that lie apart by less than 1e-6 of the shortest edge, where parts of the mesh do not meet (where).
Mesh mesh_of(const MeshFile& file, const std::vector<std::string>& absorbing, bool curved = true);

}  // namespace terrane::elastic
