#include "terrane/io/vtkhdf.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/hdf5_handle.hpp"
#include "terrane/io/library_lock.hpp"

namespace terrane::io {

namespace {

constexpr std::array<const char*, 3> place_names{"point_easting", "point_northing", "point_up"};
constexpr unsigned char quadrilateral = 9, brick = 12;  // VTK's codes of cell types
constexpr std::size_t at_once = std::size_t{1} << 20;   // number of points converted at a time

/// The variables of a data set that the file will contain.
struct Film {
  std::vector<std::string> fields;
  std::string time;  // name of the time dimension; empty: fields do not depend on time
  std::size_t steps = 1, points = 0, cells = 0, corners = 0;
};

/// Whether a variable is a field at the points; sets `time` to the dimension before "point", or empty.
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
    if (time == film.time) film.fields.push_back(v.name);
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

}  // namespace

/// A file that the library writes under a temporary name, with disk space reserved before.
class VtkhdfSink::File {
 public:
  File(const std::string& path, const Dataset& header)
      : header_(header),
        film_(film_of(path, header)),
        pending_(path),
        file_(open(pending_, bytes()), H5Fclose) {
    check(file_);
    pending_.reserve(bytes());
    root_ = H5Gcreate2(file_, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(root_);
    define_all();
    Dataset places;
    places.dimensions = header.dimensions;
    for (const auto* list : {&header.coordinates, &header.variables})
      for (const auto& v : *list)
        if (is_place(v.name)) places.coordinates.push_back(v);
    places_.define(places);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (root_ >= 0) H5Gclose(root_);
  }

  void put(const Variable& v, const Slab& slab, const ValueSpan& values) {
    if (is_place(v.name)) return places_.put(v.name, slab, values);
    if (v.name == "cell_points") return put_cells(slab, std::get<std::span<const std::int32_t>>(values));
    if (std::find(film_.fields.begin(), film_.fields.end(), v.name) != film_.fields.end())
      put_field(v, slab, values);
  }

  void finish() {
    places_.finish();
    const auto places = places_.take();
    std::vector<double> beside;
    for (std::size_t done = 0; done < film_.points; done += beside.size() / 3) {
      beside.resize(3 * std::min(at_once, film_.points - done));
      for (std::size_t d = 0; d < 3; ++d) {
        const auto& values = places.real(place_names[d]);
        for (std::size_t n = 0; 3 * n < beside.size(); ++n) beside[3 * n + d] = values[done + n];
      }
      write<double>("Points", {done, 0}, {beside.size() / 3, 3}, beside);
    }
    if (!film_.time.empty()) write<double>("Steps/Values", {0}, {film_.steps}, places.real(film_.time));
    check(H5Gclose(std::exchange(root_, -1)));
    if (!file_.close()) check(-1);
    pending_.commit();
  }

 private:
  bool is_place(const std::string& name) const {
    return name == film_.time || std::find(place_names.begin(), place_names.end(), name) != place_names.end();
  }

  std::size_t bytes() const {
    std::size_t all = std::size_t{1} << 20;  // bytes for the library's own structures
    all += film_.points * 24 + film_.cells * (8 * film_.corners + 9) + film_.steps * film_.fields.size() * 64;
    for (const auto& name : film_.fields) {
      std::size_t values = 1;
      for (const auto size : header_.shape(*header_.find(name))) values *= size;
      all += values * sizeof(double);
    }
    return all;
  }

  void define_all() {
    const auto points = static_cast<std::int64_t>(film_.points),
               cells = static_cast<std::int64_t>(film_.cells),
               corners = static_cast<std::int64_t>(film_.corners);
    numbers(".", "Version", {2, 0});
    text("Type", "UnstructuredGrid");
    array<std::int64_t>("NumberOfPoints", {points});
    array<std::int64_t>("NumberOfCells", {cells});
    array<std::int64_t>("NumberOfConnectivityIds", {cells * corners});
    define<double>("Points", {film_.points, 3});
    define<std::int64_t>("Connectivity", {film_.cells * film_.corners});
    std::vector<std::int64_t> offsets(film_.cells + 1);
    for (std::size_t n = 0; n <= film_.cells; ++n) offsets[n] = static_cast<std::int64_t>(n) * corners;
    array("Offsets", offsets);
    array("Types", std::vector<unsigned char>(film_.cells, film_.corners == 4 ? quadrilateral : brick));
    group("PointData");
    for (const auto& name : film_.fields) {
      const auto& field = *header_.find(name);
      std::vector<hsize_t> shape{film_.steps * film_.points};
      if (field.dimensions.back() != "point")
        shape.push_back(header_.dimension(field.dimensions.back())->size);
      if (std::holds_alternative<std::vector<float>>(field.values)) define<float>("PointData/" + name, shape);
      else define<double>("PointData/" + name, shape);
    }
    if (!film_.time.empty()) define_steps();
  }

  /// Defines the time steps: all share one mesh, and each has its own offset in the fields.
  void define_steps() {
    const std::vector<std::int64_t> none(film_.steps, 0);
    group("Steps");
    numbers("Steps", "NSteps", {static_cast<std::int64_t>(film_.steps)});
    define<double>("Steps/Values", {film_.steps});
    for (const auto* name : {"Steps/PartOffsets", "Steps/PointOffsets"}) array(name, none);
    array("Steps/NumberOfParts", std::vector<std::int64_t>(film_.steps, 1));
    for (const auto* name : {"Steps/CellOffsets", "Steps/ConnectivityIdOffsets"}) {
      define<std::int64_t>(name, {film_.steps, 1});
      write<std::int64_t>(name, {0, 0}, {film_.steps, 1}, none);
    }
    group("Steps/PointDataOffsets");
    std::vector<std::int64_t> begins;
    for (std::size_t n = 0; n < film_.steps; ++n)
      begins.push_back(static_cast<std::int64_t>(n * film_.points));
    for (const auto& name : film_.fields) array("Steps/PointDataOffsets/" + name, begins);
  }

  /// Writes cells. Indices are converted to 64 bits piece by piece, because there may be hundreds of
  /// millions.
  void put_cells(const Slab& slab, std::span<const std::int32_t> values) {
    if (slab.start[1] != 0 || slab.count[1] != film_.corners)
      throw ShapeError(pending_.path(), "cells must be written as a whole");
    std::vector<std::int64_t> wide;
    for (std::size_t done = 0; done < values.size(); done += wide.size()) {
      const auto piece = values.subspan(done, std::min(at_once, values.size() - done));
      wide.assign(piece.begin(), piece.end());
      write<std::int64_t>("Connectivity", {slab.start[0] * film_.corners + done}, {wide.size()}, wide);
    }
  }

  /// Writes a field [step · point]: the points of each time step follow those of the step before.
  void put_field(const Variable& v, const Slab& slab, const ValueSpan& values) {
    const std::size_t time = film_.time.empty() ? 0 : 1, steps = time == 0 ? 1 : slab.count[0];
    const bool vector = slab.count.size() > time + 1;
    for (std::size_t n = 0; n < steps; ++n) {
      const std::size_t step = time == 0 ? 0 : slab.start[0] + n;
      std::vector<hsize_t> start{step * film_.points + slab.start[time]}, count{slab.count[time]};
      if (vector) start.push_back(slab.start[time + 1]), count.push_back(slab.count[time + 1]);
      const std::size_t size = count[0] * (vector ? count[1] : 1);
      std::visit(
          [&](const auto& span) {
            using T = std::remove_const_t<typename std::decay_t<decltype(span)>::element_type>;
            if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
              write<T>("PointData/" + v.name, start, count, span.subspan(n * size, size));
          },
          values);
    }
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
  void define(const std::string& name, const std::vector<hsize_t>& shape) {
    const Hdf5Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
    const Hdf5Handle made(
        H5Dcreate2(root_, name.c_str(), hdf5_type<T>(), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose);
    check(made);
  }
  /// Writes a box of an array.
  template <class T>
  void write(const std::string& name, const std::vector<hsize_t>& start, const std::vector<hsize_t>& count,
             std::span<const T> values) {
    if (values.empty()) return;
    const Hdf5Handle to(H5Dopen2(root_, name.c_str(), H5P_DEFAULT), H5Dclose);
    check(to);
    const Hdf5Handle all(H5Dget_space(to), H5Sclose),
        box(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    check(H5Sselect_hyperslab(all, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
    check(H5Dwrite(to, hdf5_type<T>(), box, all, H5P_DEFAULT, values.data()));
  }
  /// Writes a one-dimensional array.
  template <class T>
  void array(const std::string& name, const std::vector<T>& values) {
    define<T>(name, {values.size()});
    write<T>(name, {0}, {values.size()}, values);
  }

  static hid_t open(PendingPath& pending, std::size_t bytes) {
    // Reports a full disk before the library opens the file; opening frees the reserved space again.
    pending.reserve(bytes);
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
    return H5Fcreate(pending.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  }
  void check(hid_t status) const {
    if (status < 0) throw FileError(pending_.path(), "cannot be written as HDF5", "Nothing was left behind.");
  }

  Dataset header_;
  Film film_;
  MemorySink places_;  // coordinates, kept until all three of a point can be written together
  PendingPath pending_;
  Hdf5Handle file_;
  hid_t root_ = -1;
};

VtkhdfSink::VtkhdfSink(std::string path) : path_(std::move(path)) {}

VtkhdfSink::~VtkhdfSink() {
  const LibraryLock lock;
  file_.reset();
}

void VtkhdfSink::do_define(const Dataset& header) {
  const LibraryLock lock;
  file_ = std::make_unique<File>(path_, header);
}

void VtkhdfSink::do_put(const Variable& variable, const Slab& slab, const ValueSpan& values) {
  const LibraryLock lock;
  file_->put(variable, slab, values);
}

void VtkhdfSink::do_finish() {
  const LibraryLock lock;
  file_->finish();
}

std::vector<std::string> left_out_of_vtkhdf(const std::string& path, const Dataset& data) {
  const auto film = film_of(path, data);
  std::vector<std::string> names;
  for (const auto& v : data.variables)
    if (v.name != "cell_points" &&
        std::find(film.fields.begin(), film.fields.end(), v.name) == film.fields.end())
      names.push_back(v.name);
  return names;
}

void write_vtkhdf(const std::string& path, const Dataset& data) {
  VtkhdfSink sink(path);
  terrane::write(data, sink);
}

}  // namespace terrane::io
