#include "terrane/io/vtkhdf.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/hdf5_handle.hpp"
#include "terrane/io/library_lock.hpp"

namespace terrane::io {

namespace {

constexpr std::array<const char*, 3> place_names{"point_easting", "point_northing", "point_up"};
constexpr unsigned char quadrilateral = 9, brick = 12;  // VTK's numbers

/// What of a data set goes into the file.
struct Film {
  std::vector<const Variable*> fields;
  std::string time;  // dimension; empty: the fields are of no time
  std::size_t steps = 1, points = 0, cells = 0, corners = 0;
};

/// Whether a variable is a field on the points; `time` is then the dimension before them, or empty.
bool is_field(const Variable& v, std::string& time) {
  const auto at = std::find(v.dimensions.begin(), v.dimensions.end(), "point");
  const auto before = at - v.dimensions.begin(), after = v.dimensions.end() - at;
  const bool real = std::holds_alternative<std::vector<double>>(v.values) ||
                    std::holds_alternative<std::vector<float>>(v.values);
  if (!real || before > 1 || after < 1 || after > 2) return false;
  time = before == 1 ? v.dimensions.front() : std::string();
  return true;
}

Film film_of(const std::string& path, const Dataset& data) {
  const auto refuse = [&](const std::string& problem) {
    return UnsupportedError(path, problem,
                            "VTKHDF holds fields at points that cells join, as snapshots are.");
  };
  Film film;
  const auto* cells = data.find("cell_points");
  for (const auto* name : place_names)
    if (data.find(name) == nullptr || cells == nullptr) throw refuse("these data have no points and cells");
  const auto shape = data.shape(*cells);
  if (!std::holds_alternative<std::vector<std::int32_t>>(cells->values) || shape.size() != 2 ||
      (shape[1] != 4 && shape[1] != 8) || data.dimension("point") == nullptr)
    throw refuse("its cells are neither quadrilaterals nor bricks");
  film.cells = shape[0], film.corners = shape[1], film.points = data.dimension("point")->size;
  for (const auto& v : data.variables) {
    std::string time;
    if (!is_field(v, time)) continue;
    if (film.fields.empty()) film.time = time;
    if (time == film.time) film.fields.push_back(&v);
  }
  if (film.fields.empty()) throw refuse("there is no field on its points");
  if (!film.time.empty()) film.steps = data.dimension(film.time)->size;
  return film;
}

template <class T>
hid_t hdf5_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  else if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  else if constexpr (std::is_same_v<T, unsigned char>) return H5T_NATIVE_UCHAR;
  else return H5T_NATIVE_INT64;
}

/// The library writes to a temporary file for which there is room on the disk.
class FilmWriter {
 public:
  FilmWriter(const std::string& path, std::size_t bytes)
      : pending_(path), file_(open(pending_, bytes), H5Fclose) {
    check(file_);
    pending_.reserve(bytes);
    root_ = H5Gcreate2(file_, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(root_);
  }
  FilmWriter(const FilmWriter&) = delete;
  FilmWriter& operator=(const FilmWriter&) = delete;
  ~FilmWriter() {
    if (root_ >= 0) H5Gclose(root_);
  }

  void group(const char* name) {
    const Hdf5Handle made(H5Gcreate2(root_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    check(made);
  }
  void text(const char* name, const std::string& value) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    check(H5Tset_size(type, value.size()));
    check(H5Tset_strpad(type, H5T_STR_NULLPAD));
    const Hdf5Handle made(H5Acreate2(root_, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(made);
    check(H5Awrite(made, type, value.data()));
  }
  void numbers(const char* group, const char* name, const std::vector<std::int64_t>& values) {
    const Hdf5Handle at(H5Gopen2(root_, group, H5P_DEFAULT), H5Gclose);
    const hsize_t size = values.size();
    const Hdf5Handle space(values.size() == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, nullptr),
                           H5Sclose);
    const Hdf5Handle made(H5Acreate2(at, name, H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(made);
    check(H5Awrite(made, H5T_NATIVE_INT64, values.data()));
  }
  template <class T>
  void array(const std::string& name, const std::vector<hsize_t>& shape, const std::vector<T>& values) {
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const Hdf5Handle made(
        H5Dcreate2(root_, name.c_str(), hdf5_type<T>(), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    check(made);
    if (!values.empty()) check(H5Dwrite(made, hdf5_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  }
  void commit() {
    check(H5Gclose(std::exchange(root_, -1)));
    if (!file_.close()) check(-1);
    pending_.commit();
  }

 private:
  static hid_t open(PendingPath& pending, std::size_t bytes) {
    pending.reserve(bytes);  // before the library opens the file, which gives the room back
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    return H5Fcreate(pending.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  }
  void check(hid_t status) const {
    if (status < 0) throw FileError(pending_.path(), "cannot be written as HDF5", "Nothing was left behind.");
  }
  PendingPath pending_;
  Hdf5Handle file_;
  hid_t root_ = -1;
};

void write_mesh(FilmWriter& out, const Dataset& data, const Film& film) {
  const auto points = static_cast<std::int64_t>(film.points), cells = static_cast<std::int64_t>(film.cells),
             corners = static_cast<std::int64_t>(film.corners);
  std::vector<double> places(3 * film.points);
  for (std::size_t d = 0; d < 3; ++d) {
    const auto& values = data.real(place_names[d]);
    for (std::size_t n = 0; n < film.points; ++n) places[3 * n + d] = values[n];
  }
  std::vector<std::int64_t> offsets(film.cells + 1);
  for (std::size_t n = 0; n <= film.cells; ++n) offsets[n] = static_cast<std::int64_t>(n) * corners;
  const auto& joined = std::get<std::vector<std::int32_t>>(data.find("cell_points")->values);
  out.array<std::int64_t>("NumberOfPoints", {1}, {points});
  out.array<std::int64_t>("NumberOfCells", {1}, {cells});
  out.array<std::int64_t>("NumberOfConnectivityIds", {1}, {cells * corners});
  out.array("Points", {film.points, 3}, places);
  out.array("Connectivity", {joined.size()}, std::vector<std::int64_t>(joined.begin(), joined.end()));
  out.array("Offsets", {offsets.size()}, offsets);
  out.array("Types", {film.cells},
            std::vector<unsigned char>(film.cells, film.corners == 4 ? quadrilateral : brick));
}

/// One mesh for all steps: each begins where the first does. Only the fields go on.
void write_steps(FilmWriter& out, const Dataset& data, const Film& film) {
  const hsize_t steps = film.steps;
  const std::vector<std::int64_t> none(film.steps, 0);
  out.group("Steps");
  out.numbers("Steps", "NSteps", {static_cast<std::int64_t>(film.steps)});
  out.array("Steps/Values", {steps}, data.real(film.time));
  for (const auto* name : {"Steps/PartOffsets", "Steps/PointOffsets"}) out.array(name, {steps}, none);
  out.array("Steps/NumberOfParts", {steps}, std::vector<std::int64_t>(film.steps, 1));
  for (const auto* name : {"Steps/CellOffsets", "Steps/ConnectivityIdOffsets"})
    out.array(name, {steps, 1}, none);
  out.group("Steps/PointDataOffsets");
  std::vector<std::int64_t> begins;
  for (std::size_t n = 0; n < film.steps; ++n) begins.push_back(static_cast<std::int64_t>(n * film.points));
  for (const auto* field : film.fields) out.array("Steps/PointDataOffsets/" + field->name, {steps}, begins);
}

}  // namespace

std::vector<std::string> left_out_of_vtkhdf(const std::string& path, const Dataset& data) {
  const auto film = film_of(path, data);
  std::vector<std::string> names;
  for (const auto& v : data.variables)
    if (v.name != "cell_points" && std::find(film.fields.begin(), film.fields.end(), &v) == film.fields.end())
      names.push_back(v.name);
  return names;
}

void write_vtkhdf(const std::string& path, const Dataset& data) {
  check(data);
  const auto film = film_of(path, data);
  std::size_t bytes = std::size_t{1} << 20;  // the library's own
  bytes += film.points * 24 + film.cells * (8 * film.corners + 9) + film.steps * film.fields.size() * 64;
  for (const auto* field : film.fields) bytes += size(field->values) * sizeof(double);
  const LibraryLock lock;
  FilmWriter out(path, bytes);
  out.numbers(".", "Version", {2, 0});
  out.text("Type", "UnstructuredGrid");
  write_mesh(out, data, film);
  out.group("PointData");
  for (const auto* field : film.fields) {
    std::vector<hsize_t> shape{film.steps * film.points};
    if (field->dimensions.back() != "point") shape.push_back(data.dimension(field->dimensions.back())->size);
    const auto name = "PointData/" + field->name;
    if (const auto* single = std::get_if<std::vector<float>>(&field->values)) out.array(name, shape, *single);
    else out.array(name, shape, std::get<std::vector<double>>(field->values));
  }
  if (!film.time.empty()) write_steps(out, data, film);
  out.commit();
}

}  // namespace terrane::io
