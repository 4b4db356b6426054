#include "terrane/physics/elastic/mesh_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"

namespace terrane::elastic {

namespace {

/// Corners of all formats go around the bottom and then the top; here they are numbered by bits.
constexpr std::size_t corner_of[8] = {0, 1, 3, 2, 4, 5, 7, 6};
/// Other nodes, as ξ + 3 η + 9 ζ with 0, 1, 2 for −1, 0, 1.
constexpr int gmsh_nodes[27] = {0,  2,  8,  6,  18, 20, 26, 24, 1,  3,  9,  5,  11, 7,
                                17, 15, 19, 21, 23, 25, 4,  10, 12, 14, 16, 22, 13};
constexpr int specfem_nodes[27] = {0,  2,  8,  6,  18, 20, 26, 24, 1,  5,  7,  3,  9, 11,
                                   17, 15, 19, 23, 25, 21, 4,  10, 14, 16, 12, 22, 13};

/// 27 nodes of an element that has 20 or 27. Of 20 the middles of faces and of the whole are where the others
/// put them: ½ Σ edges − ¼ Σ corners of a face, ¼ Σ edges − ¼ Σ corners of all.
std::array<Vector, 27> all_27(const MeshFile& mesh, const std::vector<std::uint32_t>& nodes,
                              const int (&order)[27]) {
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

/// Takes an element as a file has it: turns it where it is mirrored.
void add_element(MeshFile& mesh, const std::vector<std::uint32_t>& nodes, const int (&order)[27],
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
  if (turned) {  // bottom and top change places
    for (std::size_t a = 0; a < 4; ++a) std::swap(corners[a], corners[a + 4]);
    ++mesh.turned;
  }
  mesh.elements.push_back(corners);
  mesh.group.push_back(group);
}

/// Numbers of a .msh file, written as text or as they are in memory.
class Gmsh {
 public:
  Gmsh(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}

  MeshFile read() {
    while (word("a section", true)) {
      const auto section = last_;
      if (section == "$MeshFormat") format();
      else if (section == "$PhysicalNames") physical_names();
      else if (section == "$Entities") entities();
      else if (section == "$Nodes") nodes();
      else if (section == "$Elements") elements();
      else if (section.starts_with("$") && !section.starts_with("$End")) skip(section);
      else fail(fmt::format("\"{}\" where a section should begin", io::shown(section)));
    }
    if (mesh_.elements.empty())
      fail("there are no hexahedra in this file",
           "Elements of a volume without a physical group are saved with Mesh.SaveAll = 1.");
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& problem, const std::string& next = {}) const {
    const auto lines = std::count(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw InputError(
        binary_ ? fmt::format("{}: byte {}", name_, at_) : fmt::format("{}:{}", name_, lines + 1), problem,
        next);
  }
  bool word(const char* what, bool or_end = false) {
    while (at_ < bytes_.size() && std::isspace(static_cast<unsigned char>(bytes_[at_]))) ++at_;
    const auto from = at_;
    while (at_ < bytes_.size() && !std::isspace(static_cast<unsigned char>(bytes_[at_]))) ++at_;
    last_ = bytes_.substr(from, at_ - from);
    if (last_.empty() && !or_end) fail(fmt::format("the file ends before {}", what));
    return !last_.empty();
  }
  template <class Number>
  Number raw() {
    if (bytes_.size() - at_ < sizeof(Number)) fail("the file ends within a number");
    Number value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  double real(const char* what) {
    double value = 0;
    if (binary_) value = raw<double>();
    else {
      word(what);
      if (!io::parse_number(last_, value)) fail(fmt::format("\"{}\" is no {}", io::shown(last_), what));
    }
    if (!std::isfinite(value)) fail(fmt::format("{} is not finite", what));
    return value;
  }
  /// A tag or count: 8 bytes in binary files; of entities 4.
  std::int64_t integer(const char* what, bool of_entity = false) {
    if (binary_) return of_entity ? raw<std::int32_t>() : raw<std::int64_t>();
    std::int64_t value = 0;
    word(what);
    if (!io::parse_integer(last_, value)) fail(fmt::format("\"{}\" is no {}", io::shown(last_), what));
    return value;
  }
  /// How many things follow; each takes one byte of the file at least.
  std::size_t count(const char* what) {
    const auto value = integer(what);
    if (value < 0 || static_cast<std::uint64_t>(value) > bytes_.size() - at_)
      fail(fmt::format("{} {} do not fit in this file", value, what));
    return static_cast<std::size_t>(value);
  }
  void begin_data() {  // binary data begin after the line
    if (binary_ && at_ < bytes_.size() && bytes_[at_] == '\r') ++at_;
    if (binary_ && at_ < bytes_.size() && bytes_[at_] == '\n') ++at_;
  }
  void end(const char* section) {
    word("the end of a section");
    if (last_ != section) fail(fmt::format("\"{}\" in place of {}", io::shown(last_), section));
  }
  void skip(const std::string& section) {
    const auto found = bytes_.find("$End" + section.substr(1), at_);
    if (found == std::string::npos) fail(fmt::format("{} has no end", io::shown(section)));
    at_ = found + section.size() + 3;
  }

  void format() {
    const auto version = real("version");
    const auto kind = integer("file type"), size = integer("size of numbers");
    if (version != 4.1)
      fail(fmt::format("version {} of the format", version), "Save it as 4.1: Mesh.MshFileVersion = 4.1.");
    if (size != 8 || kind < 0 || kind > 1) fail("numbers must be texts, or binary of 8 bytes");
    if (kind == 1) {
      binary_ = true;
      begin_data();
      if (raw<std::int32_t>() != 1) fail("the file was written by a machine of the other byte order");
    }
    end("$EndMeshFormat");
  }

  void physical_names() {  // always text
    const bool binary = std::exchange(binary_, false);
    for (auto left = count("physical names"); left > 0; --left) {
      const auto dimension = integer("dimension"), tag = integer("tag");
      const auto open = bytes_.find('"', at_),
                 close = open == std::string::npos ? open : bytes_.find('"', open + 1);
      if (close == std::string::npos) fail("a physical name without quotes");
      names_[{dimension, tag}] = bytes_.substr(open + 1, close - open - 1);
      at_ = close + 1;
    }
    end("$EndPhysicalNames");
    binary_ = binary;
  }

  void entities() {
    begin_data();
    std::array<std::size_t, 4> counts;
    for (auto& one : counts) one = count("entities");
    for (std::int64_t dimension = 0; dimension < 4; ++dimension)
      for (auto left = counts[static_cast<std::size_t>(dimension)]; left > 0; --left) {
        const auto tag = integer("entity", true);
        for (int n = 0; n < (dimension == 0 ? 3 : 6); ++n) real("corner of a box");
        for (auto groups = count("physical groups"); groups > 0; --groups) {
          const auto group = integer("physical group", true);
          physical_.emplace(std::pair{dimension, tag}, std::abs(group));
        }
        if (dimension > 0)
          for (auto bounds = count("bounding entities"); bounds > 0; --bounds)
            integer("bounding entity", true);
      }
    end("$EndEntities");
  }

  void nodes() {
    begin_data();
    const auto blocks = count("blocks");
    count("nodes"), integer("least tag"), integer("largest tag");
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto dimension = integer("dimension", true);
      integer("entity", true);
      const auto parametric = integer("flag", true);
      const auto here = count("nodes");
      if (dimension < 0 || dimension > 3) fail(fmt::format("a node of dimension {}", dimension));
      const auto first = mesh_.nodes.size();
      for (std::size_t n = 0; n < here; ++n)
        if (!node_.emplace(integer("node"), static_cast<std::uint32_t>(first + n)).second)
          fail("a node has two places");
      for (std::size_t n = 0; n < here; ++n) {
        Vector at;
        for (double& x : at) x = real("coordinate");
        for (std::int64_t k = 0; k < (parametric ? dimension : 0); ++k) real("parameter");
        mesh_.nodes.push_back(at);
      }
    }
    end("$EndNodes");
  }

  std::uint32_t named(std::int64_t dimension, std::int64_t entity, std::vector<std::string>& names) {
    const auto group = physical_.find({dimension, entity});
    std::string name = "no group";
    if (group != physical_.end()) {
      const auto known = names_.find({dimension, group->second});
      name = known != names_.end() ? known->second : fmt::format("{}", group->second);
    }
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) names.push_back(name);
    return static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  void elements() {
    begin_data();
    const auto blocks = count("blocks");
    count("elements"), integer("least tag"), integer("largest tag");
    const std::map<std::int64_t, std::pair<std::size_t, std::size_t>> kinds{
        // nodes, of them corners
        {15, {1, 0}}, {1, {2, 0}},  {8, {3, 0}}, {27, {5, 0}},  {3, {4, 4}},
        {10, {9, 4}}, {16, {8, 4}}, {5, {8, 8}}, {12, {27, 8}}, {17, {20, 8}}};
    std::vector<std::uint32_t> of_one;
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto dimension = integer("dimension", true), entity = integer("entity", true),
                 type = integer("type", true);
      const auto here = count("elements");
      const auto kind = kinds.find(type);
      if (kind == kinds.end())
        fail(fmt::format("elements of type {}", type),
             dimension == 3 ? "Volumes must be hexahedra: types 5, 12 and 17 (recombine them in Gmsh)."
                            : "Surfaces must be quadrilaterals: types 3, 10 and 16.");
      const auto [nodes, corners] = kind->second;
      const auto group = corners == 8   ? named(3, entity, mesh_.groups)
                         : corners == 4 ? named(2, entity, mesh_.sides)
                                        : 0;
      for (std::size_t n = 0; n < here; ++n) {
        integer("element");
        of_one.clear();
        for (std::size_t k = 0; k < nodes; ++k) {
          const auto found = node_.find(integer("node"));
          if (found == node_.end()) fail("an element names a node that is not there");
          of_one.push_back(found->second);
        }
        if (corners == 8) add_element(mesh_, of_one, gmsh_nodes, group);
        if (corners == 4) mesh_.faces.push_back({{of_one[0], of_one[1], of_one[2], of_one[3]}, group});
      }
    }
    end("$EndElements");
  }

  std::string name_, bytes_, last_;
  std::size_t at_ = 0;
  bool binary_ = false;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names_;      // of dimension and physical tag
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> physical_;  // of dimension and entity
  std::unordered_map<std::int64_t, std::uint32_t> node_;
  MeshFile mesh_;
};

void say_what_was_changed(MeshFile& mesh) {
  if (mesh.turned > 0)
    mesh.notes.push_back(fmt::format("{} elements went around the other way and were turned", mesh.turned));
  if (!mesh.curves.empty())
    mesh.notes.push_back(
        fmt::format("{} elements have curved sides: nodes lie up to {:.3g} m from straight edges",
                    mesh.curves.size(), mesh.bent));
}

using Files = std::vector<std::pair<std::string, std::string>>;

/// SPECFEM3D's files by their names.
class Specfem {
 public:
  Specfem(std::string name, const Files& files) : name_(std::move(name)), files_(files) {}

  MeshFile read() {
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
    return std::move(mesh_);
  }

 private:
  const std::string* find(const std::string& file) const {
    for (const auto& [name, text] : files_)
      if (name == file) return &text;
    return nullptr;
  }
  io::TextReader open(const std::string& file) const {
    const auto* text = find(file);
    if (!text) throw FileError(name_ + "/" + file, "is not there");
    return {name_ + "/" + file, *text};
  }
  /// A count of lines that follow.
  static std::size_t count(io::TextReader& in, const char* what) {
    return static_cast<std::size_t>(in.integer(what, 0, static_cast<std::int64_t>(in.bytes_left())));
  }
  std::uint32_t node(io::TextReader& in) const {
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
      Vector at;
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
      io::TextReader words(in.where(), text);
      std::string_view word;
      if (!words.token(word)) continue;
      std::vector<double> v;
      std::vector<std::string> names;  // 2 -1 tomography elastic file.xyz 1
      do {
        double value = 0;
        const bool number = io::parse_number(word, value) && std::isfinite(value);
        if (number && names.empty()) v.push_back(value);
        else if (v.size() == 2 && v[1] < 0) names.emplace_back(word);
        else in.fail(fmt::format("\"{}\" is no number", io::shown(word)));
      } while (words.token(word));
      if (!names.empty()) {
        if (names.size() < 3 || names[0] != "tomography")
          in.fail(fmt::format("materials of {} are not offered", io::shown(names[0])),
                  "Negative numbers stand for: tomography elastic FILE.");
        // Its numbers stand in until the file is read (elements.cpp).
        add_material(in, v[1], Medium::from_speeds(2, 1, 1), names[2]);
        continue;
      }
      if (v.size() < 5) in.fail("domain, number, density, v_P and v_S are five numbers");
      if (v[0] != 1 && v[0] != 2)
        in.fail(fmt::format("domain {} is not offered", v[0]), "1 acoustic, 2 elastic.");
      if (v[0] == 1 ? v[4] != 0 : !(v[4] > 0))
        in.fail(fmt::format("v_S of {} m/s in domain {}", v[4], v[0]), "Zero in domain 1, more in domain 2.");
      if (v.size() > 7 && v[7] != 0) in.fail("anisotropy flags are not offered");
      auto rock = Medium::from_speeds(v[3], v[4], v[2]);
      const auto quality = [&](std::size_t n) {
        return v.size() > n && v[n] > 0 && v[n] < 9999 ? v[n] : INFINITY;
      };
      rock.name = in.where();
      if (v[0] == 2) rock.quality_kappa = quality(5), rock.quality_mu = quality(6);
      add_material(in, v[1], rock, {});
    }
  }
  void add_material(const io::TextReader& in, double number, const Medium& rock,
                    const std::string& tomography) {
    if (!std::isfinite(number) || std::fabs(number) > 1e9) in.fail("a material has no number");
    if (!material_.emplace(static_cast<std::int64_t>(number), static_cast<std::uint32_t>(mesh_.rocks.size()))
             .second)
      in.fail(fmt::format("material {} is there twice", number));
    mesh_.rocks.push_back(rock);
    mesh_.groups.push_back(fmt::format("{}", number));
    mesh_.tomography.push_back(tomography);
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
      io::TextReader words(in.where(), std::string(line));
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
      const auto rock = material_.find(materials.integer("material"));
      if (rock == material_.end()) materials.fail("a material that nummaterial_velocity_file does not have");
      group[found->second] = rock->second;
    }
    materials.expect_end("the elements");
    for (std::size_t n = 0; n < size; ++n) {
      if (group[n] == UINT32_MAX) materials.fail("an element is there twice, and another has no material");
      add_element(mesh_, all[n], specfem_nodes, group[n]);
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
        MeshFile::Face face{{}, static_cast<std::uint32_t>(mesh_.sides.size() - 1)};
        if (element_.count(in.integer("element")) == 0) in.fail("an element that mesh_file does not have");
        for (auto& one : face.nodes) one = node(in);
        (void)in.rest_of_line();  // nodes beside corners
        mesh_.faces.push_back(face);
      }
      return;
    }
  }

