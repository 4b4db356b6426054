#include "terrane/io/hexahedra.hpp"

#include <utility>

namespace terrane::io {

void HexahedraFile::add(std::span<const std::uint32_t> its_nodes, std::uint32_t its_group) {
  element_nodes.insert(element_nodes.end(), its_nodes.begin(), its_nodes.end());
  first.push_back(element_nodes.size());
  group.push_back(its_group);
}

Dataset to_dataset(const HexahedraFile& mesh) {
  Dataset data;
  data.dimensions = {{"node", mesh.nodes.size()}, {"element", mesh.size()}, {"corner", 8}};
  constexpr const char* axes[3] = {"easting", "northing", "up"};
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double> places;
    places.reserve(mesh.nodes.size());
    for (const auto& node : mesh.nodes) places.push_back(node[d]);
    data.coordinates.push_back({std::string("node_") + axes[d], "m", "", {"node"}, std::move(places), {}});
  }
  std::vector<std::int32_t> corners, counts;
  std::vector<std::string> names;
  for (std::size_t n = 0; n < mesh.size(); ++n) {
    const auto nodes = mesh.element(n);
    for (std::size_t k = 0; k < 8; ++k) corners.push_back(static_cast<std::int32_t>(nodes[k]));
    counts.push_back(static_cast<std::int32_t>(nodes.size()));
    names.push_back(mesh.groups[mesh.group[n]]);
  }
  data.variables = {
      {"corners",
       "",
       "nodes of each element, around its bottom and then its top",
       {"element", "corner"},
       std::move(corners),
       {}},
      {"nodes", "", "how many nodes an element has", {"element"}, std::move(counts), {}},
      {"volume", "", "name of the volume or number of the material", {"element"}, std::move(names), {}}};
  std::string sides, groups;
  for (const auto& one : mesh.sides) sides += (sides.empty() ? "" : ", ") + one;
  for (const auto& one : mesh.groups) groups += (groups.empty() ? "" : ", ") + one;
  data.attributes.push_back({"volumes", groups});
  data.attributes.push_back({"sides", sides.empty() ? "none" : sides});
  return data;
}

}  // namespace terrane::io
