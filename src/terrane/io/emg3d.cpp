// Order of this file: reading .npz, .json or .h5 into a tree of tables; then conversion of the objects in the
// tree.
#include "terrane/io/emg3d.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numbers>
#include <unordered_map>
#include <utility>

#include "terrane/base/error.hpp"
#include "terrane/base/number.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/file.hpp"
#include "terrane/io/hdf5_handle.hpp"
#include "terrane/io/library_lock.hpp"
#include "terrane/io/memory.hpp"
#include "terrane/io/npy.hpp"

namespace terrane::io {

namespace emg3d {

namespace {

constexpr int deepest = 32;

struct Entry;

/// A node of the tree: a table, a text, an array of numbers, or something that is not read (complex data).
struct Node {
  std::vector<Entry> entries;
  std::unordered_map<std::string, std::size_t> places;  ///< index of each entry in `entries`, by name
  bool table = false;
  std::optional<std::string> text;
  std::optional<Array> numbers;

  const Node* find(std::string_view key) const;
  Node& at(const std::string& key);
  bool none() const { return !table && (!text || *text == "NoneType") && !numbers; }
};

struct Entry {
  std::string name;
  Node node;
};

const Node* Node::find(std::string_view key) const {
  const auto found = places.find(std::string(key));
  return found == places.end() ? nullptr : &entries[found->second].node;
}

Node& Node::at(const std::string& key) {
  table = true;
  const auto [found, fresh] = places.try_emplace(key, entries.size());
  if (fresh) entries.push_back({key, {}});
  return entries[found->second].node;
}

/// Reserves memory for an entry of a table, apart from its numbers.
void take_entry(ReadBudget& budget, const std::string& name, const std::string& key) {
  constexpr std::size_t of_the_map = 64;
  budget.take(name, 2 * sizeof(Entry) + 3 * key.size() + of_the_map, 1);
}

// --- .npz: a zip file of .npy files, named model>grid>hx.npy

std::uint32_t little(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t n = count; n-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + n]);
  return value;
}

struct ZipEntry {
  std::string name;
  std::uint32_t method, crc, packed, size, at;
};

[[noreturn]] void broken_zip(const std::string& name, const char* how) {
  throw InputError(name, fmt::format("this .npz file {}", how), "Write it again, or as .h5.");
}

std::vector<ZipEntry> directory(const std::string& name, std::string_view bytes) {
  constexpr std::size_t tail = 22;
  const auto end = bytes.rfind(std::string_view("PK\x05\x06", 4));
  if (end == bytes.npos || end + tail > bytes.size())
    broken_zip(name, "has no directory; it may be truncated");
  const std::uint32_t count = little(bytes, end + 10, 2);
  std::size_t at = little(bytes, end + 16, 4);
  std::vector<ZipEntry> entries;
  for (std::uint32_t n = 0; n < count; ++n) {
    if (at + 46 > bytes.size() || bytes.substr(at, 4) != std::string_view("PK\x01\x02", 4))
      broken_zip(name, "has a damaged directory, or more than 4 GB");
    const std::size_t letters = little(bytes, at + 28, 2),
                      more = little(bytes, at + 30, 2) + little(bytes, at + 32, 2);
    if (at + 46 + letters > bytes.size()) broken_zip(name, "has a damaged directory");
    entries.push_back({std::string(bytes.substr(at + 46, letters)), little(bytes, at + 10, 2),
                       little(bytes, at + 16, 4), little(bytes, at + 20, 4), little(bytes, at + 24, 4),
                       little(bytes, at + 42, 4)});
    at += 46 + letters + more;
  }
  return entries;
}

std::string unpacked(const std::string& name, std::string_view bytes, const ZipEntry& entry) {
  if (std::size_t{entry.at} + 30 > bytes.size()) broken_zip(name, "ends early");
  const std::size_t first =
      std::size_t{entry.at} + 30 + little(bytes, entry.at + 26, 2) + little(bytes, entry.at + 28, 2);
  if (first > bytes.size() || entry.packed > bytes.size() - first) broken_zip(name, "ends early");
  const auto packed = bytes.substr(first, entry.packed);
  constexpr std::uint32_t stored = 0, deflated = 8, largest_ratio = 1100;
  std::string out;
  if (entry.method == stored) {
    out = packed;
  } else if (entry.method == deflated && entry.size / largest_ratio <= packed.size()) {
    out.resize(entry.size);
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) broken_zip(name, "cannot be unpacked");
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    if (status != Z_STREAM_END || stream.avail_out != 0) broken_zip(name, "cannot be unpacked");
  } else {
    broken_zip(name, "is packed in a way that is not known");
  }
  if (crc32(crc32(0, nullptr, 0), reinterpret_cast<const Bytef*>(out.data()),
            static_cast<uInt>(out.size())) != entry.crc)
    broken_zip(name, "is damaged: a checksum differs");
  return out;
}

