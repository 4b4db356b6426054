#include "terrane/io/vtk.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"

namespace terrane::io {

namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// A file with a text header followed by the arrays; the header has the offset of each array.
class VtkFile {
 public:
  explicit VtkFile(const std::string& path) : file_(path) {}

  void text(std::string_view xml) { header_ += xml; }

  void array(std::string_view name, const std::vector<double>& values, int components = 1) {
    header_ += fmt::format(
        "<DataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" "
        "offset=\"{}\"/>\n",
        escaped(name), components, offset_);
    offset_ += sizeof(std::uint64_t) + values.size() * sizeof(double);
    arrays_.push_back(&values);
  }

  /// Adds the file's attributes, and the units of its arrays, as texts in the field data.
  void field_data(const Attributes& attributes, const std::vector<Column>& columns) {
    header_ += "<FieldData>\n";
    const auto add = [&](std::string_view name, std::string_view value) {
      header_ += fmt::format(
          "<DataArray type=\"String\" Name=\"{}\" NumberOfTuples=\"1\" format=\"ascii\">\n", escaped(name));
      for (const char c : value) header_ += fmt::format("{} ", static_cast<unsigned char>(c));
      header_ += "0\n</DataArray>\n";
    };
    std::string units;
    for (const auto& c : columns)
      if (!c.unit.empty()) units += fmt::format("{}{}: {}", units.empty() ? "" : "; ", c.name, c.unit);
    if (!units.empty()) add("units", units);
    for (const auto& [key, value] : attributes) add(key, value);
    header_ += "</FieldData>\n";
  }

  void commit(std::string_view type) {
    file_.write(
        fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"{}\" "
                    "header_type=\"UInt64\">\n",
                    type, std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian"));
    file_.write(header_);
    file_.write("<AppendedData encoding=\"raw\">\n_");
    for (const auto* values : arrays_) {
      const std::uint64_t bytes = values->size() * sizeof(double);
      file_.write_bytes(&bytes, sizeof bytes);
      file_.write_bytes(values->data(), bytes);
    }
    file_.write("\n</AppendedData>\n</VTKFile>\n");
    file_.commit();
  }

 private:
  AtomicFile file_;
  std::string header_;
  std::uint64_t offset_ = 0;
  std::vector<const std::vector<double>*> arrays_;
};

}  // namespace

void write_vtr(const std::string& path, const MeshData& data) {
  const auto& mesh = data.mesh;
  const auto extent = fmt::format("0 {} 0 {} 0 {}", mesh.n_east(), mesh.n_north(), mesh.n_up());
  VtkFile file(path);
  file.text(fmt::format("<RectilinearGrid WholeExtent=\"{}\">\n", extent));
  file.field_data(data.attributes, data.cells);
  file.text(fmt::format("<Piece Extent=\"{}\">\n<CellData>\n", extent));
  for (const auto& c : data.cells) file.array(c.name, c.values);
  file.text("</CellData>\n<Coordinates>\n");
  file.array("easting", mesh.easting());
  file.array("northing", mesh.northing());
  file.array("up", mesh.up());
  file.text("</Coordinates>\n</Piece>\n</RectilinearGrid>\n");
  file.commit("RectilinearGrid");
}

void write_vts(const std::string& path, const GridData& grid) {
  const std::size_t n_east = grid.easting.size(), n_north = grid.northing.size();
  if (n_east == 0 || n_north == 0) throw InputError(path, "the grid has no nodes");
  const Column* up = grid.find("up");
  std::vector<double> points;
  points.reserve(3 * n_east * n_north);
  for (std::size_t j = 0; j < n_north; ++j)
    for (std::size_t i = 0; i < n_east; ++i)
      points.insert(points.end(),
                    {grid.easting[i], grid.northing[j], up == nullptr ? 0.0 : up->values[j * n_east + i]});
  const auto extent = fmt::format("0 {} 0 {} 0 0", n_east - 1, n_north - 1);
  VtkFile file(path);
  file.text(fmt::format("<StructuredGrid WholeExtent=\"{}\">\n", extent));
  auto attributes = grid.attributes;
  if (!grid.projection.empty()) attributes["projection"] = grid.projection;
  file.field_data(attributes, grid.fields);
  file.text(fmt::format("<Piece Extent=\"{}\">\n<PointData>\n", extent));
  for (const auto& f : grid.fields)
    if (&f != up) file.array(f.name, f.values);
  file.text("</PointData>\n<Points>\n");
  file.array("points", points, 3);
  file.text("</Points>\n</Piece>\n</StructuredGrid>\n");
  file.commit("StructuredGrid");
}

}  // namespace terrane::io
