#include "terrane/io/netcdf.hpp"

#include <fmt/format.h>
#include <netcdf.h>
#include <netcdf_mem.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>

#include "terrane/base/constants.hpp"
#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/axes.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/hdf5_handle.hpp"
#include "terrane/io/library_lock.hpp"
#include "terrane/io/memory.hpp"
#include "terrane/io/netcdf_deflated.hpp"
#include "terrane/survey/crs.hpp"

namespace terrane::io {

namespace {

constexpr std::array gmt3_names{"x_range", "y_range", "spacing", "dimension", "z"};

// --- reading
// ---------------------------------------------------------------------------------------------------

enum class AxisRole { none, east, north, up };

struct FileDimension {
  std::string name;
  std::size_t size = 0;
};

struct FileVariable {
  std::string name;
  int id = 0;
  nc_type type = NC_NAT;
  std::vector<int> dimensions;
  Attributes text;

  std::string attribute(const std::string& key) const {
    const auto it = text.find(key);
    return it == text.end() ? std::string{} : it->second;
  }
};

struct Axis {
  std::vector<double> values;  ///< ascending; metres or degrees
  bool reversed = false;       ///< whether the axis descends in the file
  bool geographic = false;
  bool unit_is_assumed = false;  ///< whether the file gives no unit, so that metres are assumed
};

class NetcdfReader {
 public:
  NetcdfReader(const std::string& path, std::size_t memory) : path_(path), budget_(memory) {
    if (!std::filesystem::exists(path))
      throw FileError(path, "cannot be opened: No such file or directory",
                      "Check the name; relative names start from the current folder.");
    if (!std::filesystem::is_regular_file(path))
      throw FileError(path, "is not an ordinary file", "HDF5 and NetCDF are read from files on a disk.");
    check_classic_names(path);
    if (H5Fis_hdf5(path.c_str()) > 0) {
      const Hdf5Handle file(open_hdf5(path), H5Fclose);
      check_self_contained(file, path);
    }
    check(nc_open(path.c_str(), NC_NOWRITE, &file_), "cannot be opened as NetCDF");
    open_ = true;
    try {
      inquire();
    } catch (...) {
      nc_close(file_);
      throw;
    }
  }
  NetcdfReader(const NetcdfReader&) = delete;
  NetcdfReader& operator=(const NetcdfReader&) = delete;
  ~NetcdfReader() {
    if (open_) nc_close(file_);
  }

  bool has_gathers() const {
    return std::any_of(variables_.begin(), variables_.end(), [&](const FileVariable& v) {
      const auto on = [&](std::string_view name) {
        return std::any_of(v.dimensions.begin(), v.dimensions.end(),
                           [&](int d) { return dimensions_[static_cast<std::size_t>(d)].name == name; });
      };
      return on("time") && (on("receiver") || on("trace"));
    });
  }

  Content content(const std::string& field) {
    const FileVariable* wanted = nullptr;
    if (!field.empty()) {
      wanted = find(field);
      if (wanted == nullptr) {
        std::vector<std::string_view> names;
        for (const auto& v : variables_) names.push_back(v.name);
        fail(fmt::format("there is no variable \"{}\".{}", field, did_you_mean(field, names)),
             "It has: " + joined(names) + ".");
      }
    }
    if (is_gmt3()) return gmt3();
    std::vector<const FileVariable*> meshes, grids;
    for (const auto& v : variables_) {
      if (wanted != nullptr && &v != wanted) continue;
      if (!is_number(v) || is_auxiliary(v)) continue;
      check_axes(v);
      if (roles(v) == 7) meshes.push_back(&v);
      else if (roles(v) == 3) grids.push_back(&v);
    }
    note_left(meshes.empty() ? grids : meshes, wanted);
    if (!meshes.empty()) return mesh(meshes);
    if (!grids.empty()) return grid(grids);
    refuse_further_axes(wanted);
    if (wanted != nullptr && wanted->dimensions.size() != 1)
      fail(fmt::format("variable \"{}\" is neither a grid, nor on a mesh, nor a list of stations", field),
           known_shapes());
    return table(wanted);
  }

 private:
  [[noreturn]] void fail(const std::string& problem, const std::string& next = {}) const {
    throw InputError(path_, problem, next);
  }

  /// Adds a note with the names of the variables on several axes that are not read, because they are neither
  /// grids nor meshes.
  void note_left(const std::vector<const FileVariable*>& read, const FileVariable* wanted) {
    if (read.empty() || wanted != nullptr) return;
    std::string left;
    for (const auto& v : variables_)
      if (v.dimensions.size() > 1 && !is_auxiliary(v) &&
          std::find(read.begin(), read.end(), &v) == read.end())
        left += (left.empty() ? "" : ", ") + v.name;
    if (!left.empty()) note("variables that are not read: " + left);
  }

  /// Throws InputError if a variable on a grid also has another axis, such as time, with several entries.
  void refuse_further_axes(const FileVariable* wanted) const {
    for (const auto& v : variables_) {
      if ((wanted != nullptr && &v != wanted) || !is_number(v) || is_auxiliary(v)) continue;
      std::string east_and_north, further;
      for (const int d : v.dimensions) {
        const auto role = role_of_dimension_[static_cast<std::size_t>(d)];
        if (role == AxisRole::east || role == AxisRole::north) east_and_north += dimension(d).name + " ";
        else if (role == AxisRole::none && dimension(d).size > 1)
          further = fmt::format("{} ({} entries)", dimension(d).name, dimension(d).size);
      }
      if (!further.empty() && std::count(east_and_north.begin(), east_and_north.end(), ' ') == 2)
        fail(fmt::format("variable \"{}\" has a further axis, {}", v.name, further),
             "Cut out one entry of it, for example by ncks -d or by xarray's isel.");
    }
  }

  void check(int status, std::string_view doing) const {
    if (status != NC_NOERR)
      throw FileError(path_, fmt::format("{}: {}", doing, nc_strerror(status)),
                      "The file may be truncated, damaged, or of another kind.");
  }
  static std::string known_shapes() {
    return "A grid needs dimensions with coordinate variables such as easting and northing or lon and lat; a "
           "mesh also up; "
           "stations one dimension.";
  }