  std::string name_;
  const Files& files_;
  std::unordered_map<std::int64_t, std::uint32_t> node_;
  std::map<std::int64_t, std::uint32_t> material_;
  std::set<std::int64_t> element_;
  MeshFile mesh_;
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

/// Two nodes at one place, where parts of a mesh do not meet.
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
        break;  // a plane of nodes with one easting: neighbours in the order are near enough
    }
}

}  // namespace

MeshFile read_gmsh(std::string name, std::string bytes) {
  auto mesh = Gmsh(std::move(name), std::move(bytes)).read();
  say_what_was_changed(mesh);
  return mesh;
}
MeshFile read_gmsh(const std::filesystem::path& file) {
  return read_gmsh(file.string(), io::read_bytes(file.string()));
}

MeshFile read_specfem_mesh(const std::string& name, const Files& files) {
  auto mesh = Specfem(name, files).read();
  say_what_was_changed(mesh);
  return mesh;
}
MeshFile read_specfem_mesh(const std::filesystem::path& folder) {
  Files files;
  for (const auto* name : specfem_files)
    if (std::filesystem::exists(folder / name))
      files.push_back({name, io::read_bytes((folder / name).string())});
  return read_specfem_mesh(folder.string(), files);
}

Mesh mesh_of(const MeshFile& file, const std::vector<std::string>& absorbing, bool curved) {
  check_that_parts_meet(file);
  Mesh mesh;
  mesh.nodes = file.nodes;
  mesh.elements = file.elements;
  mesh.medium = file.group;
  mesh.media = file.rocks;
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