/// The type in the header of a .npy file: "<f8", "<U11", "<c16".
std::string_view type_of(std::string_view npy) {
  const auto head = npy.substr(0, std::min<std::size_t>(npy.size(), 256));
  const auto at = head.find("'descr': '");
  if (at == head.npos) return {};
  const auto from = head.substr(at + 10);
  return from.substr(0, std::min(from.find('\''), from.size()));
}

/// The characters of a NumPy text, four bytes each; those beyond ASCII become "?".
std::string text_of(std::string_view npy) {
  const auto end = npy.find('\n');
  std::string text;
  for (std::size_t n = end == npy.npos ? npy.size() : end + 1; n + 4 <= npy.size(); n += 4) {
    const auto letter = little(npy, n, 4);
    if (letter == 0) break;
    text += letter < 128 ? static_cast<char>(letter) : '?';
  }
  return text;
}

Node tree_of_npz(const std::string& name, std::string_view bytes, ReadBudget& budget) {
  Node root;
  for (const auto& entry : directory(name, bytes)) {
    std::string_view path = entry.name;
    if (path.ends_with(".npy")) path.remove_suffix(4);
    budget.take(name, entry.size / sizeof(double));
    const auto npy = unpacked(name, bytes, entry);
    Node* node = &root;
    for (int depth = 0; !path.empty(); ++depth) {
      if (depth == deepest) broken_zip(name, "has tables in tables without end");
      const auto part = std::min(path.find('>'), path.size());
      const std::string key(path.substr(0, part));
      take_entry(budget, name, key);
      node = &node->at(key);
      path.remove_prefix(std::min(part + 1, path.size()));
    }
    const auto type = type_of(npy);
    if (type.starts_with("<U")) node->text = text_of(npy);
    else if (type.size() > 1 && type[1] != 'c' && type[1] != 'U' && type[1] != 'S' && type[1] != 'O')
      node->numbers = read_npy(fmt::format("{}: {}", name, entry.name), npy);
  }
  return root;
}

// --- .json: arrays are nested lists, with names such as hx__array-float64