  void inquire() {
    int n_dimensions = 0, n_variables = 0, n_attributes = 0;
    check(nc_inq(file_, &n_dimensions, &n_variables, &n_attributes, nullptr), "cannot be read");
    std::array<char, NC_MAX_NAME + 1> name{};
    for (int d = 0; d < n_dimensions; ++d) {
      FileDimension dimension;
      check(nc_inq_dim(file_, d, name.data(), &dimension.size), "cannot be read");
      dimension.name = name.data();
      dimensions_.push_back(std::move(dimension));
    }
    for (int v = 0; v < n_variables; ++v) {
      int n_var_dimensions = 0, n_var_attributes = 0;
      FileVariable variable;
      variable.id = v;
      check(nc_inq_varndims(file_, v, &n_var_dimensions), "cannot be read");
      variable.dimensions.resize(static_cast<std::size_t>(n_var_dimensions));
      check(nc_inq_var(file_, v, name.data(), &variable.type, nullptr, variable.dimensions.data(),
                       &n_var_attributes),
            "cannot be read");
      variable.name = name.data();
      variable.text = attributes(v, n_var_attributes);
      variables_.push_back(std::move(variable));
    }
    for (const auto& v : variables_)
      for (const auto* key : {"bounds", "grid_mapping"})
        if (const auto other = v.attribute(key); !other.empty()) auxiliary_.push_back(other);
    global_ = attributes(NC_GLOBAL, n_attributes);
    for (const auto* key : {"Conventions", "featureType", "_NCProperties"}) global_.erase(key);
    role_of_dimension_.assign(dimensions_.size(), AxisRole::none);
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      if (const auto* v = coordinate(static_cast<int>(d))) role_of_dimension_[d] = role(*v);
    for (const auto& v : variables_) check_direction(v);
    note_groups();
  }

  void note(const std::string& text) {
    auto& notes = global_["note"];
    notes += (notes.empty() ? "" : "\n") + text;
  }

  /// Adds a note on the groups below the root, which are not read.
  void note_groups() {
    int count = 0;
    if (nc_inq_grps(file_, &count, nullptr) != NC_NOERR || count == 0) return;
    std::vector<int> groups(static_cast<std::size_t>(count));
    check(nc_inq_grps(file_, nullptr, groups.data()), "cannot be read");
    constexpr std::size_t most = 10;
    std::string names;
    for (std::size_t n = 0; n < std::min(most, groups.size()); ++n) {
      std::array<char, NC_MAX_NAME + 1> name{};
      check(nc_inq_grpname(groups[n], name.data()), "cannot be read");
      names += (names.empty() ? "" : ", ") + std::string(name.data());
    }
    groups_ =
        fmt::format("{} groups, which are not read: {}{}", count, names, groups.size() > most ? ", …" : "");
    note(groups_);
  }

  Attributes attributes(int variable, int count) const {
    Attributes out;
    std::array<char, NC_MAX_NAME + 1> name{};
    for (int a = 0; a < count; ++a) {
      check(nc_inq_attname(file_, variable, a, name.data()), "cannot be read");
      nc_type type = NC_NAT;
      std::size_t length = 0;
      check(nc_inq_att(file_, variable, name.data(), &type, &length), "cannot be read");
      budget_.take(path_, length, type == NC_CHAR ? 1 : sizeof(double));
      if (type == NC_CHAR) {
        std::string text(length, '\0');
        if (length > 0) check(nc_get_att_text(file_, variable, name.data(), text.data()), "cannot be read");
        while (!text.empty() && text.back() == '\0') text.pop_back();
        out[name.data()] = text;
      } else if (type == NC_STRING) {
        std::vector<char*> strings(length, nullptr);
        check(nc_get_att_string(file_, variable, name.data(), strings.data()), "cannot be read");
        std::string text;
        for (const auto* s : strings)
          if (s != nullptr) text += (text.empty() ? "" : "\n") + std::string(s);
        nc_free_string(length, strings.data());
        out[name.data()] = text;
      } else if (type <= NC_MAX_ATOMIC_TYPE) {
        std::vector<double> numbers(length);
        if (nc_get_att_double(file_, variable, name.data(), numbers.data()) != NC_NOERR) continue;
        std::string text;
        for (const double v : numbers) text += fmt::format("{}{}", text.empty() ? "" : " ", v);
        out[name.data()] = text;
      }
    }
    return out;
  }

  const FileVariable* find(std::string_view name) const {
    const auto it = std::find_if(variables_.begin(), variables_.end(),
                                 [&](const FileVariable& v) { return v.name == name; });
    return it == variables_.end() ? nullptr : &*it;
  }

  static bool is_number(const FileVariable& v) {
    return v.type != NC_CHAR && v.type != NC_STRING && v.type <= NC_MAX_ATOMIC_TYPE;
  }

  const FileDimension& dimension(int d) const { return dimensions_[static_cast<std::size_t>(d)]; }

  /// The coordinate variable of a dimension: one-dimensional and with the same name.
  const FileVariable* coordinate(int d) const {
    const auto* v = find(dimension(d).name);
    return v != nullptr && v->dimensions == std::vector<int>{d} && is_number(*v) ? v : nullptr;
  }

  bool is_auxiliary(const FileVariable& v) const {
    return std::find(auxiliary_.begin(), auxiliary_.end(), v.name) != auxiliary_.end() ||
           (v.dimensions.size() == 1 && coordinate(v.dimensions[0]) == &v);
  }

  /// Throws InputError for units of angles that are positive to the west or south.
  void check_direction(const FileVariable& v) const {
    const auto unit = lower(v.attribute("units"));
    if (!unit.starts_with("degree")) return;
    for (const std::string_view side : {"_w", "_s", "west", "south"})
      if (unit.ends_with(side))
        fail(fmt::format("\"{}\" is in \"{}\"", v.name, v.attribute("units")),
             "Longitudes count to the east and latitudes to the north: turn their sign.");
  }

  static AxisRole role(const FileVariable& v) {
    const auto standard = v.attribute("standard_name"), axis = lower(v.attribute("axis")),
               units = lower(v.attribute("units")), name = lower(v.name);
    const auto any = [](const std::string& s, std::initializer_list<std::string_view> list) {
      return std::find(list.begin(), list.end(), s) != list.end();
    };
    if (any(standard, {"longitude", "projection_x_coordinate"}) || units.starts_with("degrees_e") ||
        units.starts_with("degree_e"))
      return AxisRole::east;
    if (any(standard, {"latitude", "projection_y_coordinate"}) || units.starts_with("degrees_n") ||
        units.starts_with("degree_n"))
      return AxisRole::north;
    if (any(standard, {"height", "altitude", "depth"}) || axis == "z") return AxisRole::up;
    if (axis == "x") return AxisRole::east;
    if (axis == "y") return AxisRole::north;
    if (any(name, {"x", "lon", "longitude", "easting", "east"})) return AxisRole::east;
    if (any(name, {"y", "lat", "latitude", "northing", "north"})) return AxisRole::north;
    if (any(name, {"z", "up", "upward", "height", "altitude", "elevation", "depth"})) return AxisRole::up;
    return AxisRole::none;
  }

