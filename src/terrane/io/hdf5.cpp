#include "terrane/io/hdf5.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

#include "terrane/base/error.hpp"
#include "terrane/io/deflated.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/hdf5_handle.hpp"
#include "terrane/io/hdf5_image.hpp"
#include "terrane/io/library_lock.hpp"
#include "terrane/io/memory.hpp"

namespace terrane::io {

namespace {

constexpr std::string_view format_key = "format", mesh_format = "terrane tensor mesh 1";
constexpr std::array<const char*, 3> axis_names{"easting", "northing", "up"};

using Handle = Hdf5Handle;

class MeshReader {
 public:
  MeshReader(const std::string& path, std::size_t memory)
      : path_(path), budget_(memory), file_(open_hdf5(path), H5Fclose) {
    check_self_contained(file_, path);
  }

  MeshData mesh() {
    std::array<std::vector<double>, 3> faces;
    for (std::size_t a = 0; a < 3; ++a) {
      std::string unit;
      std::vector<hsize_t> shape;
      if (H5Lexists(file_, axis_names[a], H5P_DEFAULT) <= 0)
        throw InputError(path_, fmt::format("there is no dataset \"{}\"", axis_names[a]),
                         "A mesh has datasets easting, northing and up with the faces of its cells.");
      faces[a] = dataset(axis_names[a], shape, unit);
      if (shape.size() != 1)
        throw InputError(path_, fmt::format("\"{}\" has {} axes", axis_names[a], shape.size()),
                         "Faces are a list.");
      const double factor = unit.empty() ? 1 : si_factor(Quantity::length, unit);
      for (auto& f : faces[a]) f *= factor;
    }
    MeshData out;
    try {
      out.mesh = TensorMesh(std::move(faces[0]), std::move(faces[1]), std::move(faces[2]));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", path_, e.where()), e.problem(), e.next());
    }
    const std::vector<hsize_t> wanted{out.mesh.n_up(), out.mesh.n_north(), out.mesh.n_east()};
    for (const auto& name : dataset_names()) {
      Column column{name, "", "", {}};
      std::vector<hsize_t> shape;
      column.values = dataset(name.c_str(), shape, column.unit, &column.description);
      if (shape != wanted)
        throw InputError(path_,
                         fmt::format("dataset \"{}\" has the shape [{}], and the mesh has [{}] cells", name,
                                     joined(shape), joined(wanted)),
                         "Cell properties are [up, north, east].");
      to_si(column);
      out.cells.push_back(std::move(column));
    }
    out.attributes = attributes();
    return out;
  }

 private:
  Attributes attributes() {
    Attributes all;
    const Handle root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose);
    std::vector<std::string> names;
    hsize_t at = 0;
    const auto keep = [](hid_t, const char* name, const H5A_info_t*, void* to) -> herr_t {
      try {
        if (name != format_key) static_cast<std::vector<std::string>*>(to)->emplace_back(name);
        return 0;
      } catch (...) {
        return -1;  // exceptions must not pass through the C library
      }
    };
    H5Aiterate2(root, H5_INDEX_NAME, H5_ITER_NATIVE, &at, keep, &names);
    for (const auto& name : names)
      if (auto text = text_attribute(root, name.c_str()); !text.empty()) all[name] = std::move(text);
    return all;
  }

  static std::string joined(const std::vector<hsize_t>& shape) {
    std::string out;
    for (const auto n : shape) out += fmt::format("{}{}", out.empty() ? "" : ", ", n);
    return out;
  }

  std::string text_attribute(hid_t object, const char* name) {
    if (H5Aexists(object, name) <= 0) return {};
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    if (!attribute.valid() || !type.valid() || H5Tget_class(type) != H5T_STRING ||
        H5Sget_simple_extent_npoints(space) != 1)
      return {};
    std::string text;
    if (H5Tis_variable_str(type) > 0) {
      char* value = nullptr;
      const Handle memory_type(H5Tcopy(H5T_C_S1), H5Tclose);
      H5Tset_size(memory_type, H5T_VARIABLE);
      H5Tset_cset(memory_type, H5Tget_cset(type));
      if (H5Aread(attribute, memory_type, static_cast<void*>(&value)) >= 0 && value != nullptr) {
        text = value;
        H5free_memory(value);
      }
    } else {
      budget_.take(fmt::format("{}: attribute \"{}\"", path_, name), H5Tget_size(type), 1);
      text.resize(H5Tget_size(type));
      if (H5Aread(attribute, type, text.data()) < 0) return {};
      text.resize(std::min(text.find('\0'), text.size()));
    }
    return text;
  }

  std::vector<std::string> dataset_names() {
    std::vector<std::string> names;
    hsize_t at = 0;
    const auto keep = [](hid_t group, const char* name, const H5L_info_t*, void* to) -> herr_t {
      try {
        const Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
        const std::string_view n = name;
        if (object.valid() && H5Iget_type(object) == H5I_DATASET && n != axis_names[0] &&
            n != axis_names[1] && n != axis_names[2])
          static_cast<std::vector<std::string>*>(to)->emplace_back(n);
        return 0;
      } catch (...) {
        return -1;
      }
    };
    H5Literate(file_, H5_INDEX_NAME, H5_ITER_NATIVE, &at, keep, &names);
    return names;
  }