class JsonReader {
 public:
  JsonReader(const std::string& name, std::string_view text, ReadBudget& budget)
      : name_(name), text_(text), budget_(budget) {}
  Node read() {
    Node root = value(0);
    blanks();
    if (at_ != text_.size()) fail("something follows the end of the object");
    if (!root.table) fail("it is no object");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    throw InputError(fmt::format("{}:{}", name_, line), problem, "It must be JSON, as emg3d.save writes it.");
  }
  void blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  char next() {
    blanks();
    if (at_ >= text_.size()) fail("the file ends early");
    return text_[at_];
  }
  void expect(char letter) {
    if (next() != letter) fail(fmt::format("there is no '{}'", letter));
    ++at_;
  }
  bool takes(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Node value(int depth) {
    if (depth == deepest) fail("tables in tables without end");
    const char letter = next();
    Node node;
    if (letter == '{') return object(depth);
    if (letter == '"') {
      node.text = text();
      return node;
    }
    if (takes("null")) return node;
    Array array;
    numbers(array, 0);
    node.numbers = std::move(array);
    return node;
  }

  Node object(int depth) {
    Node node;
    node.table = true;
    expect('{');
    if (next() == '}') return ++at_, node;
    for (;;) {
      next();
      auto key = text();
      expect(':');
      auto entry = value(depth + 1);
      const auto flag = std::min(key.find("__complex"), key.find("__array"));
      if (key.find("__complex") != key.npos)
        entry.numbers.reset();  // complex fields and survey data are not
                                // read
      if (flag != key.npos && flag > 0) key.resize(flag);
      take_entry(budget_, name_, key);
      node.at(key) = std::move(entry);
      if (next() != ',') break;
      ++at_;
    }
    expect('}');
    return node;
  }

  std::string text() {
    expect('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        if (++at_ >= text_.size()) break;
        const char letter = text_[at_];
        constexpr std::string_view from = "nrtbf", to = "\n\r\t\b\f";
        if (letter == 'u') {
          at_ += std::min<std::size_t>(4, text_.size() - at_ - 1);
          out += '?';
        } else {
          out += from.find(letter) == from.npos ? letter : to[from.find(letter)];
        }
      } else {
        out += text_[at_];
      }
      ++at_;
    }
    expect('"');
    return out;
  }

  /// Reads a number, or nested lists of equal lengths, at nesting depth `axis`.
  void numbers(Array& array, std::size_t axis) {
    if (axis == deepest) fail("lists in lists without end");
    if (next() != '[') {
      array.values.push_back(number());
      return;
    }
    ++at_;
    const bool first = array.shape.size() == axis;
    if (first) array.shape.push_back(0);
    std::size_t count = 0;
    if (next() != ']')
      for (;;) {
        ++count;
        const bool nested = next() == '[';
        if (!first && nested != (array.shape.size() > axis + 1)) fail("lists of different depth");
        if (nested && count > 1 && array.shape.size() <= axis + 1) fail("lists of different depth");
        numbers(array, axis + 1);
        if (next() != ',') break;
        ++at_;
      }
    expect(']');
    if (first) array.shape[axis] = count;
    else if (array.shape[axis] != count) fail("lists of different lengths");
    std::size_t all = 1;
    for (const auto n : array.shape) all *= n;
    if (axis == 0 && all != array.values.size()) fail("lists of different lengths");
  }

  double number() {
    blanks();
    if (takes("true")) return 1;
    if (takes("false")) return 0;
    if (takes("NaN") || takes("null")) return std::nan("");
    if (takes("Infinity")) return INFINITY;
    if (takes("-Infinity")) return -INFINITY;
    double out = 0;
    const auto* begin = text_.data() + at_;
    const auto [end, error] = read_number(text_.substr(at_), out);
    if (error != std::errc{} || end == begin) fail("this is no number, text or object");
    at_ += static_cast<std::size_t>(end - begin);
    return out;
  }

  const std::string& name_;
  std::string_view text_;
  ReadBudget& budget_;
  std::size_t at_ = 0;
};

// --- .h5: nested groups

class Hdf5Tree {
 public:
  Hdf5Tree(const std::string& path, ReadBudget& budget) : path_(path), budget_(budget) {}

  Node read() {
    const Hdf5Handle file(open_hdf5(path_), H5Fclose);
    check_self_contained(file, path_);
    return group(file, 0);
  }

