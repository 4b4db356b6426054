#include "terrane/io/netcdf_sink.hpp"

#include <fmt/format.h>
#include <netcdf.h>
#include <netcdf_mem.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <type_traits>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/deflated.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/library_lock.hpp"
#include "terrane/io/memory.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/io/netcdf_deflated.hpp"
#include "terrane/survey/crs.hpp"

namespace terrane::io {

namespace {

constexpr const char* complex_name = "complex";

template <class T>
constexpr bool is_complex = std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<float>>;

template <class T>
constexpr bool is_real = std::is_same_v<T, double> || std::is_same_v<T, float>;

template <class T>
constexpr nc_type netcdf_type() {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::complex<double>>) return NC_DOUBLE;
  else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>) return NC_FLOAT;
  else if constexpr (std::is_same_v<T, std::int32_t>) return NC_INT;
  else if constexpr (std::is_same_v<T, unsigned char>) return NC_UBYTE;
  else return NC_STRING;
}

/// Calls function(T{}), where T is the type of the variable's values.
template <class Function>
auto with_type(const Values& values, Function&& function) {
  return std::visit(
      [&](const auto& list) { return function(typename std::decay_t<decltype(list)>::value_type{}); },
      values);
}

std::size_t values_in(const std::vector<std::size_t>& sizes) {
  std::size_t n = 1;
  for (const auto size : sizes) n *= size;
  return n;
}

double bytes_of(const Dataset& header) {
  double bytes = 0;
  for (const auto* list : {&header.coordinates, &header.variables})
    for (const auto& v : *list)
      bytes += static_cast<double>(values_in(header.shape(v))) *
               with_type(v.values, [](auto t) { return static_cast<double>(sizeof(t)); });
  return bytes;
}

/// The text of CF's attribute `coordinates`: the coordinates of `variable` that are not the axis of one of
/// its dimensions.
std::string coordinates_of(const Dataset& data, const Variable& variable) {
  std::string text;
  for (const auto& c : data.coordinates) {
    const bool axis = data.dimension(c.name) != nullptr || c.dimensions.empty();
    const bool fits = std::all_of(c.dimensions.begin(), c.dimensions.end(), [&](const std::string& d) {
      return std::find(variable.dimensions.begin(), variable.dimensions.end(), d) !=
             variable.dimensions.end();
    });
    if (!axis && fits) text += (text.empty() ? "" : " ") + netcdf_name(c.name);
  }
  return text;
}

void check_names(const std::string& path, const Dataset& data) {
  const auto refuse = [&](const std::string& name) {
    if (name == complex_name || name.find('/') != std::string::npos)
      throw InputError(path,
                       fmt::format("\"{}\" cannot be the name of a dimension or variable in NetCDF", name),
                       "\"complex\" is the dimension of complex values, and a slash parts groups.");
  };
  for (const auto& d : data.dimensions) refuse(d.name);
  for (const auto* list : {&data.coordinates, &data.variables})
    for (const auto& v : *list) refuse(v.name);
}

}  // namespace

/// A netCDF file that is being written, on disk or in memory.
class NetcdfSink::File {
 public:
  /// pending: the file on disk; null: the file is in memory.
  File(std::string path, PendingPath* pending) : path_(std::move(path)), compressed_(pending == nullptr) {
    constexpr std::size_t first_bytes = 1 << 16;
    const LibraryLock lock;
    check(pending == nullptr ? nc_create_mem(path_.c_str(), NC_NETCDF4 | NC_CLOBBER, first_bytes, &file_)
                             : nc_create(pending->temporary().c_str(), NC_NETCDF4 | NC_CLOBBER, &file_));
    open_ = true;
    if (pending != nullptr) check(nc_set_fill(file_, NC_NOFILL, nullptr));
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (!open_) return;
    const LibraryLock lock;
    nc_abort(file_);
  }