  /// The axes of a variable, as a sum: 1 for easting, 2 for northing, 4 for up. 0 if an axis occurs twice, or
  /// if another dimension has more than one entry. A vertical axis of one entry without bounds does not
  /// count: it only gives the height of a map.
  int roles(const FileVariable& v) const {
    int found = 0;
    for (const int d : v.dimensions) {
      const auto r = role_of_dimension_[static_cast<std::size_t>(d)];
      const bool single = dimension(d).size == 1;
      if (single &&
          (r == AxisRole::none || (r == AxisRole::up && coordinate(d)->attribute("bounds").empty())))
        continue;
      const int bit = r == AxisRole::east ? 1 : r == AxisRole::north ? 2 : r == AxisRole::up ? 4 : 0;
      if (bit == 0 || (found & bit) != 0) return 0;
      found |= bit;
    }
    return found;
  }

  /// All numbers of an attribute, also if they are written as text; empty if the attribute is missing. Throws
  /// InputError if it has anything else.
  std::vector<double> numbers_attribute(const FileVariable& v, const char* key) const {
    nc_type type = NC_NAT;
    std::size_t length = 0;
    constexpr std::size_t most = 1024;
    if (nc_inq_att(file_, v.id, key, &type, &length) != NC_NOERR) return {};
    const auto no_numbers = [&] {
      fail(fmt::format("the attribute {} of \"{}\" is \"{}\"", key, v.name, shown(v.attribute(key))),
           "It must be a number, or the attribute must be removed.");
    };
    if (type == NC_CHAR || type == NC_STRING) {
      double value = 0;
      if (v.attribute(key).empty()) return {};
      if (!parse_number(v.attribute(key), value)) no_numbers();
      return {value};
    }
    if (length > most || type > NC_MAX_ATOMIC_TYPE) no_numbers();
    std::vector<double> values(length);
    if (length > 0 && nc_get_att_double(file_, v.id, key, values.data()) != NC_NOERR) no_numbers();
    return values;
  }

  /// The number of an attribute; empty if it is missing. Throws InputError: several numbers, not finite.
  std::optional<double> number_attribute(const FileVariable& v, const char* key) const {
    const auto values = numbers_attribute(v, key);
    if (values.empty()) return {};
    if (values.size() > 1 || !std::isfinite(values[0]))
      fail(fmt::format("the attribute {} of \"{}\" is \"{}\"", key, v.name, shown(v.attribute(key))),
           "It must be one finite number, or the attribute must be removed.");
    return values[0];
  }

  /// A stored integer, reinterpreted if the attribute _Unsigned says that it is unsigned or signed.
  static double turn(const FileVariable& v, double stored) {
    const auto word = lower(v.attribute("_Unsigned"));
    const auto turned = [&](double all) {
      if (word == "true" && stored < 0) return stored + all;
      if (word == "false" && stored >= all / 2) return stored - all;
      return stored;
    };
    switch (v.type) {
      case NC_BYTE:
      case NC_UBYTE:
        return turned(0x1p8);
      case NC_SHORT:
      case NC_USHORT:
        return turned(0x1p16);
      case NC_INT:
      case NC_UINT:
        return turned(0x1p32);
      case NC_INT64:
      case NC_UINT64:
        return turned(0x1p64);
      default:
        return stored;
    }
  }

  /// Values that mark gaps: those stated in the file, or else NetCDF's default fill value.
  std::vector<double> fills_of(const FileVariable& v) const {
    std::vector<double> fills;
    for (const auto* key : {"_FillValue", "missing_value"})
      for (const double fill : numbers_attribute(v, key)) fills.push_back(turn(v, fill));
    if (!fills.empty()) return fills;
    switch (v.type) {
      case NC_DOUBLE:
        return {NC_FILL_DOUBLE};
      case NC_FLOAT:
        return {static_cast<double>(NC_FILL_FLOAT)};
      case NC_INT:
        return {NC_FILL_INT};
      case NC_SHORT:
        return {turn(v, NC_FILL_SHORT)};
      default:
        return {};
    }
  }

  struct Valid {
    double low = -std::numeric_limits<double>::infinity(), high = -low;
    bool unpacked = false;  ///< whether the range refers to unpacked instead of stored values
  };

  /// The range of valid values. It refers to unpacked values if it has their type (NetCDF User's Guide,
  /// "Attribute Conventions").
  Valid valid_of(const FileVariable& v, bool packed) const {
    Valid valid;
    const auto range = numbers_attribute(v, "valid_range");
    const auto low = numbers_attribute(v, "valid_min"), high = numbers_attribute(v, "valid_max");
    const char* key = nullptr;
    if (!range.empty() && (range.size() != 2 || !(range[0] <= range[1])))
      fail(fmt::format("the attribute valid_range of \"{}\" is \"{}\"", v.name,
                       shown(v.attribute("valid_range"))),
           "It must be two numbers, the smaller first, or the attribute must be removed.");
    if (range.size() == 2) valid.low = range[0], valid.high = range[1], key = "valid_range";
    if (low.size() == 1) valid.low = low[0], key = "valid_min";
    if (high.size() == 1) valid.high = high[0], key = "valid_max";
    if (key == nullptr) return valid;
    nc_type type = NC_NAT;
    nc_inq_atttype(file_, v.id, key, &type);
    const auto whole = [](nc_type t) { return t != NC_FLOAT && t != NC_DOUBLE; };
    valid.unpacked = packed && whole(v.type) && !whole(type);
    if (!valid.unpacked) valid.low = turn(v, valid.low), valid.high = turn(v, valid.high);
    return valid;
  }

