#include "terrane/io/gmsh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

constexpr std::array<int, 27> gmsh_nodes{0,  2,  8,  6,  18, 20, 26, 24, 1,  3,  9,  5,  11, 7,
                                         17, 15, 19, 21, 23, 25, 4,  10, 12, 14, 16, 22, 13};

/// Reads the numbers of a .msh file, ASCII or binary.
class GmshReader {
 public:
  GmshReader(std::string name, std::string bytes) : name_(std::move(name)), bytes_(std::move(bytes)) {}

  HexahedraFile read() {
    while (word("a section", true)) {
      const auto section = last_;
      if (section == "$MeshFormat") format();
      else if (section == "$PhysicalNames") physical_names();
      else if (section == "$Entities") entities();
      else if (section == "$Nodes") nodes();
      else if (section == "$Elements") elements();
      else if (section.starts_with("$") && !section.starts_with("$End")) skip(section);
      else fail(fmt::format("\"{}\" where a section should begin", shown(section)));
    }
    if (mesh_.size() == 0)
      fail("there are no hexahedra in this file",
           "Elements of a volume without a physical group are saved with Mesh.SaveAll = 1.");
    mesh_.order = gmsh_nodes;
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
      if (!parse_number(last_, value)) fail(fmt::format("\"{}\" is no {}", shown(last_), what));
    }
    if (!std::isfinite(value)) fail(fmt::format("{} is not finite", what));
    return value;
  }
  /// Reads a tag or count; in binary files it has 8 bytes, for entities 4.
  std::int64_t integer(const char* what, bool of_entity = false) {
    if (binary_) return of_entity ? raw<std::int32_t>() : raw<std::int64_t>();
    std::int64_t value = 0;
    word(what);
    if (!parse_integer(last_, value)) fail(fmt::format("\"{}\" is no {}", shown(last_), what));
    return value;
  }
  /// Reads the number of items that follow; each takes at least one byte of the file.
  std::size_t count(const char* what) {
    const auto value = integer(what);
    if (value < 0 || static_cast<std::uint64_t>(value) > bytes_.size() - at_)
      fail(fmt::format("{} {} do not fit in this file", value, what));
    return static_cast<std::size_t>(value);
  }
  void begin_data() {  // binary data begin on the next line
    if (binary_ && at_ < bytes_.size() && bytes_[at_] == '\r') ++at_;
    if (binary_ && at_ < bytes_.size() && bytes_[at_] == '\n') ++at_;
  }
  void end(const char* section) {
    word("the end of a section");
    if (last_ != section) fail(fmt::format("\"{}\" in place of {}", shown(last_), section));
  }
  void skip(const std::string& section) {
    const auto found = bytes_.find("$End" + section.substr(1), at_);
    if (found == std::string::npos) fail(fmt::format("{} has no end", shown(section)));
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

  void physical_names() {  // the names are text, in binary files, too
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
        std::array<double, 3> at;
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
        // element type: {number of nodes, number of corners}; 4 corners: surface, 8: volume, 0: point or line
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
        if (corners == 8) mesh_.add(of_one, group);
        if (corners == 4) mesh_.faces.push_back({{of_one[0], of_one[1], of_one[2], of_one[3]}, group});
      }
    }
    end("$EndElements");
  }

  std::string name_, bytes_, last_;
  std::size_t at_ = 0;
  bool binary_ = false;
  // Names of physical groups, by dimension and tag.
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names_;
  // Physical tag, by dimension and entity.
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> physical_;
  std::unordered_map<std::int64_t, std::uint32_t> node_;
  HexahedraFile mesh_;
};

}  // namespace

bool begins_gmsh(std::string_view head) {
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  return head.starts_with("$MeshFormat") || head.starts_with("$PhysicalNames") ||
         head.starts_with("$Comments") || head.starts_with("$NOD");
}

HexahedraFile read_gmsh(std::string name, std::string bytes) {
  return GmshReader(std::move(name), std::move(bytes)).read();
}

}  // namespace terrane::io