 private:
  static std::vector<std::string> names(hid_t of) {
    std::vector<std::string> all;
    hsize_t at = 0;
    const auto keep = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
      try {
        static_cast<std::vector<std::string>*>(to)->emplace_back(name);
        return 0;
      } catch (...) {
        return -1;  // exceptions must not pass through the C library
      }
    };
    if (H5Literate(of, H5_INDEX_CRT_ORDER, H5_ITER_INC, &at, keep, &all) < 0) {
      all.clear();
      at = 0;
      H5Literate(of, H5_INDEX_NAME, H5_ITER_INC, &at, keep, &all);
    }
    return all;
  }

  Node group(hid_t of, int depth) {
    if (depth == deepest) throw InputError(path_, "has groups in groups without end");
    Node node;
    node.table = true;
    for (const auto& name : names(of)) {
      const Hdf5Handle object(H5Oopen(of, name.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object.valid()) continue;
      take_entry(budget_, path_, name);
      const auto kind = H5Iget_type(object);
      if (kind == H5I_GROUP) node.at(name) = group(object, depth + 1);
      else if (kind == H5I_DATASET) node.at(name) = dataset(object, name);
    }
    return node;
  }

  Node dataset(hid_t data, const std::string& name) {
    Node node;
    const Hdf5Handle type(H5Dget_type(data), H5Tclose), space(H5Dget_space(data), H5Sclose);
    const auto kind = H5Tget_class(type);
    if (kind == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) node.text = text(data, type);
    if (kind == H5T_FLOAT || kind == H5T_INTEGER) {  // booleans (H5T_ENUM) need not be read
      Array array;
      const int axes = H5Sget_simple_extent_ndims(space);
      std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(axes, 0)));
      H5Sget_simple_extent_dims(space, shape.data(), nullptr);
      const std::vector<std::int64_t> counts(shape.begin(), shape.end());
      const auto where = fmt::format("{}: {}", path_, name);
      const auto count = checked_product(where, counts);
      budget_.take(where, count);
      array.shape.assign(shape.begin(), shape.end());
      array.values.resize(count);
      if (count > 0 &&
          H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()) < 0)
        throw FileError(where, "cannot be read to its end", "The file may be truncated or damaged.");
      node.numbers = std::move(array);
    }
    return node;
  }

  std::optional<std::string> text(hid_t data, hid_t type) {
    if (H5Tis_variable_str(type) > 0) {
      char* value = nullptr;
      const Hdf5Handle in_memory(H5Tcopy(H5T_C_S1), H5Tclose);
      H5Tset_size(in_memory, H5T_VARIABLE);
      H5Tset_cset(in_memory, H5Tget_cset(type));
      if (H5Dread(data, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(&value)) < 0 ||
          value == nullptr)
        return {};
      std::string out = value;
      H5free_memory(value);
      return out;
    }
    budget_.take(path_, H5Tget_size(type), 1);
    std::string out(H5Tget_size(type), '\0');
    if (H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0) return {};
    out.resize(std::min(out.find('\0'), out.size()));
    return out;
  }

  const std::string& path_;
  ReadBudget& budget_;
};

Node tree_of(const std::string& name, const std::string& bytes, std::size_t memory) {
  ReadBudget budget(memory);
  if (bytes.starts_with(std::string_view("PK", 2))) return tree_of_npz(name, bytes, budget);
  budget.take(name, bytes.size());  // each number takes eight bytes in memory, more than in the text
  return JsonReader(name, bytes, budget).read();
}
Node tree_of(const std::string& path, std::size_t memory) {
  if (!lower(path).ends_with(".h5")) return tree_of(path, read_bytes(path, memory), memory);
  const LibraryLock lock;
  ReadBudget budget(memory);
  return Hdf5Tree(path, budget).read();
}

// --- objects

/// The first object of a class in the tree, searched from the root.
const Node* object(const Node& node, std::string_view kind) {
  if (const auto* name = node.find("__class__"); name != nullptr && name->text && *name->text == kind)
    return &node;
  for (const auto& [name, entry] : node.entries)
    if (const auto* found = object(entry, kind)) return found;
  return nullptr;
}

/// An object and its name for messages.
struct Object {
  const Node& node;
  std::string where;