  /// All values, unpacked: raw * scale_factor + add_offset; fill values become NaN.
  std::vector<double> values(const FileVariable& v) const {
    std::vector<std::int64_t> shape;
    for (const int d : v.dimensions) shape.push_back(static_cast<std::int64_t>(dimension(d).size));
    const auto where = fmt::format("{}: variable \"{}\"", path_, v.name);
    const auto n = checked_product(where, shape);
    budget_.take(where, n);
    std::vector<double> out(n);
    if (n > 0)
      check(nc_get_var_double(file_, v.id, out.data()),
            fmt::format("variable \"{}\" cannot be read", v.name));
    const auto fills = fills_of(v);
    const double scale = number_attribute(v, "scale_factor").value_or(1),
                 offset = number_attribute(v, "add_offset").value_or(0);
    if (scale == 0)
      fail(fmt::format("the attribute scale_factor of \"{}\" is 0", v.name),
           "All values would be one. Remove the attribute, or correct it.");
    const bool packed = scale != 1 || offset != 0;
    const auto valid = valid_of(v, packed);
    for (auto& value : out) {
      const double stored = turn(v, value), meant = packed ? stored * scale + offset : stored;
      const double compared = valid.unpacked ? meant : stored;
      const bool missing = std::find(fills.begin(), fills.end(), stored) != fills.end() ||
                           compared < valid.low || compared > valid.high;
      value = missing ? nan : meant;
    }
    return out;
  }

  double length_factor(const FileVariable& v) const {
    const auto unit = v.attribute("units");
    if (unit.empty() || unit == "1") return 1;
    try {
      return si_factor(Quantity::length, unit);
    } catch (const InputError&) {
      fail(fmt::format("coordinate \"{}\" is in \"{}\"", v.name, unit),
           "Allowed: degrees_east, degrees_north, or lengths: " + allowed_units(Quantity::length) + ".");
    }
  }

  /// Whether a vertical axis or a field of heights is positive downward, according to `positive` or a name
  /// that means depth.
  static bool goes_down(const FileVariable& v) {
    const auto positive = lower(v.attribute("positive"));
    if (!positive.empty()) return positive == "down";
    const auto standard = v.attribute("standard_name");
    return standard == "depth" || standard.starts_with("sea_floor_depth") ||
           (standard.empty() && lower(v.name) == "depth");
  }

  /// Throws InputError for axes that are not coordinates: terms of a formula, longitudes of a rotated pole.
  void check_axes(const FileVariable& v) const {
    for (const int d : v.dimensions)
      if (const auto* c = coordinate(d); c != nullptr && dimension(d).size > 1)
        for (const std::string_view word : {"sigma", "hybrid"})
          if (!c->attribute("formula_terms").empty() ||
              c->attribute("standard_name").find(word) != std::string::npos)
            fail(fmt::format("\"{}\" has no heights, but terms of a formula (formula_terms)", c->name),
                 "Interpolate to heights first.");
    const auto* mapping = find(v.attribute("grid_mapping"));
    const bool rotated = std::any_of(v.dimensions.begin(), v.dimensions.end(), [&](int d) {
      const auto* c = coordinate(d);
      return c != nullptr && (c->attribute("standard_name") == "grid_longitude" ||
                              c->attribute("standard_name") == "grid_latitude");
    });
    if (rotated ||
        (mapping != nullptr && mapping->attribute("grid_mapping_name") == "rotated_latitude_longitude"))
      fail(fmt::format("\"{}\" is on longitudes and latitudes of a rotated pole", v.name),
           "Resample it onto those of the Earth, or onto metres.");
  }

  // --- GMT 3: ranges instead of coordinates; one list of all values, row after row from the north

  bool is_gmt3() const {
    return std::all_of(gmt3_names.begin(), gmt3_names.end(), [&](const char* n) {
      const auto* v = find(n);
      return v != nullptr && is_number(*v) && v->dimensions.size() == 1;
    });
  }

  GridData gmt3() {
    const auto x = values(*find("x_range")), y = values(*find("y_range")), step = values(*find("spacing")),
               counts = values(*find("dimension"));
    const auto& z = *find("z");
    auto rows = values(z);
    const bool whole = x.size() == 2 && y.size() == 2 && step.size() == 2 && counts.size() == 2 &&
                       counts[0] >= 1 && counts[1] >= 1 &&
                       counts[0] * counts[1] == static_cast<double>(rows.size());
    if (!whole || !(x[0] < x[1]) || !(y[0] < y[1]))
      fail("its ranges, counts and values do not belong together", "It seems to be a grid of GMT 3.");
    const bool pixels = number_attribute(z, "node_offset").value_or(0) != 0;
    const auto n_east = static_cast<std::size_t>(counts[0]), n_north = static_cast<std::size_t>(counts[1]);
    const auto nodes = [&](const std::vector<double>& range, std::size_t n, double cell) {
      const double width = pixels ? (range[1] - range[0]) / static_cast<double>(n)
                                  : (range[1] - range[0]) / std::max(1.0, static_cast<double>(n) - 1);
      if (!(std::abs(width - cell) <= 1e-3 * width))
        fail(fmt::format("its spacing is {}, and its ranges make {}", cell, width),
             "It seems to be a grid of GMT 3.");
      const double half = pixels ? width / 2 : 0;
      return even_axis(range[0] + half, range[1] - half, n);
    };
    GridData out;
    out.easting = nodes(x, n_east, step[0]);
    out.northing = nodes(y, n_north, step[1]);
    const auto unit = lower(find("x_range")->attribute("units"));
    out.geographic = unit.find("degree") != std::string::npos || unit.starts_with("lon");
    out.unit_is_assumed = !out.geographic;
    Column field{"z", z.attribute("units"), z.attribute("long_name"), {}};
    const auto z_unit = find("z_range") != nullptr ? find("z_range")->attribute("units") : std::string();
    if (field.unit.empty() && known_length(z_unit)) field.unit = z_unit;
    for (std::size_t j = n_north; j-- > 0;) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(j * n_east);
      field.values.insert(field.values.end(), row, row + static_cast<std::ptrdiff_t>(n_east));
    }
    out.fields.push_back(std::move(field));
    out.attributes = global_;
    return out;
  }

  static bool known_length(const std::string& unit) {
    try {
      return !unit.empty() && si_factor(Quantity::length, unit) > 0;
    } catch (const InputError&) {
      return false;
    }
  }

  Axis axis(const FileVariable& v) const {
    Axis out;
    out.values = values(v);
    const auto unit = lower(v.attribute("units")), name = lower(v.name);
    out.geographic =
        unit.starts_with("degree") || (unit.empty() && (name.starts_with("lon") || name.starts_with("lat")));
    out.unit_is_assumed = !out.geographic && (unit.empty() || unit == "1");
    const double factor =
        out.geographic ? 1 : length_factor(v) * (role(v) == AxisRole::up && goes_down(v) ? -1 : 1);
    for (auto& x : out.values) x *= factor;
    if (out.values.empty()) fail(fmt::format("coordinate \"{}\" is empty", v.name));
    out.reversed = out.values.size() > 1 && out.values.front() > out.values.back();
    if (out.reversed) std::reverse(out.values.begin(), out.values.end());
    for (std::size_t i = 0; i < out.values.size(); ++i)
      if (!std::isfinite(out.values[i]) || (i > 0 && !(out.values[i] > out.values[i - 1])))
        fail(fmt::format("coordinate \"{}\" neither ascends nor descends all the way", v.name),
             "Sort the grid along it.");
    return out;
  }

