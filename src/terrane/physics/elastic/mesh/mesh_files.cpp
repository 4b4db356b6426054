#include "terrane/physics/elastic/mesh/mesh_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/gmsh.hpp"

namespace terrane::elastic {

namespace {

/// The corner number, by bits (hexahedron.hpp), for each corner in the order of file formats: around the
/// bottom, then around the top.
constexpr std::size_t corner_of[8] = {0, 1, 3, 2, 4, 5, 7, 6};
/// The 27 nodes of an element that has 20 or 27 nodes. If it has 20, centres of faces and of the element are
/// interpolated: ½ Σ edges − ¼ Σ corners of the face, ¼ Σ edges − ¼ Σ corners of the element.
std::array<Vector, 27> all_27(const MeshFile& mesh, std::span<const std::uint32_t> nodes,
                              const std::array<int, 27>& order) {
  std::array<Vector, 27> all{};
  for (std::size_t k = 0; k < nodes.size(); ++k)
    all[static_cast<std::size_t>(order[k])] = mesh.nodes[nodes[k]];
  for (int n = 0; n < 27 && nodes.size() == 20; ++n) {
    const auto at = of_27_points(n);
    const int middles = (at[0] == 0) + (at[1] == 0) + (at[2] == 0);
    if (middles < 2) continue;
    for (int m = 0; m < 27; ++m) {
      const auto other = of_27_points(m);
      const int own = (other[0] == 0) + (other[1] == 0) + (other[2] == 0);
      bool on = own < 2;
      for (std::size_t d = 0; d < 3; ++d) on = on && (at[d] == 0 || at[d] == other[d]);
      const double share = own == 0 ? -0.25 : middles == 2 ? 0.5 : 0.25;
      for (std::size_t d = 0; d < 3 && on; ++d)
        all[static_cast<std::size_t>(n)][d] += share * all[static_cast<std::size_t>(m)][d];
    }
  }
  return all;
}

/// Adds an element of a file; corrects its orientation if it is mirrored.
void add_element(MeshFile& mesh, std::span<const std::uint32_t> nodes, const std::array<int, 27>& order,
                 std::uint32_t group) {
  std::array<std::uint32_t, 8> corners;
  std::array<Vector, 8> at;
  for (std::size_t n = 0; n < 8; ++n) {
    corners[corner_of[n]] = nodes[n];
    at[corner_of[n]] = mesh.nodes[nodes[n]];
  }
  const Hexahedron shape(at);
  const bool turned = shape.map({0, 0, 0}).det < 0;
  mesh.curve.push_back(Mesh::straight);
  if (nodes.size() > 8) {
    auto all = all_27(mesh, nodes, order);
    for (std::size_t n = 0; n < 9 && turned; ++n) std::swap(all[n], all[n + 18]);
    const double bend = Hexahedron(&all).bend();
    mesh.bent = std::max(mesh.bent, bend);
    if (bend > 1e-6 * shape.shortest()) {
      mesh.curve.back() = static_cast<std::uint32_t>(mesh.curves.size());
      mesh.curves.push_back(all);
    }
  }
  if (turned) {  // swaps bottom and top
    for (std::size_t a = 0; a < 4; ++a) std::swap(corners[a], corners[a + 4]);
    ++mesh.turned;
  }
  mesh.elements.push_back(corners);
  mesh.group.push_back(group);
}

void say_what_was_changed(MeshFile& mesh) {
  if (mesh.turned > 0)
    mesh.notes.push_back(fmt::format("{} elements went around the other way and were turned", mesh.turned));
  if (!mesh.curves.empty())
    mesh.notes.push_back(
        fmt::format("{} elements have curved sides: nodes lie up to {:.3g} m from straight edges",
                    mesh.curves.size(), mesh.bent));
}

/// Converts the mesh of a file to the elements and media of an elastic run.
MeshFile shaped(const io::HexahedraFile& file) {
  MeshFile mesh;
  mesh.nodes = file.nodes;
  mesh.groups = file.groups, mesh.sides = file.sides, mesh.faces = file.faces, mesh.notes = file.notes;
  for (const auto& material : file.materials) {
    // Media of a tomography have these dummy values until its file is read (elements.cpp).
    const bool given = material.tomography.empty();
    auto medium = given ? Medium::from_speeds(material.velocity_p, material.velocity_s, material.density)
                        : Medium::from_speeds(2, 1, 1);
    medium.name = material.where;
    medium.quality_kappa = material.quality_kappa, medium.quality_mu = material.quality_mu;
    mesh.media.push_back(std::move(medium));
    mesh.tomography.push_back(material.tomography);
  }
  for (std::size_t n = 0; n < file.size(); ++n) add_element(mesh, file.element(n), file.order, file.group[n]);
  say_what_was_changed(mesh);
  return mesh;
}

/// Throws InputError if two nodes have the same position, so that parts of a mesh are not connected there.
void check_that_parts_meet(const MeshFile& file) {
  double shortest = INFINITY;
  std::vector<bool> used(file.nodes.size(), false);
  for (const auto& element : file.elements) {
    std::array<Vector, 8> corners;
    for (std::size_t a = 0; a < 8; ++a) corners[a] = file.nodes[element[a]], used[element[a]] = true;
    shortest = std::min(shortest, Hexahedron(corners).shortest());
  }
  std::vector<std::pair<Vector, std::uint32_t>> sorted;
  for (std::uint32_t n = 0; n < file.nodes.size(); ++n)
    if (used[n]) sorted.push_back({file.nodes[n], n});
  std::sort(sorted.begin(), sorted.end());
  const double near = 1e-6 * shortest;
  for (std::size_t n = 0; n < sorted.size(); ++n)
    for (std::size_t m = n + 1; m < sorted.size() && sorted[m].first[0] - sorted[n].first[0] <= near; ++m) {
      const auto &a = sorted[n].first, &b = sorted[m].first;
      if (std::fabs(a[1] - b[1]) <= near && std::fabs(a[2] - b[2]) <= near)
        throw InputError(
            "elastic: mesh",
            fmt::format("two nodes lie at easting {:.6g}, northing {:.6g}, up {:.6g} m: parts of the "
                        "mesh do not meet there",
                        a[0], a[1], a[2]),
            "Merge nodes that lie at one place (Gmsh: Coherence Mesh;).");
      if (m - n > 100'000)
        break;  // a plane of nodes of equal easting: sorting by northing makes equal nodes neighbours
    }
}

}  // namespace

MeshFile read_gmsh(std::string name, std::string bytes) {
  return shaped(io::read_gmsh(std::move(name), std::move(bytes)));
}
MeshFile read_gmsh(const std::filesystem::path& file) {
  return read_gmsh(file.string(), io::read_bytes(file.string()));
}

MeshFile read_specfem_mesh(const std::string& name, const io::SpecfemMeshFiles& files) {
  return shaped(io::read_specfem_mesh(name, files));
}
MeshFile read_specfem_mesh(const std::filesystem::path& folder) {
  return shaped(io::read_specfem_mesh(folder.string()));
}

Mesh mesh_of(const MeshFile& file, const std::vector<std::string>& absorbing, bool curved) {
  check_that_parts_meet(file);
  Mesh mesh;
  mesh.nodes = file.nodes;
  mesh.elements = file.elements;
  mesh.medium = file.group;
  mesh.media = file.media;
  if (curved && !file.curves.empty()) mesh.curves = file.curves, mesh.curve = file.curve;
  std::vector<bool> leaves(file.sides.size(), false);
  for (const auto& name : absorbing) {
    bool found = false;
    for (std::size_t n = 0; n < file.sides.size(); ++n)
      if (file.sides[n] == name) leaves[n] = found = true;
    if (!found)
      throw InputError("elastic: absorbing", fmt::format("the mesh has no side \"{}\"", name),
                       file.sides.empty() ? "It names no sides at all."
                                          : fmt::format("It has {}.", fmt::join(file.sides, ", ")));
  }
  const auto sorted = [](std::array<std::uint32_t, 4> nodes) {
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  std::map<std::array<std::uint32_t, 4>, std::pair<AbsorbingFace, int>> outer;
  for (std::uint32_t n = 0; n < mesh.size(); ++n)
    for (std::uint32_t side = 0; side < 6; ++side) {
      std::array<std::uint32_t, 4> four{};
      std::size_t at = 0;
      for (std::size_t a = 0; a < 8; ++a)
        if ((a >> side / 2 & 1) == side % 2) four[at++] = mesh.elements[n][a];
      auto& one = outer[sorted(four)];
      one.first = {n, side};
      ++one.second;
    }
  for (const auto& face : file.faces) {
    if (!leaves[face.side]) continue;
    const auto found = outer.find(sorted(face.nodes));
    if (found == outer.end() || found->second.second != 1) {
      const auto& x = file.nodes[face.nodes[0]];
      throw InputError(
          "elastic: mesh",
          fmt::format("a face of \"{}\" is no outer face of an element: at easting {:.6g}, northing "
                      "{:.6g}, up {:.6g} m",
                      file.sides[face.side], x[0], x[1], x[2]));
    }
    mesh.absorbing.push_back(found->second.first);
  }
  return mesh;
}

}  // namespace terrane::elastic