  const Node& entry(const char* key) const {
    const auto* found = node.find(key);
    if (found == nullptr)
      throw InputError(where, fmt::format("it has no {}", key), "emg3d 1.0 and later write it.");
    return *found;
  }
  const Array& array(const char* key) const {
    const auto& found = entry(key);
    if (!found.numbers) throw InputError(where, fmt::format("its {} is no array of numbers", key));
    return *found.numbers;
  }
  double number(const char* key, double otherwise) const {
    const auto* found = node.find(key);
    if (found == nullptr || !found->numbers) return otherwise;
    if (found->numbers->values.size() != 1) throw InputError(where, fmt::format("its {} is no number", key));
    return found->numbers->values[0];
  }
  std::string text(const char* key) const {
    const auto& found = entry(key);
    if (!found.text) throw InputError(where, fmt::format("its {} is no text", key));
    return *found.text;
  }
};

TensorMesh mesh_of(const Object& grid) {
  const auto& origin = grid.array("origin").values;
  if (origin.size() != 3) throw InputError(grid.where, "its origin is no place");
  std::array<std::vector<double>, 3> faces;
  for (std::size_t a = 0; a < 3; ++a) {
    constexpr const char* names[3] = {"hx", "hy", "hz"};
    faces[a].push_back(origin[a]);
    for (const double width : grid.array(names[a]).values) faces[a].push_back(faces[a].back() + width);
  }
  try {
    return TensorMesh(std::move(faces[0]), std::move(faces[1]), std::move(faces[2]));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", grid.where, error.where()), error.problem(), error.next());
  }
}

std::function<double(double)> to_conductivity(const std::string& where, const std::string& mapping) {
  if (mapping == "Conductivity") return [](double v) { return v; };
  if (mapping == "Resistivity") return [](double v) { return 1 / v; };
  if (mapping == "LgConductivity") return [](double v) { return std::pow(10.0, v); };
  if (mapping == "LgResistivity") return [](double v) { return std::pow(10.0, -v); };
  if (mapping == "LnConductivity") return [](double v) { return std::exp(v); };
  if (mapping == "LnResistivity") return [](double v) { return std::exp(-v); };
  throw InputError(where, fmt::format("the mapping \"{}\" is not known", mapping),
                   "Allowed: Conductivity, Resistivity, and Lg or Ln before them.");
}

/// Cell values in the order [up, north, east], from emg3d's [x, y, z] or from one number for all cells.
std::vector<double> cells_of(const Object& model, const char* key, const TensorMesh& mesh,
                             const std::function<double(double)>& map) {
  const auto& array = model.array(key);
  const std::size_t east = mesh.n_east(), north = mesh.n_north(), up = mesh.n_up();
  if (array.values.size() == 1) return std::vector<double>(mesh.size(), map(array.values[0]));
  if (array.shape != std::vector<std::size_t>{east, north, up})
    throw InputError(model.where,
                     fmt::format("its {} has not the shape of its grid, [{}, {}, {}]", key, east, north, up));
  std::vector<double> out(mesh.size());
  for (std::size_t i = 0; i < east; ++i)
    for (std::size_t j = 0; j < north; ++j)
      for (std::size_t k = 0; k < up; ++k)
        out[mesh.index(i, j, k)] = map(array.values[(i * north + j) * up + k]);
  return out;
}

MeshData model_of(const Object& model) {
  for (const char* key : {"mu_r", "epsilon_r"})
    if (const auto* more = model.node.find(key); more != nullptr && !more->none())
      throw UnsupportedError(model.where, fmt::format("the model has {}, which Terrane leaves out", key),
                             "Save the model without it, or use emg3d itself.");
  MeshData out;
  out.mesh = mesh_of({model.entry("grid"), model.where + " grid"});
  const auto map = to_conductivity(model.where, model.text("mapping"));
  const auto given = [&](const char* key) {
    const auto* entry = model.node.find(key);
    return entry != nullptr && !entry->none();
  };
  const auto add = [&](const char* name, const char* key) {
    out.cells.push_back({name, "S/m", "electric conductivity", cells_of(model, key, out.mesh, map)});
  };
  if (!given("property_y") && !given("property_z")) {
    add("conductivity", "property_x");
    return out;
  }
  add("conductivity_east", "property_x");
  add("conductivity_north", given("property_y") ? "property_y" : "property_x");
  add("conductivity_up", given("property_z") ? "property_z" : "property_x");
  return out;
}