  /// Values reordered to [up, north, east], all ascending.
  Column ordered(const FileVariable& v, const std::array<const Axis*, 3>& axes) const {
    const auto raw = values(v);
    std::array<std::size_t, 3> stride{}, size{1, 1, 1};
    std::size_t step = 1;
    for (std::size_t d = v.dimensions.size(); d-- > 0;) {
      const int id = v.dimensions[d];
      const auto r = role_of_dimension_[static_cast<std::size_t>(id)];
      if (r != AxisRole::none) {
        const std::size_t a = r == AxisRole::east ? 0 : r == AxisRole::north ? 1 : 2;
        stride[a] = step;
        size[a] = dimension(id).size;
      }
      step *= dimension(id).size;
    }
    Column column{v.name, v.attribute("units"), v.attribute("long_name"), {}};
    column.values.reserve(raw.size());
    const auto place = [&](std::size_t a, std::size_t i) {
      return stride[a] * (axes[a] != nullptr && axes[a]->reversed ? size[a] - 1 - i : i);
    };
    for (std::size_t k = 0; k < size[2]; ++k)
      for (std::size_t j = 0; j < size[1]; ++j)
        for (std::size_t i = 0; i < size[0]; ++i)
          column.values.push_back(raw[place(0, i) + place(1, j) + place(2, k)]);
    return column;
  }

  const FileVariable& coordinate_of(const FileVariable& v, AxisRole wanted) const {
    for (const int d : v.dimensions)
      if (role_of_dimension_[static_cast<std::size_t>(d)] == wanted) return *coordinate(d);
    fail(fmt::format("variable \"{}\" lacks an axis", v.name), known_shapes());
  }

  /// The variables with the same axes as the first; adds a note with the names of the others.
  std::vector<const FileVariable*> alike(const std::vector<const FileVariable*>& all,
                                         std::initializer_list<AxisRole> wanted, Attributes& notes) const {
    std::vector<const FileVariable*> out;
    std::string left;
    for (const auto* v : all) {
      const bool same = std::all_of(wanted.begin(), wanted.end(), [&](AxisRole r) {
        return &coordinate_of(*v, r) == &coordinate_of(*all.front(), r);
      });
      if (same) out.push_back(v);
      else left += (left.empty() ? "" : ", ") + v->name;
    }
    if (!left.empty()) notes["variables_on_other_axes"] = left;
    return out;
  }

  /// The projection of a variable: that of its grid_mapping, or else the first in the file.
  std::string projection(const FileVariable* of) {
    if (const auto it = global_.find("projection"); it != global_.end()) {
      const auto text = crs_in_metres(it->second);
      global_.erase(it);
      return text;
    }
    const auto* mapping = of == nullptr ? nullptr : find(of->attribute("grid_mapping"));
    for (const auto& v : variables_)
      for (const auto* key : {"crs_wkt", "spatial_ref", "proj4"})
        if (const auto text = v.attribute(key); !text.empty() && (mapping == nullptr || mapping == &v))
          return crs_in_metres(text);
    if (mapping != nullptr)
      note(
          fmt::format("the map projection of \"{}\" ({}) is described by parameters alone, which are not "
                      "read: crs_wkt is",
                      of->name, mapping->attribute("grid_mapping_name")));
    return {};
  }

  GridData grid(const std::vector<const FileVariable*>& all) {
    GridData out;
    const auto east = axis(coordinate_of(*all.front(), AxisRole::east)),
               north = axis(coordinate_of(*all.front(), AxisRole::north));
    if (east.geographic != north.geographic)
      fail("one horizontal coordinate is in degrees and the other is not");
    out.easting = east.values;
    out.northing = north.values;
    out.geographic = east.geographic;
    out.unit_is_assumed = east.unit_is_assumed && north.unit_is_assumed;
    out.projection = projection(all.front());
    for (const auto* v : alike(all, {AxisRole::east, AxisRole::north}, global_)) {
      out.fields.push_back(ordered(*v, {&east, &north, nullptr}));
      if (goes_down(*v)) out.downward.push_back(v->name);
    }
    out.attributes = global_;
    return out;
  }

  /// Cell faces from bounds, or from evenly spaced centres. alone: width of a single cell without bounds; 0:
  /// unknown
  std::vector<double> faces(const FileVariable& v, const Axis& centres, double alone) const {
    const auto n = centres.values.size();
    const double factor = length_factor(v) * (role(v) == AxisRole::up && goes_down(v) ? -1 : 1);
    std::vector<double> out;
    if (const auto* bounds = find(v.attribute("bounds")); bounds != nullptr) {
      auto b = values(*bounds);
      if (b.size() != 2 * n)
        fail(fmt::format("\"{}\" has {} values for {} cells", bounds->name, b.size(), n),
             "Bounds are two for each cell.");
      for (auto& x : b) x *= factor;
      const double slack = 1e-9 * (centres.values.back() - centres.values.front() + std::abs(b[1] - b[0]));
      for (std::size_t c = 0; c < n; ++c) {
        const std::size_t at = 2 * (centres.reversed ? n - 1 - c : c);
        const double low = std::min(b[at], b[at + 1]), high = std::max(b[at], b[at + 1]);
        if (c > 0 && !(std::abs(low - out.back()) <= slack))
          fail(fmt::format("cells along \"{}\" do not touch: one ends at {} and the next begins at {}",
                           v.name, out.back(), low));
        if (c == 0) out.push_back(low);
        out.push_back(high);
      }
      return out;
    }
    if (n < 2 && alone == 0)
      fail(fmt::format("coordinate \"{}\" has one cell and no bounds", v.name),
           "Give it the attribute \"bounds\".");
    if (n < 2) return {centres.values[0] - alone / 2, centres.values[0] + alone / 2};
    const double width = (centres.values.back() - centres.values.front()) / static_cast<double>(n - 1);
    for (std::size_t i = 0; i <= n; ++i) {
      if (i < n &&
          !(std::abs(centres.values[i] - centres.values[0] - width * static_cast<double>(i)) <= 1e-6 * width))
        fail(fmt::format("coordinate \"{}\" is not evenly spaced and has no bounds", v.name),
             "Give it the attribute \"bounds\".");
      out.push_back(centres.values[0] + width * (static_cast<double>(i) - 0.5));
    }
    return out;
  }

