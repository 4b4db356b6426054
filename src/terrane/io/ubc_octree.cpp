#include "terrane/io/ubc_octree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "terrane/base/error.hpp"

namespace terrane::io {

namespace {

constexpr std::int64_t most_smallest_cells = 10'000'000;
constexpr auto no_octree_cell = std::numeric_limits<std::uint32_t>::max();
constexpr std::array octree_axes{"east", "north", "down"};

/// The numbers in the next line that is not empty; empty if it contains anything else, or if there is no
/// line.
std::vector<double> octree_line(TextReader& in) {
  std::string_view line;
  std::vector<double> values;
  while (values.empty() && in.line(line)) {
    line = line.substr(0, line.find('!'));
    constexpr std::string_view blanks = " \t\v\f,";
    for (auto at = line.find_first_not_of(blanks); at != line.npos; at = line.find_first_not_of(blanks, at)) {
      const auto stop = std::min(line.find_first_of(blanks, at), line.size());
      double value = 0;
      if (!parse_number(line.substr(at, stop - at), value)) return {};
      values.push_back(value);
      at = stop;
    }
  }
  return values;
}

bool is_octree_number(double value) { return value == std::floor(value) && value >= 1; }

/// The counts at the beginning of an octree file; {} if the file is no octree file.
struct OctreeHead {
  std::vector<double> cells;  ///< number of smallest cells along each axis
  double octree_cells = 0;
  std::size_t numbers = 0;  ///< number of values in the three lines after the corner
};
OctreeHead octree_head(TextReader& in) {
  OctreeHead head;
  head.cells = octree_line(in);
  bool octree = head.cells.size() == 3 && std::all_of(head.cells.begin(), head.cells.end(), is_octree_number);
  octree = octree && octree_line(in).size() == 3 && octree_line(in).size() == 3;
  const auto count = octree ? octree_line(in) : std::vector<double>{};
  if (count.size() != 1 || !is_octree_number(count[0])) return {};
  const auto first = octree_line(in);
  if (first.size() < 4 || !std::all_of(first.begin(), first.end(), is_octree_number)) return {};
  head.octree_cells = count[0];
  head.numbers = 4 + first.size();
  return head;
}

/// An octree cell: along each axis the indices of its first and last face, in smallest cells.
struct OctreeCube {
  std::array<std::uint32_t, 3> begin{}, end{};
};

/// Reads the lines i j k s of octree cells.
std::vector<OctreeCube> read_octree_cubes(TextReader& in, std::size_t count,
                                          const std::array<std::int64_t, 3>& n) {
  const auto most = std::min(count, in.bytes_left() / 8 + 1);
  in.expect_memory(most * (sizeof(OctreeCube) / sizeof(double)));
  std::vector<OctreeCube> cubes;
  cubes.reserve(most);
  for (std::size_t c = 0; c < count; ++c) {
    const auto row = octree_line(in);
    if (row.empty() && in.bytes_left() == 0)
      in.fail(fmt::format("the file ends after {} of {} cells", c, count),
              "It may be truncated, or the count at its top is wrong.");
    if (row.size() != 4 || !std::all_of(row.begin(), row.end(), is_octree_number))
      in.fail(fmt::format("this is no cell of an octree mesh (cell {} of {})", c + 1, count),
              "Four whole numbers from 1 on a line: i, j, k of its top south-west corner, and its width in "
              "smallest cells.");
    OctreeCube cube;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (row[axis] - 1 + row[3] > static_cast<double>(n[axis]))
        in.fail(fmt::format("cell {} reaches to {} {}, and the mesh has {} smallest cells there", c + 1,
                            row[axis] - 1 + row[3], octree_axes[axis], n[axis]));
      cube.begin[axis] = static_cast<std::uint32_t>(row[axis] - 1);
      cube.end[axis] = static_cast<std::uint32_t>(row[axis] - 1 + row[3]);
    }
    cubes.push_back(cube);
  }
  in.expect_end(fmt::format("the {} cells", count));
  return cubes;
}

/// Indices of the faces of the tensor mesh along an axis, in smallest cells, ascending.
std::vector<std::uint32_t> octree_faces(std::size_t axis, const std::vector<OctreeCube>& cubes,
                                        std::int64_t n) {
  std::vector<bool> is_face(static_cast<std::size_t>(n) + 1);
  is_face.front() = is_face.back() = true;
  for (const auto& cube : cubes) is_face[cube.begin[axis]] = is_face[cube.end[axis]] = true;
  std::vector<std::uint32_t> faces;
  for (std::size_t f = 0; f < is_face.size(); ++f)
    if (is_face[f]) faces.push_back(static_cast<std::uint32_t>(f));
  return faces;
}

std::size_t place_of_face(const std::vector<std::uint32_t>& faces, std::uint32_t face) {
  return static_cast<std::size_t>(std::lower_bound(faces.begin(), faces.end(), face) - faces.begin());
}

/// The octree cell that contains each cell of the tensor mesh. Throws if octree cells overlap or leave gaps.
std::vector<std::uint32_t> octree_cells_of(const TextReader& in, const std::vector<OctreeCube>& cubes,
                                           const std::array<std::vector<std::uint32_t>, 3>& faces,
                                           const TensorMesh& mesh) {
  std::vector<std::uint32_t> of(mesh.size(), no_octree_cell);
  for (std::size_t c = 0; c < cubes.size(); ++c) {
    std::array<std::size_t, 3> begin{}, end{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      begin[axis] = place_of_face(faces[axis], cubes[c].begin[axis]);
      end[axis] = place_of_face(faces[axis], cubes[c].end[axis]);
    }
    for (std::size_t k = begin[2]; k < end[2]; ++k)
      for (std::size_t j = begin[1]; j < end[1]; ++j)
        for (std::size_t i = begin[0]; i < end[0]; ++i) {
          auto& owner = of[mesh.index(i, j, mesh.n_up() - 1 - k)];
          if (owner != no_octree_cell)
            throw InputError(in.name(), fmt::format("its cells {} and {} overlap", owner + 1, c + 1),
                             "Each place of the mesh is in one cell.");
          owner = static_cast<std::uint32_t>(c);
        }
  }
  const auto gap = std::find(of.begin(), of.end(), no_octree_cell);
  if (gap == of.end()) return of;
  const auto p = mesh.prism(static_cast<std::size_t>(gap - of.begin()));
  throw InputError(in.name(),
                   fmt::format("no cell holds the place ({:g}, {:g}, {:g}) m", 0.5 * (p.west + p.east),
                               0.5 * (p.south + p.north), 0.5 * (p.bottom + p.top)),
                   "The cells of an octree mesh fill it.");
}

/// Copies the value of each octree cell to all cells of the tensor mesh in it.
std::vector<double> spread_octree(const Octree& octree, const std::vector<double>& read) {
  std::vector<double> values(octree.of.size());
  for (std::size_t cell = 0; cell < values.size(); ++cell) values[cell] = read[octree.of[cell]];
  return values;
}

std::string octree_note(const MeshData& data) {
  const auto& [count, of] = data.octree;
  std::vector<std::uint32_t> parts(count);
  for (const auto cell : of) ++parts[cell];
  const auto [least, most] = std::minmax_element(parts.begin(), parts.end());
  const auto& mesh = data.mesh;
  return fmt::format(
      "an octree mesh of {} cells, taken as a tensor mesh of {} × {} × {} = {} cells with all of its faces: "
      "each became {} to {} cells, which have its values",
      count, mesh.n_east(), mesh.n_north(), mesh.n_up(), mesh.size(), *least, *most);
}

}  // namespace