/// The unit vector with an azimuth (from east towards north) and an elevation, in degrees.
std::array<double, 3> direction(double azimuth, double elevation) {
  const double a = azimuth * std::numbers::pi / 180, e = elevation * std::numbers::pi / 180;
  return {std::cos(a) * std::cos(e), std::sin(a) * std::cos(e), std::sin(e)};
}

std::array<double, 3> away(const std::array<double, 3>& from, const std::array<double, 3>& along, double by) {
  return {from[0] + by * along[0], from[1] + by * along[1], from[2] + by * along[2]};
}

/// Corners of the square loop of this area by which emg3d represents a magnetic dipole.
std::vector<std::array<double, 3>> square(const std::array<double, 3>& at, double azimuth, double elevation,
                                          double area) {
  const double half = std::sqrt(area / 2);
  const auto left = direction(azimuth + 90, 0), above = direction(azimuth, elevation + 90);
  return {away(at, left, half), away(at, above, half), away(at, left, -half), away(at, above, -half),
          away(at, left, half)};
}

Emg3dSource source_of(const std::string& name, const Object& table) {
  const auto kind = table.text("__class__");
  const auto& array = table.array("coordinates");
  const auto& x = array.values;
  Emg3dSource source;
  source.name = name;
  source.current = table.number("strength", 1);
  const bool rows = array.shape.size() == 2 && array.shape[1] == 3 && array.shape[0] >= 2;
  if (kind == "TxElectricWire" && rows) {
    for (std::size_t n = 0; n < array.shape[0]; ++n)
      source.points.push_back({x[3 * n], x[3 * n + 1], x[3 * n + 2]});
    return source;
  }
  if (kind == "TxElectricPoint" && x.size() == 5) {
    source.wire = false;
    source.points = {{x[0], x[1], x[2]}};
    source.moment = away({0, 0, 0}, direction(x[3], x[4]), source.current);
    return source;
  }
  const bool magnetic = kind == "TxMagneticDipole";
  if (!magnetic && kind != "TxElectricDipole")
    throw UnsupportedError(table.where, fmt::format("a source is a {}", kind),
                           "Allowed: TxElectricPoint, TxElectricDipole, TxElectricWire, TxMagneticDipole.");
  if (x.size() == 5) {
    const double length = table.number("length", 1);
    const std::array<double, 3> at{x[0], x[1], x[2]};
    if (magnetic) source.points = square(at, x[3], x[4], length);
    else
      source.points = {away(at, direction(x[3], x[4]), -length / 2),
                       away(at, direction(x[3], x[4]), length / 2)};
    return source;
  }
  if (x.size() != 6) throw InputError(table.where, "its coordinates are neither five nor six numbers");
  source.points = rows ? std::vector<std::array<double, 3>>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}
                       : std::vector<std::array<double, 3>>{{x[0], x[2], x[4]}, {x[1], x[3], x[5]}};
  if (!magnetic) return source;
  std::array<double, 3> d{}, middle{};
  double length = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    d[a] = source.points[1][a] - source.points[0][a];
    middle[a] = (source.points[1][a] + source.points[0][a]) / 2;
    length += d[a] * d[a];
  }
  length = std::sqrt(length);
  constexpr double degrees = 180 / std::numbers::pi;
  source.points =
      square(middle, std::atan2(d[1], d[0]) * degrees, std::asin(d[2] / length) * degrees, length);
  return source;
}