  void define(const Dataset& header) {
    const LibraryLock lock;
    text(NC_GLOBAL, "Conventions", "CF-1.8");
    for (const auto& d : header.dimensions)
      check(nc_def_dim(file_, netcdf_name(d.name).c_str(), d.size, &dimensions_[d.name]));
    const auto any_complex = [](const Variable& v) {
      return with_type(v.values, [](auto t) { return is_complex<decltype(t)>; });
    };
    const bool with_complex =
        std::any_of(header.coordinates.begin(), header.coordinates.end(), any_complex) ||
        std::any_of(header.variables.begin(), header.variables.end(), any_complex);
    int parts = -1;
    if (with_complex) {
      check(nc_def_dim(file_, complex_name, 2, &dimensions_[complex_name]));
      check(nc_def_var(file_, complex_name, NC_STRING, 1, &dimensions_[complex_name], &parts));
    }
    define_mapping(header);
    for (const auto& v : header.coordinates) define(header, v, true);
    for (const auto& v : header.variables) define(header, v, false);
    for (const auto& a : header.attributes)
      if (a.name != "Conventions") attribute(NC_GLOBAL, a);
    check(nc_enddef(file_));
    if (with_complex) {
      const char* names[] = {"real", "imag"};
      check(nc_put_var_string(file_, parts, names));
    }
  }

  /// Writes a box of a variable; if the file is in memory, the box must be the whole variable.
  void put(const Variable& variable, const Slab& slab, const ValueSpan& values) {
    const int id = variables_.at(variable.name);
    if (const auto found = deflated_.find(id); found != deflated_.end()) {
      kept_.push_back(found->second);
      std::visit([&](const auto& span) { kept_.back().numbers = span.data(); }, values);
      return;
    }
    const LibraryLock lock;
    std::visit([&](const auto& span) { put(id, slab, span); }, values);
  }

  void close() {
    open_ = false;
    const LibraryLock lock;
    check(nc_close(file_));
  }

  /// Completes a file in memory and writes it to `out`; the values of compressed variables must still be in
  /// memory.
  void close_into(AtomicFile& out) {
    open_ = false;
    const LibraryLock lock;
    write_closed(file_, kept_, out);
  }

 private:
  /// Adds a variable with the coordinate reference system in the attribute "projection", as CF and GDAL
  /// specify.
  void define_mapping(const Dataset& header) {
    for (const auto& a : header.attributes) {
      const auto* words = std::get_if<std::string>(&a.value);
      if (a.name != "projection" || words == nullptr) continue;
      const auto wkt = crs_wkt(*words);
      if (wkt.empty()) return;
      int id = 0;
      mapping_ = fresh("spatial_ref");
      check(nc_def_var(file_, mapping_.c_str(), NC_INT, 0, nullptr, &id));
      text(id, "crs_wkt", wkt);
      text(id, "spatial_ref", wkt);
    }
  }

  void define(const Dataset& header, const Variable& v, bool coordinate) {
    std::vector<int> ids;
    for (const auto& d : v.dimensions) ids.push_back(dimensions_.at(d));
    const auto shape = header.shape(v);
    int id = 0;
    with_type(v.values, [&](auto t) {
      using T = decltype(t);
      if (is_complex<T>) ids.push_back(dimensions_.at(complex_name));
      const auto type = netcdf_type<T>();
      check(nc_def_var(file_, fresh(v.name).c_str(), type, static_cast<int>(ids.size()), ids.data(), &id));
      if (compressed_ && type != NC_STRING && values_in(shape) >= least_numbers_to_deflate) {
        auto numbers = shape;
        if (is_complex<T>) numbers.push_back(2);
        check(define_deflated(file_, id, std::move(numbers), deflated_[id]));
      }
      if ((is_real<T> || is_complex<T>)&&!coordinate)
        check(nc_put_att_double(file_, id, "_FillValue", type, 1, &nan));
      if (!v.unit.empty()) text(id, "units", v.unit);
      if (!v.long_name.empty()) text(id, "long_name", v.long_name);
      if (is_complex<T>) text(id, complex_name, "real and imaginary part along the last dimension");
    });
    for (const auto& a : v.attributes) attribute(id, a);
    if (const auto named = coordinate ? "" : coordinates_of(header, v); !named.empty())
      text(id, "coordinates", named);
    if (!mapping_.empty() && !coordinate && !v.dimensions.empty()) text(id, "grid_mapping", mapping_);
    variables_[v.name] = id;
  }

  template <class T>
  void put(int id, const Slab& slab, std::span<const T> values) {
    if (values.empty()) return;
    auto start = slab.start, count = slab.count;
    if constexpr (std::is_same_v<T, std::string>) {
      std::vector<const char*> pointers;
      for (const auto& word : values) pointers.push_back(word.c_str());
      check(nc_put_vara_string(file_, id, start.data(), count.data(), pointers.data()));
    } else {
      if (is_complex<T>) {
        start.push_back(0);
        count.push_back(2);
      }
      check(nc_put_vara(file_, id, start.data(), count.data(), values.data()));
    }
  }