  MeshData mesh(const std::vector<const FileVariable*>& all) {
    std::array<Axis, 3> axes;
    std::array<std::vector<double>, 3> cell_faces;
    constexpr std::array order{AxisRole::east, AxisRole::north, AxisRole::up};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& v = coordinate_of(*all.front(), order[a]);
      axes[a] = axis(v);
      if (axes[a].geographic) fail("a mesh in degrees cannot be used", "Project it to metres first.");
    }
    // Two-dimensional images have one cell along northing. It gets the smallest spacing along the other axes:
    // sufficient for plots, but not for computing.
    double least = 0;
    for (const auto& of : axes)
      if (of.values.size() > 1) {
        const double width =
            (of.values.back() - of.values.front()) / static_cast<double>(of.values.size() - 1);
        least = least == 0 ? width : std::min(least, width);
      }
    for (std::size_t a = 0; a < 3; ++a)
      cell_faces[a] = faces(coordinate_of(*all.front(), order[a]), axes[a], a == 1 ? least : 0);
    MeshData out;
    out.width_is_guessed =
        axes[1].values.size() == 1 && !find(coordinate_of(*all.front(), AxisRole::north).attribute("bounds"));
    try {
      out.mesh = TensorMesh(std::move(cell_faces[0]), std::move(cell_faces[1]), std::move(cell_faces[2]));
    } catch (const InputError& e) {
      fail(fmt::format("{}: {}", e.where(), e.problem()), e.next());
    }
    for (const auto* v : alike(all, {AxisRole::east, AxisRole::north, AxisRole::up}, global_)) {
      out.cells.push_back(ordered(*v, {&axes[0], &axes[1], &axes[2]}));
      to_si(out.cells.back());
    }
    out.attributes = global_;
    return out;
  }

  Table table(const FileVariable* wanted) {
    // The dimension with the most one-dimensional variables.
    std::vector<std::size_t> count(dimensions_.size(), 0);
    for (const auto& v : variables_)
      if (v.dimensions.size() == 1) ++count[static_cast<std::size_t>(v.dimensions[0])];
    const auto most = std::max_element(count.begin(), count.end());
    if (most == count.end() || *most == 0)
      fail("there is no variable that can be read" + (groups_.empty() ? "" : "; it has " + groups_),
           known_shapes());
    const int d = wanted != nullptr ? wanted->dimensions[0] : static_cast<int>(most - count.begin());
    Table out;
    out.source = path_;
    for (const auto& v : variables_) {
      if (v.dimensions != std::vector<int>{d}) continue;
      if (v.type == NC_STRING) {
        std::vector<char*> strings(dimension(d).size, nullptr);
        if (!strings.empty()) check(nc_get_var_string(file_, v.id, strings.data()), "cannot be read");
        TextColumn text{v.name, {}, 0};
        for (const auto* s : strings) text.values.emplace_back(s == nullptr ? "" : s);
        nc_free_string(strings.size(), strings.data());
        out.texts.push_back(std::move(text));
      } else if (is_number(v)) {
        out.columns.push_back({v.name, v.attribute("units"), v.attribute("long_name"), values(v)});
        // Depths according to the attribute "positive", though the name does not say so: their sign is
        // changed.
        if (lower(v.attribute("positive")) == "down" && lower(v.name).find("depth") == std::string::npos)
          for (double& value : out.columns.back().values) value = -value;
      }
    }
    out.projection = projection(nullptr);
    out.attributes = global_;
    return out;
  }

  const std::string& path_;
  mutable ReadBudget budget_;
  int file_ = -1;
  bool open_ = false;
  std::vector<FileDimension> dimensions_;
  std::vector<FileVariable> variables_;
  std::vector<std::string> auxiliary_;
  std::vector<AxisRole> role_of_dimension_;
  std::string groups_;  ///< text of a note on groups; empty if there are no groups
  Attributes global_;
};

// --- writing
// -----------------------------------------------------------------------------------------------------

/// Builds the file in memory and writes it as a whole: the HDF5 library used by netCDF crashes if the disk
/// fills up while one of its files is open.
class NetcdfWriter {
 public:
  explicit NetcdfWriter(const std::string& path) : file_out_(path) {
    constexpr std::size_t first_bytes = 1 << 16;
    check(nc_create_mem(path.c_str(), NC_NETCDF4 | NC_CLOBBER, first_bytes, &file_));
    open_ = true;
    attribute(NC_GLOBAL, "Conventions", "CF-1.8");
  }
  NetcdfWriter(const NetcdfWriter&) = delete;
  NetcdfWriter& operator=(const NetcdfWriter&) = delete;
  ~NetcdfWriter() {
    if (open_) nc_abort(file_);
  }

  int dimension(const char* name, std::size_t size) {
    int id = 0;
    check(nc_def_dim(file_, name, size, &id));
    return id;
  }

  void attribute(int variable, const std::string& key, const std::string& value) {
    if (value.empty() && variable != NC_GLOBAL) return;
    check(nc_put_att_text(file_, variable, netcdf_name(key).c_str(), value.size(), value.data()));
  }

  void attributes(const Attributes& all) {
    for (const auto& [key, value] : all)
      if (key != "Conventions" && key != "featureType") attribute(NC_GLOBAL, key, value);
  }

  int variable(const std::string& name, const std::vector<int>& dimensions, std::size_t size, bool may_miss,
               bool single = false) {
    int id = 0;
    const nc_type type = single ? NC_FLOAT : NC_DOUBLE;
    check(nc_def_var(file_, fresh(name).c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(),
                     &id));
    if (size >= least_numbers_to_deflate) {
      std::vector<std::size_t> shape(dimensions.size());
      for (std::size_t d = 0; d < shape.size(); ++d) check(nc_inq_dimlen(file_, dimensions[d], &shape[d]));
      check(define_deflated(file_, id, std::move(shape), deflated_[id]));
    }
    if (may_miss) check(nc_put_att_double(file_, id, "_FillValue", type, 1, &nan));
    return id;
  }