Table receivers_of(const std::string& path, const Node& receivers) {
  Table table;
  table.source = path;
  table.columns = {{"easting", "m", "", {}},
                   {"northing", "m", "", {}},
                   {"up", "m", "", {}},
                   {"azimuth", "degree", "east of north", {}},
                   {"dip", "degree", "below the horizontal", {}}};
  for (const auto& [name, node] : receivers.entries) {
    const Object receiver{node, fmt::format("{}: receiver {}", path, name)};
    const auto& x = receiver.array("coordinates").values;
    if (x.size() != 5) throw InputError(receiver.where, "its coordinates are not five numbers");
    if (receiver.number("relative", 0) != 0)
      throw UnsupportedError(receiver.where, "its place is relative to sources",
                             "Give receivers their own places: one survey for each source.");
    const double row[5] = {x[0], x[1], x[2], 90 - x[3], -x[4]};
    for (std::size_t n = 0; n < 5; ++n) table.columns[n].values.push_back(row[n]);
  }
  return table;
}

Emg3dSurvey survey_of(const std::string& path, const Node& root) {
  const auto* found = object(root, "Survey");
  if (found == nullptr)
    throw InputError(path, "there is no Survey of emg3d in it", "Save one: emg3d.save(path, survey=survey).");
  const Object survey{*found, path + ": survey"};
  Emg3dSurvey out;
  for (const auto& [name, node] : survey.entry("sources").entries)
    out.sources.push_back(source_of(name, {node, fmt::format("{}: source {}", path, name)}));
  out.receivers = receivers_of(path, survey.entry("receivers"));
  const auto& frequencies = survey.entry("frequencies");
  if (frequencies.numbers) out.frequencies = frequencies.numbers->values;
  for (const auto& [name, node] : frequencies.entries)
    if (node.numbers) out.frequencies.push_back(node.numbers->values.empty() ? 0 : node.numbers->values[0]);
  if (out.sources.empty() || out.receivers.rows() == 0 || out.frequencies.empty())
    throw InputError(survey.where, "it has no sources, no receivers or no frequencies");
  return out;
}

Content content_of(const std::string& path, const Node& root) {
  if (const auto* model = object(root, "Model")) return model_of({*model, path + ": model"});
  if (const auto* grid = object(root, "TensorMesh"))
    return MeshData{mesh_of({*grid, path + ": mesh"}), {}, {}};
  if (object(root, "Survey") != nullptr) return survey_of(path, root).receivers;
  throw InputError(path, "there is no Model, TensorMesh or Survey of emg3d in it",
                   "Save one: emg3d.save(path, model=model).");
}

}  // namespace

}  // namespace emg3d

bool holds_emg3d(const std::string& path) {
  const LibraryLock lock;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return file.valid() && H5Lexists(file, "_format", H5P_DEFAULT) > 0 &&
         H5Lexists(file, "_version", H5P_DEFAULT) > 0;
}

Content read_emg3d(const std::string& path, std::size_t memory) {
  return emg3d::content_of(path, emg3d::tree_of(path, memory));
}
Emg3dSurvey read_emg3d_survey(const std::string& path, std::size_t memory) {
  return emg3d::survey_of(path, emg3d::tree_of(path, memory));
}
std::optional<Emg3dSurvey> find_emg3d_survey(const std::string& path, std::size_t memory) {
  const auto root = emg3d::tree_of(path, memory);
  if (emg3d::object(root, "Survey") == nullptr) return std::nullopt;
  return emg3d::survey_of(path, root);
}
Content parse_emg3d(const std::string& name, const std::string& bytes, std::size_t memory) {
  return emg3d::content_of(name, emg3d::tree_of(name, bytes, memory));
}
Emg3dSurvey parse_emg3d_survey(const std::string& name, const std::string& bytes, std::size_t memory) {
  return emg3d::survey_of(name, emg3d::tree_of(name, bytes, memory));
}

}  // namespace terrane::io