  /// An allowed name that no variable has yet. If a caller asks for `wanted` a second time, it gets the same
  /// name, so that NetCDF reports the error.
  std::string fresh(const std::string& wanted) {
    auto name = netcdf_name(wanted);
    if (variables_.contains(wanted)) return name;
    int id = 0;
    for (int n = 2; nc_inq_varid(file_, name.c_str(), &id) == NC_NOERR; ++n)
      name = fmt::format("{}_{}", netcdf_name(wanted).substr(0, NC_MAX_NAME - 12), n);
    return name;
  }

  void text(int id, const std::string& name, const std::string& value) {
    check(nc_put_att_text(file_, id, netcdf_name(name).c_str(), value.size(), value.data()));
  }

  void attribute(int id, const Attribute& a) {
    if (const auto* words = std::get_if<std::string>(&a.value)) return text(id, a.name, *words);
    const double number = std::get<double>(a.value);
    check(nc_put_att_double(file_, id, netcdf_name(a.name).c_str(), NC_DOUBLE, 1, &number));
  }

  void check(int status) const { check_written(status, path_); }

  std::string path_, mapping_;
  bool compressed_, open_ = false;
  int file_ = -1;
  std::map<int, Deflated> deflated_;  ///< compressed variables, by number of the variable
  std::vector<Deflated> kept_;
  std::map<std::string, int, std::less<>> dimensions_, variables_;
};

// Small data sets are kept in a MemorySink until finish(), which builds the file in memory, because the HDF5
// library crashes if the disk fills up while one of its files is open. Large ones are written to disk
// directly; the disk cannot fill up meanwhile, because their disk space is reserved first.

NetcdfSink::NetcdfSink(std::string path, std::size_t held_bytes)
    : path_(std::move(path)), held_bytes_(held_bytes) {}

NetcdfSink::~NetcdfSink() = default;

void NetcdfSink::do_define(const Dataset& header) {
  check_names(path_, header);
  const double bytes = bytes_of(header);
  if (bytes <= static_cast<double>(held_bytes_)) return held_.define(header);
  constexpr double for_metadata = 1 << 20;
  pending_ = std::make_unique<PendingPath>(path_);
  const auto room = static_cast<std::size_t>(bytes + for_metadata);
  // Reports a full disk before the library opens the file; opening frees the reserved space again.
  pending_->reserve(room);
  file_ = std::make_unique<File>(path_, pending_.get());
  file_->define(header);
  pending_->reserve(room);
}

void NetcdfSink::do_put(const Variable& variable, const Slab& slab, const ValueSpan& values) {
  if (file_) file_->put(variable, slab, values);
  else held_.put(variable.name, slab, values);
}

void NetcdfSink::do_finish() {
  if (file_) {
    file_->close();
    return pending_->commit();
  }
  held_.finish();
  const auto data = held_.take();
  write_netcdf(path_, data);
}

void NetcdfSink::write_whole(const std::string& path, const Dataset& data) {
  AtomicFile out(path);
  File file(path, nullptr);
  file.define(data);
  for (const auto* list : {&data.coordinates, &data.variables})
    for (const auto& v : *list) {
      const auto shape = data.shape(v);
      file.put(v, {std::vector<std::size_t>(shape.size(), 0), shape}, span_of(v.values));
    }
  file.close_into(out);
  out.commit();
}

void write_netcdf(const std::string& path, const Dataset& data) {
  check(data);
  check_names(path, data);
  if (bytes_of(data) <= static_cast<double>(netcdf_held_bytes)) return NetcdfSink::write_whole(path, data);
  NetcdfSink sink(path);
  write(data, sink);
}

// --- reading
// ---------------------------------------------------------------------------------------------------

namespace {

class DatasetReader {
 public:
  explicit DatasetReader(const std::string& path) : path_(path) {
    if (!std::filesystem::exists(path))
      throw FileError(path, "cannot be opened: No such file or directory",
                      "Check the name; relative names start from the current folder.");
    check_classic_names(path);
    check(nc_open(path.c_str(), NC_NOWRITE, &file_));
  }
  DatasetReader(const DatasetReader&) = delete;
  DatasetReader& operator=(const DatasetReader&) = delete;
  ~DatasetReader() { nc_close(file_); }