  /// Adds the variable with the coordinate reference system (CF conventions). Returns its name; empty if
  /// there is no system.
  std::string grid_mapping(const std::string& projection) {
    const auto wkt = crs_wkt(projection);
    if (wkt.empty()) return {};
    int id = 0;
    const auto name = fresh("spatial_ref");
    check(nc_def_var(file_, name.c_str(), NC_INT, 0, nullptr, &id));
    attribute(id, "crs_wkt", wkt);
    attribute(id, "spatial_ref", wkt);  // name of the attribute in GDAL
    return name;
  }

  int string_variable(const std::string& name, int d) {
    int id = 0;
    check(nc_def_var(file_, fresh(name).c_str(), NC_STRING, 1, &d, &id));
    return id;
  }

  /// Writes the values of a variable; those of compressed variables must stay in memory until commit().
  void put(int variable, const std::vector<double>& values) {
    const auto found = deflated_.find(variable);
    if (found != deflated_.end()) return keep(found->second, values);
    if (!values.empty()) check(nc_put_var_double(file_, variable, values.data()));
  }
  void put(int variable, const std::vector<std::string>& values) {
    std::vector<const char*> pointers;
    for (const auto& v : values) pointers.push_back(v.c_str());
    if (!pointers.empty()) check(nc_put_var_string(file_, variable, pointers.data()));
  }

  void commit() {
    open_ = false;
    write_closed(file_, kept_, file_out_);
    file_out_.commit();
  }

  /// An allowed name that no variable has yet. If a caller asks for `wanted` a second time, it gets the same
  /// name, so that NetCDF reports the error.
  std::string fresh(const std::string& wanted) {
    auto name = netcdf_name(wanted);
    if (!given_.insert(wanted).second) return name;
    int id = 0;
    for (int n = 2; nc_inq_varid(file_, name.c_str(), &id) == NC_NOERR; ++n)
      name = fmt::format("{}_{}", netcdf_name(wanted).substr(0, NC_MAX_NAME - 12), n);
    return name;
  }

 private:
  void keep(const Deflated& variable, const std::vector<double>& values) {
    kept_.push_back(variable);
    kept_.back().numbers = values.data();
    if (variable.width == sizeof(double)) return;
    constexpr double most = std::numeric_limits<float>::max();
    auto& single = single_.emplace_back(values.size());
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (std::abs(values[n]) > most) check(NC_ERANGE);
      single[n] = static_cast<float>(values[n]);
    }
    kept_.back().numbers = single.data();
  }

  void check(int status) const { check_written(status, file_out_.path()); }

  AtomicFile file_out_;
  std::set<std::string> given_;
  int file_ = -1;
  bool open_ = false;
  std::map<int, Deflated> deflated_;  ///< compressed variables, by number of the variable
  std::vector<Deflated> kept_;
  std::list<std::vector<float>> single_;
};

std::string description(const Column& c) { return c.description.empty() ? c.name : c.description; }

/// in_doubt: the unit of the source is only assumed, so none is written
void describe_coordinate(NetcdfWriter& out, int variable, std::string_view name, bool in_doubt = false) {
  const bool degrees = name == "longitude" || name == "latitude";
  if (!in_doubt)
    out.attribute(variable, "units",
                  name == "longitude"  ? "degrees_east"
                  : name == "latitude" ? "degrees_north"
                                       : "m");
  out.attribute(variable, "long_name", std::string(name == "up" ? "height" : name));
  if (degrees) out.attribute(variable, "standard_name", std::string(name));
  else if (name != "up")
    out.attribute(variable, "standard_name",
                  name == "easting" ? "projection_x_coordinate" : "projection_y_coordinate");
  if (name == "up") out.attribute(variable, "positive", "up");
  out.attribute(variable, "axis", name == "up" ? "Z" : name == "longitude" || name == "easting" ? "X" : "Y");
}

template <class Function>
auto guarded(const std::string& path, Function&& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    throw MemoryError(path, "does not fit into memory");
  }
}

}  // namespace

Content read_netcdf(const std::string& path, const std::string& field, std::size_t memory) {
  const LibraryLock lock;
  return guarded(path, [&] { return NetcdfReader(path, memory).content(field); });
}

bool holds_gathers(const std::string& path) {
  const LibraryLock lock;
  return guarded(path, [&] { return NetcdfReader(path, 0).has_gathers(); });
}

void write_netcdf(const std::string& path, const GridData& grid) {
  const LibraryLock lock;
  NetcdfWriter out(path);
  const char *x_name = grid.geographic ? "longitude" : "easting",
             *y_name = grid.geographic ? "latitude" : "northing";
  const int y_dim = out.dimension(y_name, grid.northing.size()),
            x_dim = out.dimension(x_name, grid.easting.size());
  const int y = out.variable(y_name, {y_dim}, 0, false), x = out.variable(x_name, {x_dim}, 0, false);
  describe_coordinate(out, x, x_name, may_be_degrees(grid));
  describe_coordinate(out, y, y_name, may_be_degrees(grid));
  const auto mapping = grid.geographic ? std::string() : out.grid_mapping(grid.projection);
  std::vector<int> ids;
  for (const auto& f : grid.fields) {
    const int id = out.variable(f.name, {y_dim, x_dim}, f.values.size(), true, f.single);
    out.attribute(id, "units", f.unit);
    out.attribute(id, "grid_mapping", mapping);
    out.attribute(id, "long_name", f.name == "up" && f.description.empty() ? "height" : description(f));
    const bool down = std::find(grid.downward.begin(), grid.downward.end(), f.name) != grid.downward.end();
    if (f.name == "up" || down) out.attribute(id, "positive", down ? "down" : "up");
    if (f.name != "up" && grid.find("up") != nullptr) out.attribute(id, "coordinates", "up");
    ids.push_back(id);
  }
  out.attributes(grid.attributes);
  if (!grid.projection.empty()) out.attribute(NC_GLOBAL, "projection", grid.projection);
  out.put(x, grid.easting);
  out.put(y, grid.northing);
  for (std::size_t f = 0; f < ids.size(); ++f) out.put(ids[f], grid.fields[f].values);
  out.commit();
}