bool is_ubc_octree(TextReader& in) {
  const auto begin = in.mark();
  const auto head = octree_head(in);
  if (head.octree_cells == 0) return in.rewind(begin), false;
  const auto lines = static_cast<double>(in.lines_left()) + 1;
  const bool has_its_lines = lines >= head.octree_cells && lines <= head.octree_cells + 1;
  // A tensor mesh has one width for each cell along each axis, divided into lines in any way.
  const double widths = head.cells[0] + head.cells[1] + head.cells[2];
  auto numbers = static_cast<double>(head.numbers);
  for (auto row = octree_line(in); !row.empty() && numbers <= widths; row = octree_line(in))
    numbers += static_cast<double>(row.size());
  in.rewind(begin);
  return has_its_lines || numbers != widths;
}

bool begins_ubc_octree(std::string_view head) {
  if (head.find('\0') != head.npos || head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF"))
    return false;
  TextReader in("", std::string(head));
  return octree_head(in).octree_cells > 0;
}

MeshData read_ubc_octree(TextReader& in) {
  in.set_comment('!');
  std::array<std::int64_t, 3> n{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    n[axis] =
        in.integer(fmt::format("the number of smallest cells {}", octree_axes[axis]), 1, most_smallest_cells);
  std::array<double, 3> corner{}, width{};
  for (auto& value : corner) value = in.number("the top south-west corner");
  for (auto& value : width) {
    value = in.number("the widths of the smallest cells");
    if (!(value > 0)) in.fail(fmt::format("smallest cells {} m wide", value), "Give widths above zero.");
  }
  const auto count = static_cast<std::size_t>(in.integer("the number of cells", 1, no_octree_cell - 1));
  (void)in.rest_of_line();
  const auto cubes = read_octree_cubes(in, count, n);
  std::array<std::vector<std::uint32_t>, 3> faces;
  std::array<std::int64_t, 3> cells{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    faces[axis] = octree_faces(axis, cubes, n[axis]);
    cells[axis] = static_cast<std::int64_t>(faces[axis].size()) - 1;
  }
  const auto all = checked_product(in.where(), cells);
  in.expect_memory(all + all / 2);  // memory for the octree cell of each cell, and for one property
  std::array<std::vector<double>, 3> places;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const auto face : faces[axis])
      places[axis].push_back(corner[axis] + (axis == 2 ? -width[axis] : width[axis]) * face);
    if (axis == 2) std::reverse(places[axis].begin(), places[axis].end());
  }
  MeshData data;
  try {
    data.mesh = TensorMesh(std::move(places[0]), std::move(places[1]), std::move(places[2]));
  } catch (const InputError& e) {
    throw InputError(in.name(), e.problem(), e.next());
  }
  data.octree = {count, octree_cells_of(in, cubes, faces, data.mesh)};
  data.attributes["note"] = octree_note(data);
  return data;
}

std::vector<double> read_octree_model(TextReader& in, const Octree& octree) {
  in.set_comment('!');
  const auto read =
      in.numbers(octree.cells, fmt::format("values of an octree mesh of {} cells", octree.cells));
  in.expect_end(fmt::format("the {} values of the octree mesh", octree.cells));
  in.expect_memory(octree.of.size());
  return spread_octree(octree, read);
}

Array on_cells_of(const Octree& octree, Array array) {
  if (octree.cells == 0 || array.shape != std::vector<std::size_t>{octree.cells}) return array;
  return {{octree.of.size()}, spread_octree(octree, array.values), {}};
}

}  // namespace terrane::io