  Dataset read() {
    int n_dimensions = 0, n_variables = 0, n_attributes = 0;
    check(nc_inq(file_, &n_dimensions, &n_variables, &n_attributes, nullptr));
    Dataset data;
    for (int d = 0; d < n_dimensions; ++d) {
      Dimension dimension;
      check(nc_inq_dim(file_, d, name_.data(), &dimension.size));
      dimension.name = name_.data();
      all_.push_back(dimension);
      if (dimension.name != complex_name) data.dimensions.push_back(dimension);
    }
    std::vector<Variable> variables;
    for (int v = 0; v < n_variables; ++v) variable(v, variables);
    for (auto& v : variables)
      (coordinates_.contains(v.name) || data.dimension(v.name) != nullptr ? data.coordinates : data.variables)
          .push_back(std::move(v));
    data.attributes = attributes(NC_GLOBAL, n_attributes);
    std::erase_if(data.attributes, [](const Attribute& a) { return a.name == "Conventions"; });
    return data;
  }

 private:
  void variable(int id, std::vector<Variable>& out) {
    nc_type type = NC_NAT;
    int n_dimensions = 0, n_attributes = 0;
    check(nc_inq_varndims(file_, id, &n_dimensions));
    std::vector<int> dimensions(static_cast<std::size_t>(n_dimensions));
    check(nc_inq_var(file_, id, name_.data(), &type, nullptr, dimensions.data(), &n_attributes));
    Variable v;
    v.name = name_.data();
    if (v.name == complex_name || type == NC_CHAR || type > NC_MAX_ATOMIC_TYPE) return;
    std::vector<std::int64_t> shape;
    for (const int d : dimensions) {
      v.dimensions.push_back(all_[static_cast<std::size_t>(d)].name);
      shape.push_back(static_cast<std::int64_t>(all_[static_cast<std::size_t>(d)].size));
    }
    const bool complex = !v.dimensions.empty() && v.dimensions.back() == complex_name;
    if (complex) v.dimensions.pop_back();
    v.attributes = attributes(id, n_attributes);
    const auto words = [&](const char* name) {
      return std::any_of(v.attributes.begin(), v.attributes.end(),
                         [&](const auto& a) { return a.name == name; });
    };
    if (v.dimensions.empty() && (words("crs_wkt") || words("grid_mapping_name"))) return;
    const auto packing = packing_of(v.attributes);
    std::erase_if(v.attributes, [&](const Attribute& a) { return taken(a, v); });
    const auto n = checked_product(fmt::format("{}: variable \"{}\"", path_, v.name), shape);
    ReadBudget().take(path_, n);
    v.values = values(id, type, n, complex);
    unpack(v, packing);
    out.push_back(std::move(v));
  }

  /// Packing according to attributes: value = number · scale + offset, and the values that mark gaps.
  struct Packing {
    double scale = 1, offset = 0;
    std::vector<double> fills;
  };

  /// Throws InputError for attributes that change the meaning of numbers but are not supported in data sets.
  Packing packing_of(const std::vector<Attribute>& all) const {
    Packing packing;
    for (const auto& a : all) {
      const auto* number = std::get_if<double>(&a.value);
      if (a.name == "_Unsigned" || a.name == "valid_range" || a.name == "valid_min" || a.name == "valid_max")
        throw InputError(path_,
                         fmt::format("the attribute {} of numbers of data sets is not applied", a.name),
                         "Unpack the numbers first.");
      if (number == nullptr) continue;
      if (a.name == "scale_factor") packing.scale = *number;
      if (a.name == "add_offset") packing.offset = *number;
      if ((a.name == "_FillValue" || a.name == "missing_value") && !std::isnan(*number))
        packing.fills.push_back(*number);
    }
    return packing;
  }

  static void unpack(Variable& v, const Packing& packing) {
    const bool scaled = packing.scale != 1 || packing.offset != 0;
    if (!scaled && packing.fills.empty()) return;
    std::visit(
        [&](const auto& stored) {
          using T = typename std::decay_t<decltype(stored)>::value_type;
          if constexpr (std::is_arithmetic_v<T>) {
            std::vector<double> out;
            for (const T s : stored) {
              const auto number = static_cast<double>(s);
              const bool gap =
                  std::find(packing.fills.begin(), packing.fills.end(), number) != packing.fills.end();
              out.push_back(gap ? nan : number * packing.scale + packing.offset);
            }
            v.values = Values(std::move(out));
          }
        },
        Values(v.values));
  }