  std::vector<double> dataset(const char* name, std::vector<hsize_t>& shape, std::string& unit,
                              std::string* description = nullptr) {
    const auto where = fmt::format("{}: dataset \"{}\"", path_, name);
    const Handle data(H5Dopen2(file_, name, H5P_DEFAULT), H5Dclose);
    if (!data.valid()) throw FileError(where, "cannot be opened", "The file may be damaged.");
    const Handle space(H5Dget_space(data), H5Sclose), type(H5Dget_type(data), H5Tclose);
    const auto kind = H5Tget_class(type);
    if (kind != H5T_FLOAT && kind != H5T_INTEGER) throw InputError(where, "does not hold numbers");
    const int axes = H5Sget_simple_extent_ndims(space);
    if (axes < 0) throw FileError(where, "has no shape", "The file may be damaged.");
    shape.assign(static_cast<std::size_t>(axes), 0);
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    const std::vector<std::int64_t> counts(shape.begin(), shape.end());
    const auto n = checked_product(where, counts);
    budget_.take(where, n);
    std::vector<double> values(n);
    if (n > 0 && H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      throw FileError(where, "cannot be read to its end", "The file may be truncated or damaged.");
    unit = text_attribute(data, "units");
    if (description != nullptr) *description = text_attribute(data, "long_name");
    return values;
  }

  const std::string& path_;
  ReadBudget budget_;
  Handle file_;
};

/// Builds the file in memory and writes it as a whole.
class MeshWriter {
 public:
  explicit MeshWriter(const std::string& path) : file_out_(path), memory_(path) { check(memory_.file()); }

  void attribute(hid_t object, std::string_view name, std::string_view value) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    const std::string text(value);
    check(H5Tset_size(type, text.size() + 1));
    check(H5Tset_cset(type, H5T_CSET_UTF8));
    const Handle attribute(
        H5Acreate2(object, std::string(name).c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(attribute);
    check(H5Awrite(attribute, type, text.c_str()));
  }

  void attributes(const Attributes& all, std::string_view format) {
    const Handle root(H5Gopen2(memory_.file(), "/", H5P_DEFAULT), H5Gclose);
    check(root);
    attribute(root, format_key, format);
    for (const auto& [key, value] : all)
      if (key != format_key && !key.empty()) attribute(root, key, value);
  }

  void dataset(const std::string& name, const std::vector<std::size_t>& shape,
               const std::vector<double>& values, const std::string& unit, const std::string& description) {
    const bool compressed = values.size() >= least_numbers_to_deflate && shape.size() == 3;
    {
      const std::vector<hsize_t> extents(shape.begin(), shape.end());
      const Handle space(H5Screate_simple(static_cast<int>(shape.size()), extents.data(), nullptr), H5Sclose);
      const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      if (compressed) {
        const auto counts = chunk_of(shape, sizeof(double));
        const std::vector<hsize_t> chunk(counts.begin(), counts.end());
        check(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()));
        check(H5Pset_shuffle(properties));
        check(H5Pset_deflate(properties, deflate_level));
      }
      const Handle data(H5Dcreate2(memory_.file(), name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                   properties, H5P_DEFAULT),
                        H5Dclose);
      check(data);
      if (!compressed) check(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
      if (!unit.empty()) attribute(data, "units", unit);
      if (!description.empty()) attribute(data, "long_name", description);
    }
    const Deflated all{name, values.data(), sizeof(double), shape};
    if (compressed && !store_deflated(memory_.file(), std::span(&all, 1))) check(-1);
  }

  void commit() {
    const auto bytes = memory_.close();
    if (bytes.empty()) check(-1);
    file_out_.write(bytes);
    file_out_.commit();
  }

 private:
  void check(hid_t status) const {
    if (status < 0)
      throw FileError(file_out_.path(), "cannot be written as HDF5", "Nothing was left behind.");
  }
  AtomicFile file_out_;
  Hdf5InMemory memory_;
};

}  // namespace

MeshData read_hdf5(const std::string& path, std::size_t memory) {
  const LibraryLock lock;
  try {
    return MeshReader(path, memory).mesh();
  } catch (const std::bad_alloc&) {
    throw MemoryError(path, "does not fit into memory");
  }
}

void write_hdf5(const std::string& path, const MeshData& data) {
  const LibraryLock lock;
  MeshWriter out(path);
  const auto& mesh = data.mesh;
  out.attributes(data.attributes, mesh_format);
  const std::array<const std::vector<double>*, 3> faces{&mesh.easting(), &mesh.northing(), &mesh.up()};
  constexpr std::array<const char*, 3> descriptions{"faces of the cells, west to east",
                                                    "faces of the cells, south to north",
                                                    "faces of the cells, bottom to top"};
  for (std::size_t a = 0; a < 3; ++a)
    out.dataset(axis_names[a], {faces[a]->size()}, *faces[a], "m", descriptions[a]);
  for (const auto& c : data.cells)
    out.dataset(c.name, {mesh.n_up(), mesh.n_north(), mesh.n_east()}, c.values, c.unit, c.description);
  out.commit();
}

}  // namespace terrane::io
