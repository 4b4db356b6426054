// The volume of a mesh, with an installed Terrane.
#include <fmt/format.h>

#include <terrane/base/version.hpp>
#include <terrane/mesh/tensor_mesh.hpp>

int main() {
  const auto mesh = terrane::TensorMesh::regular({0, 1000, 0, 2000, -500, 0}, {10, 20, 5});
  double volume = 0;
  for (std::size_t cell = 0; cell < mesh.size(); ++cell) volume += mesh.prism(cell).volume();
  fmt::print("{}\nvolume {} m3\n", terrane::version_line(), volume);
  return volume == 1e9 ? 0 : 1;
}