void write_netcdf(const std::string& path, const Table& table) {
  const LibraryLock lock;
  NetcdfWriter out(path);
  const int station = out.dimension("station", table.rows());
  out.attribute(NC_GLOBAL, "featureType", "point");
  std::string coordinates;
  for (const auto* name : {"easting", "northing", "up", "longitude", "latitude"})
    if (table.find(name) != nullptr) coordinates += (coordinates.empty() ? "" : " ") + std::string(name);
  const auto is_coordinate = [&](const std::string& name) {
    return name == "easting" || name == "northing" || name == "up" || name == "longitude" ||
           name == "latitude";
  };
  const auto mapping = table.find("easting") == nullptr ? std::string() : out.grid_mapping(table.projection);
  std::vector<int> ids, text_ids;
  for (const auto& c : table.columns) {
    const int id = out.variable(c.name, {station}, c.values.size(), !is_coordinate(c.name), c.single);
    if (is_coordinate(c.name) && (c.unit.empty() || c.unit == "m" || c.unit.starts_with("deg")))
      describe_coordinate(out, id, c.name);
    else out.attribute(id, "units", c.unit), out.attribute(id, "long_name", description(c));
    if (!is_coordinate(c.name)) {
      out.attribute(id, "coordinates", coordinates);
      out.attribute(id, "grid_mapping", mapping);
    }
    ids.push_back(id);
  }
  for (const auto& t : table.texts) text_ids.push_back(out.string_variable(t.name, station));
  out.attributes(table.attributes);
  if (!table.projection.empty()) out.attribute(NC_GLOBAL, "projection", table.projection);
  for (std::size_t c = 0; c < ids.size(); ++c) out.put(ids[c], table.columns[c].values);
  for (std::size_t t = 0; t < text_ids.size(); ++t) out.put(text_ids[t], table.texts[t].values);
  out.commit();
}

void write_netcdf(const std::string& path, const MeshData& data) {
  const LibraryLock lock;
  NetcdfWriter out(path);
  constexpr std::array names{"up", "northing", "easting"};
  const std::array<const std::vector<double>*, 3> faces{&data.mesh.up(), &data.mesh.northing(),
                                                        &data.mesh.easting()};
  std::vector<int> dimensions;
  for (std::size_t a = 0; a < 3; ++a) dimensions.push_back(out.dimension(names[a], faces[a]->size() - 1));
  const int two = out.dimension("nv", 2);
  std::array<int, 3> centres{}, bounds{};
  for (std::size_t a = 0; a < 3; ++a) {
    centres[a] = out.variable(names[a], {dimensions[a]}, 0, false);
    describe_coordinate(out, centres[a], names[a]);
    const auto bounds_name = fmt::format("{}_bounds", names[a]);
    out.attribute(centres[a], "bounds", bounds_name);
    bounds[a] = out.variable(bounds_name, {dimensions[a], two}, 0, false);
  }
  std::vector<int> ids;
  for (const auto& c : data.cells) {
    ids.push_back(out.variable(c.name, dimensions, c.values.size(), true, c.single));
    out.attribute(ids.back(), "units", c.unit);
    out.attribute(ids.back(), "long_name", description(c));
  }
  out.attributes(data.attributes);
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& f = *faces[a];
    std::vector<double> middle, ends;
    for (std::size_t i = 0; i + 1 < f.size(); ++i) {
      middle.push_back(f[i] + (f[i + 1] - f[i]) / 2);
      ends.insert(ends.end(), {f[i], f[i + 1]});
    }
    out.put(centres[a], middle);
    out.put(bounds[a], ends);
  }
  for (std::size_t c = 0; c < ids.size(); ++c) out.put(ids[c], data.cells[c].values);
  out.commit();
}

namespace {

/// Reads the header of a classic file (CDF-1, CDF-2, CDF-5: "The NetCDF classic format specification") to
/// check the length of names. Numbers beyond the end of the file are zero, as in netCDF.
class ClassicHeader {
 public:
  explicit ClassicHeader(const std::string& path) : path_(path), in_(path, std::ios::binary) {}

  void check() {
    std::array<char, 4> magic{};
    in_.read(magic.data(), 4);
    version_ = magic[3];
    if (std::string_view(magic.data(), 3) != "CDF" || (version_ != 1 && version_ != 2 && version_ != 5))
      return;
    number(count_bytes());  // skips the number of records
    list([&] {
      name();
      number(count_bytes());
    });
    attributes();
    list([&] {
      name();
      skip(number(count_bytes()), count_bytes());  // skips the indices of dimensions
      attributes();
      number(4);
      number(count_bytes());
      number(version_ == 1 ? 4 : 8);  // skips the position of the data
    });
  }

 private:
  int count_bytes() const { return version_ == 5 ? 8 : 4; }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int n = 0; n < bytes; ++n) {
      const int c = in_.get();
      if (c == std::char_traits<char>::eof()) return 0;
      value = value << 8 | static_cast<unsigned char>(c);
    }
    return value;
  }
  void skip(std::uint64_t count, int bytes) {
    constexpr std::uint64_t most = std::uint64_t{1} << 56;
    const auto size = (std::min(count, most) * static_cast<std::uint64_t>(bytes) + 3) / 4 * 4;
    in_.ignore(static_cast<std::streamsize>(size));
  }
  template <class Item>
  void list(const Item& item) {
    number(4);  // skips the kind of the list
    for (auto count = number(count_bytes()); count > 0 && in_.good(); --count) item();
  }
  void name() {
    const auto bytes = number(count_bytes());
    if (bytes > NC_MAX_NAME)
      throw FileError(path_, fmt::format("a name of {} bytes; NetCDF allows {}", bytes, NC_MAX_NAME),
                      "The file may be truncated, damaged, or of another kind.");
    skip(bytes, 1);
  }
  void attributes() {
    static constexpr std::array<int, 12> bytes_of_type{0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    list([&] {
      name();
      const auto type = number(4);
      skip(number(count_bytes()), type < bytes_of_type.size() ? bytes_of_type[type] : 0);
    });
  }

  const std::string& path_;
  std::ifstream in_;
  char version_ = 0;
};

}  // namespace

void check_classic_names(const std::string& path) { ClassicHeader(path).check(); }

std::string netcdf_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '_');
  while (name.ends_with(' ')) name.pop_back();
  if (name.empty()) return "unnamed";
  const auto first = static_cast<unsigned char>(name.front());
  if (first < 0x80 && !std::isalnum(first) && first != '_') name.insert(0, 1, '_');
  if (name.size() > NC_MAX_NAME) {
    name.resize(NC_MAX_NAME);
    // Removes the remaining bytes of a UTF-8 character that was cut.
    while ((static_cast<unsigned char>(name.back()) & 0xC0) == 0x80) name.pop_back();
    if (static_cast<unsigned char>(name.back()) >= 0xC0) name.pop_back();
  }
  return name;
}

}  // namespace terrane::io
