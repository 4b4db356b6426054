#include "terrane/io/specfem_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

constexpr std::array<int, 27> specfem_nodes{0,  2,  8,  6,  18, 20, 26, 24, 1,  5,  7,  3,  9, 11,
                                            17, 15, 19, 23, 25, 21, 4,  10, 14, 16, 12, 22, 13};

/// Reads SPECFEM3D's mesh files, found by their names.
class SpecfemMesh {
 public:
  SpecfemMesh(std::string name, const SpecfemMeshFiles& files) : name_(std::move(name)), files_(files) {}

  HexahedraFile read() {
    nodes();
    materials();
    elements();
    constexpr const char* sides[6][2] = {{"xmin", "west"},  {"xmax", "east"},     {"ymin", "south"},
                                         {"ymax", "north"}, {"bottom", "bottom"}, {"zmax", "top"}};
    for (const auto& [theirs, ours] : sides)
      faces({fmt::format("absorbing_surface_file_{}", theirs),
             fmt::format("free_or_absorbing_surface_file_{}", theirs),
             theirs == std::string("zmax") ? "free_surface_file" : ""},
            ours);
    if (find("absorbing_cpml_file"))
      mesh_.notes.push_back(
          "absorbing_cpml_file is left out: sides that waves leave through are named by "
          "simulation.absorbing");
    mesh_.order = specfem_nodes;
    return std::move(mesh_);
  }

 private:
  const std::string* find(const std::string& file) const {
    for (const auto& [name, text] : files_)
      if (name == file) return &text;
    return nullptr;
  }
  TextReader open(const std::string& file) const {
    const auto* text = find(file);
    if (!text) throw FileError(name_ + "/" + file, "is not there");
    return {name_ + "/" + file, *text};
  }
  /// Reads the number of lines that follow.
  static std::size_t count(TextReader& in, const char* what) {
    return static_cast<std::size_t>(in.integer(what, 0, static_cast<std::int64_t>(in.bytes_left())));
  }
  std::uint32_t node(TextReader& in) const {
    const auto found = node_.find(in.integer("node"));
    if (found == node_.end()) in.fail("a node that nodes_coords_file does not have");
    return found->second;
  }

  void nodes() {
    auto in = open("nodes_coords_file");
    for (auto left = count(in, "number of nodes"); left > 0; --left) {
      const auto id = in.integer("node");
      if (!node_.emplace(id, static_cast<std::uint32_t>(mesh_.nodes.size())).second)
        in.fail(fmt::format("node {} is there twice", id));
      std::array<double, 3> at;
      for (double& x : at) x = in.number("coordinate");
      mesh_.nodes.push_back(at);
    }
    in.expect_end("the nodes");
  }

  void materials() {
    auto in = open("nummaterial_velocity_file");
    std::string_view line;
    while (in.line(line)) {
      std::string text(line.substr(0, line.find_first_of("#!")));
      TextReader words(in.where(), text);
      std::string_view word;
      if (!words.token(word)) continue;
      std::vector<double> v;
      std::vector<std::string> names;  // words of a line such as "2 -1 tomography elastic file.xyz 1"
      do {
        double value = 0;
        const bool number = parse_number(word, value) && std::isfinite(value);
        if (number && names.empty()) v.push_back(value);
        else if (v.size() == 2 && v[1] < 0) names.emplace_back(word);
        else in.fail(fmt::format("\"{}\" is no number", shown(word)));
      } while (words.token(word));
      if (!names.empty()) {
        if (names.size() < 3 || names[0] != "tomography")
          in.fail(fmt::format("materials of {} are not offered", shown(names[0])),
                  "Negative numbers stand for: tomography elastic FILE.");
        HexahedraFile::Material material;
        material.tomography = names[2];
        add_material(in, v[1], material);
        continue;
      }
      if (v.size() < 5) in.fail("domain, number, density, v_P and v_S are five numbers");
      if (v[0] != 1 && v[0] != 2)
        in.fail(fmt::format("domain {} is not offered", v[0]), "1 acoustic, 2 elastic.");
      if (v[0] == 1 ? v[4] != 0 : !(v[4] > 0))
        in.fail(fmt::format("v_S of {} m/s in domain {}", v[4], v[0]), "Zero in domain 1, more in domain 2.");
      if (v.size() > 7 && v[7] != 0) in.fail("anisotropy flags are not offered");
      HexahedraFile::Material material{v[2], v[3], v[4]};
      const auto quality = [&](std::size_t n) {
        return v.size() > n && v[n] > 0 && v[n] < 9999 ? v[n] : INFINITY;
      };
      material.where = in.where();
      if (v[0] == 2) material.quality_kappa = quality(5), material.quality_mu = quality(6);
      add_material(in, v[1], material);
    }
  }
  void add_material(const TextReader& in, double number, const HexahedraFile::Material& material) {
    if (!std::isfinite(number) || std::fabs(number) > 1e9) in.fail("a material has no number");
    if (!material_
             .emplace(static_cast<std::int64_t>(number), static_cast<std::uint32_t>(mesh_.materials.size()))
             .second)
      in.fail(fmt::format("material {} is there twice", number));
    mesh_.materials.push_back(material);
    mesh_.groups.push_back(fmt::format("{}", number));
  }