  /// Whether an attribute need not be copied: it is stored as the unit or name of a variable, or used on
  /// reading.
  bool taken(const Attribute& a, Variable& v) {
    const auto* words = std::get_if<std::string>(&a.value);
    if (a.name == "units" && words != nullptr) v.unit = *words;
    else if (a.name == "long_name" && words != nullptr) v.long_name = *words;
    else if (a.name == "coordinates" && words != nullptr) {
      std::istringstream names(*words);
      for (std::string name; names >> name;) coordinates_.insert(name);
    } else
      return a.name == "_FillValue" || a.name == "missing_value" || a.name == "scale_factor" ||
             a.name == "add_offset" || a.name == "grid_mapping" || a.name == complex_name;
    return true;
  }

  template <class T, class Get>
  std::vector<T> got(int id, std::size_t n, Get get) const {
    std::vector<T> out(n);
    if (n > 0) check(get(file_, id, out.data()));
    return out;
  }

  Values values(int id, nc_type type, std::size_t n, bool complex) const {
    if (complex) {
      if (type == NC_FLOAT)
        return got<std::complex<float>>(id, n / 2, [](int f, int v, auto* to) {
          return nc_get_var_float(f, v, reinterpret_cast<float*>(to));
        });
      return got<std::complex<double>>(id, n / 2, [](int f, int v, auto* to) {
        return nc_get_var_double(f, v, reinterpret_cast<double*>(to));
      });
    }
    switch (type) {
      case NC_STRING: {
        auto words = got<char*>(id, n, nc_get_var_string);
        std::vector<std::string> out;
        for (const char* word : words) out.emplace_back(word == nullptr ? "" : word);
        nc_free_string(words.size(), words.data());
        return out;
      }
      case NC_FLOAT:
        return got<float>(id, n, nc_get_var_float);
      case NC_UBYTE:
        return got<unsigned char>(id, n, nc_get_var_uchar);
      case NC_BYTE:
      case NC_SHORT:
      case NC_USHORT:
      case NC_INT:
        return got<std::int32_t>(id, n, nc_get_var_int);
      default:
        return got<double>(id, n, nc_get_var_double);
    }
  }

  std::vector<Attribute> attributes(int id, int count) {
    std::vector<Attribute> out;
    for (int a = 0; a < count; ++a) {
      check(nc_inq_attname(file_, id, a, name_.data()));
      const std::string name = name_.data();
      nc_type type = NC_NAT;
      std::size_t length = 0;
      check(nc_inq_att(file_, id, name.c_str(), &type, &length));
      if (type == NC_CHAR) {
        std::string text(length, '\0');
        if (length > 0) check(nc_get_att_text(file_, id, name.c_str(), text.data()));
        while (text.ends_with('\0')) text.pop_back();
        out.push_back({name, text});
      } else if (type == NC_STRING) {
        std::vector<char*> words(length, nullptr);
        check(nc_get_att_string(file_, id, name.c_str(), words.data()));
        std::string text;
        for (const char* word : words)
          text += (text.empty() ? "" : "\n") + std::string(word == nullptr ? "" : word);
        nc_free_string(length, words.data());
        out.push_back({name, text});
      } else if (type <= NC_MAX_ATOMIC_TYPE) {
        std::vector<double> numbers(length);
        check(nc_get_att_double(file_, id, name.c_str(), numbers.data()));
        if (length == 1) {
          out.push_back({name, numbers.front()});
          continue;
        }
        std::string text;
        for (const double v : numbers) text += fmt::format("{}{}", text.empty() ? "" : " ", v);
        out.push_back({name, text});
      }
    }
    return out;
  }

  void check(int status) const {
    if (status != NC_NOERR)
      throw FileError(path_, fmt::format("cannot be read as NetCDF: {}", nc_strerror(status)),
                      "The file may be truncated, damaged, or of another kind.");
  }

  const std::string& path_;
  int file_ = -1;
  std::vector<Dimension> all_;
  std::set<std::string, std::less<>> coordinates_;
  std::array<char, NC_MAX_NAME + 1> name_{};
};

}  // namespace

Dataset read_dataset(const std::string& path) {
  const LibraryLock lock;
  return DatasetReader(path).read();
}

}  // namespace terrane::io