  void elements() {
    auto in = open("mesh_file");
    const auto size = count(in, "number of elements");
    std::vector<std::vector<std::uint32_t>> all;
    std::unordered_map<std::int64_t, std::size_t> place;
    (void)in.rest_of_line();
    for (std::size_t n = 0; n < size; ++n) {
      std::string_view line;
      do {
        if (!in.line(line)) in.fail(fmt::format("the file ends after {} of {} elements", n, size));
      } while (line.find_first_not_of(" \t\r") == std::string_view::npos);
      TextReader words(in.where(), std::string(line));
      const auto id = words.integer("element");
      if (!place.emplace(id, n).second) in.fail(fmt::format("element {} is there twice", id));
      all.emplace_back();
      while (words.bytes_left() > 0 && all.back().size() < 28) {
        const auto mark = words.mark();
        std::string_view word;
        if (!words.token(word)) break;
        words.rewind(mark);
        all.back().push_back(node(words));
      }
      if (all.back().size() != 8 && all.back().size() != 27)
        in.fail(fmt::format("an element has {} nodes", all.back().size()), "Elements have 8 or 27.");
    }
    auto materials = open("materials_file");
    std::vector<std::uint32_t> group(size, UINT32_MAX);
    for (std::size_t n = 0; n < size; ++n) {
      const auto found = place.find(materials.integer("element"));
      if (found == place.end()) materials.fail("an element that mesh_file does not have");
      const auto material = material_.find(materials.integer("material"));
      if (material == material_.end())
        materials.fail("a material that nummaterial_velocity_file does not have");
      group[found->second] = material->second;
    }
    materials.expect_end("the elements");
    for (std::size_t n = 0; n < size; ++n) {
      if (group[n] == UINT32_MAX) materials.fail("an element is there twice, and another has no material");
      mesh_.add(all[n], group[n]);
    }
    for (const auto& [id, n] : place) element_.insert(id);
  }

  void faces(const std::vector<std::string>& names, const char* side) {
    for (const auto& file : names) {
      if (file.empty() || !find(file)) continue;
      auto in = open(file);
      const auto size = count(in, "number of faces");
      mesh_.sides.push_back(side);
      for (std::size_t n = 0; n < size; ++n) {
        HexahedraFile::Face face{{}, static_cast<std::uint32_t>(mesh_.sides.size() - 1)};
        if (element_.count(in.integer("element")) == 0) in.fail("an element that mesh_file does not have");
        for (auto& one : face.nodes) one = node(in);
        (void)in.rest_of_line();  // skips nodes other than corners
        mesh_.faces.push_back(face);
      }
      return;
    }
  }

  std::string name_;
  const SpecfemMeshFiles& files_;
  std::unordered_map<std::int64_t, std::uint32_t> node_;
  std::map<std::int64_t, std::uint32_t> material_;
  std::set<std::int64_t> element_;
  HexahedraFile mesh_;
};

constexpr const char* specfem_files[] = {"nodes_coords_file",
                                         "mesh_file",
                                         "materials_file",
                                         "nummaterial_velocity_file",
                                         "absorbing_surface_file_xmin",
                                         "absorbing_surface_file_xmax",
                                         "absorbing_surface_file_ymin",
                                         "absorbing_surface_file_ymax",
                                         "absorbing_surface_file_bottom",
                                         "absorbing_surface_file_zmax",
                                         "free_or_absorbing_surface_file_zmax",
                                         "free_surface_file",
                                         "absorbing_cpml_file"};

}  // namespace

bool is_specfem_mesh(const std::string& folder) {
  std::error_code none;
  return std::filesystem::is_regular_file(std::filesystem::path(folder) / "nodes_coords_file", none);
}

HexahedraFile read_specfem_mesh(const std::string& name, const SpecfemMeshFiles& files) {
  return SpecfemMesh(name, files).read();
}
HexahedraFile read_specfem_mesh(const std::string& folder, std::size_t memory) {
  SpecfemMeshFiles files;
  for (const auto* name : specfem_files)
    if (const auto path = std::filesystem::path(folder) / name; std::filesystem::exists(path))
      files.push_back({name, read_bytes(path.string(), memory)});
  return read_specfem_mesh(folder, files);
}

}  // namespace terrane::io
