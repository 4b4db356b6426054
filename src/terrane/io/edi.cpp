#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/magnetotellurics.hpp"

namespace terrane::io {

namespace {

using magnetotelluric::elements;
using magnetotelluric::practical;

/// "-26:30:15.2" or "-26.504".
std::optional<double> angle_of(std::string_view text) {
  double sum = 0, unit = 1;
  const bool south = text.starts_with('-');
  if (south || text.starts_with('+')) text.remove_prefix(1);
  for (int part = 0; part < 3; ++part) {
    const auto end = std::min(text.find(':'), text.size());
    double value = 0;
    if (!parse_number(text.substr(0, end), value) || !(value >= 0) || !std::isfinite(value))
      return std::nullopt;
    sum += value * unit;
    unit /= 60;
    if (end == text.size()) return south ? -sum : sum;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

/// The value of KEY=value or KEY="value" in a line; nothing where the key is not there.
std::optional<std::string> option(std::string_view line, std::string_view key) {
  const auto small = lower(line);
  const auto wanted = lower(key) + "=";
  for (auto at = small.find(wanted); at != small.npos; at = small.find(wanted, at + 1)) {
    if (at > 0 && small[at - 1] != ' ' && small[at - 1] != '\t' && small[at - 1] != '>') continue;
    auto rest = line.substr(at + wanted.size());
    const bool quoted = rest.starts_with('"');
    if (quoted) rest.remove_prefix(1);
    return std::string(rest.substr(0, std::min(rest.find_first_of(quoted ? "\"" : " \t\r"), rest.size())));
  }
  return std::nullopt;
}

/// What a file says, section by section.
struct Edi {
  std::string site = "S001";
  std::optional<double> latitude, longitude, elevation, x, y;
  double empty = 1e32;
  bool conjugate = false;
  std::map<std::string, std::vector<double>> blocks;  // "FREQ", "ZXXR", "ZXX.VAR"
};

class EdiReader {
 public:
  explicit EdiReader(TextReader& in) : in_(in) {}

  Edi read() {
    std::string_view line;
    bool begun = false, ended = false;
    while (!ended && in_.line(line)) {
      const auto start = line.find_first_not_of(" \t\r");
      if (start == line.npos) continue;
      line.remove_prefix(start);
      if (line.starts_with(">!")) continue;
      if (!line.starts_with('>')) {
        in_section(line);
        continue;
      }
      begun = true;
      const auto stop = std::min(line.find_first_of(" \t\r/", 1), line.size());
      section_ = lower(line.substr(1, stop - 1));
      values_ = nullptr;
      ended = section_ == "end";
      if (const bool counted = line.find("//") != line.npos; counted && !section_.starts_with('=')) {
        values_ = &edi_.blocks[section_];
        values_->clear();
      }
      in_section(line);
    }
    if (!begun) in_.fail("there is no section", "An EDI file begins with >HEAD.");
    return std::move(edi_);
  }

 private:
  void in_section(std::string_view line) {
    if (values_ != nullptr && !line.starts_with('>')) {
      numbers(line);
      return;
    }
    if (section_ == "head") head(line);
    if (section_ == "info" && lower(line).find("exp(-") != line.npos) edi_.conjugate = true;
    if (section_ == "hmeas" && option(line, "CHTYPE") == "HX") {
      edi_.x = number_in(line, "X");
      edi_.y = number_in(line, "Y");
    }
  }
  void head(std::string_view line) {
    if (const auto name = option(line, "DATAID"); name && !name->empty()) edi_.site = *name;
    const auto place = [&](const char* key, std::optional<double>& to) {
      if (const auto text = option(line, key))
        if (!(to = angle_of(*text)))
          in_.fail(fmt::format("{}={} is no angle", key, shown(*text)),
                   "Write degrees, or degrees:minutes:seconds.");
    };
    place("LAT", edi_.latitude);
    place("LONG", edi_.longitude);
    if (const auto height = number_in(line, "ELEV")) edi_.elevation = height;
    if (const auto empty = number_in(line, "EMPTY")) edi_.empty = *empty;
  }
  std::optional<double> number_in(std::string_view line, const char* key) const {
    const auto text = option(line, key);
    if (!text) return std::nullopt;
    double value = 0;
    if (!parse_number(*text, value) || !std::isfinite(value))
      in_.fail(fmt::format("{}={} is no number", key, shown(*text)));
    return value;
  }
  void numbers(std::string_view line) {
    constexpr std::string_view blanks = " \t\r,";
    for (auto at = line.find_first_not_of(blanks); at != line.npos; at = line.find_first_not_of(blanks, at)) {
      const auto stop = std::min(line.find_first_of(blanks, at), line.size());
      double value = 0;
      if (!parse_number(line.substr(at, stop - at), value))
        in_.fail(fmt::format("\"{}\" is no number", shown(line.substr(at, stop - at))));
      in_.expect_memory(4);
      values_->push_back(value);
      at = stop;
    }
  }

  TextReader& in_;
  Edi edi_;
  std::string section_;
  std::vector<double>* values_ = nullptr;
};

/// Names of the blocks of an element: real, imaginary, variance.
std::array<std::string, 3> blocks_of(const magnetotelluric::Element& element) {
  const auto name = lower(element.in_edi);
  if (!element.tipper) return {name + "r", name + "i", name + ".var"};
  return {name + "r.exp", name + "i.exp", name + "var.exp"};
}
std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

}  // namespace

Table read_edi(TextReader& in) {
  auto edi = EdiReader(in).read();
  const auto& frequency = edi.blocks["freq"];
  if (frequency.empty()) in.fail("there are no frequencies", "An EDI file has a block >FREQ //N.");
  for (const double hertz : frequency)
    if (!(hertz > 0) || !std::isfinite(hertz)) in.fail("a frequency that is not above zero");
  for (const char* rotation : {"zrot", "trot.exp", "trot"})
    for (const double angle : edi.blocks[rotation])
      if (angle != 0 && angle != edi.empty)
        in.fail(fmt::format("impedances turned by {} degrees", angle), "Turn the data to north first.");
  const auto count = frequency.size();
  Table table;
  table.source = in.name();
  table.attributes = {{"frame", "enu"}, {"time_dependence", "exp(+i omega t)"}};
  const auto constant = [&](const char* name, const char* unit, double value) {
    table.columns.push_back({name, unit, name, std::vector<double>(count, value)});
  };
  if (edi.latitude && edi.longitude) {
    constant("longitude", "degree", *edi.longitude);
    constant("latitude", "degree", *edi.latitude);
  } else {
    constant("easting", "m", edi.y.value_or(0));
    constant("northing", "m", edi.x.value_or(0));
  }
  constant("up", "m", edi.elevation.value_or(0));
  table.columns.push_back({"frequency", "Hz", "frequency", frequency});
  table.texts = {{"site", std::vector<std::string>(count, edi.site)}};
  bool any = false;
  for (const auto& element : elements) {
    const auto names = blocks_of(element);
    if (edi.blocks[names[0]].empty() || edi.blocks[names[1]].empty()) continue;
    any = true;
    const double factor = element.tipper ? 1 : practical;
    for (std::size_t part = 0; part < 3; ++part) {
      const auto& values = edi.blocks[names[part]];
      if (part == 2 && values.empty()) continue;
      if (values.size() != count)
        in.fail(fmt::format("{} values of {} at {} frequencies", values.size(), upper(names[part]), count));
      static constexpr const char* ends[3] = {"_real", "_imag", "_uncertainty"};
      Column column{std::string(element.name) + ends[part], element.tipper ? "1" : "ohm", "", {}};
      const double sign = part == 2 ? 1 : part == 1 && edi.conjugate ? -element.sign : element.sign;
      for (const double value : values)
        column.values.push_back(value == edi.empty || !std::isfinite(value) ? NAN
                                : part == 2 ? (value >= 0 ? factor * std::sqrt(value) : NAN)
                                            : sign * factor * value);
      table.columns.push_back(std::move(column));
    }
  }
  if (!any) in.fail("there is neither an impedance nor a tipper", "Blocks such as >ZXYR and >ZXYI hold it.");
  return table;
}

std::vector<std::string> left_out_of_edi(const std::string& path, const Table& table) {
  return magnetotelluric::not_in(magnetotelluric::rows_of(path, "an EDI file", table), table);
}

namespace {

/// "out/line.edi" of site S001 → "out/line_S001.edi", with "_" for what names of files should not have.
std::string file_of_site(const std::string& path, const std::string& site) {
  auto word = site;
  for (char& c : word) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain && c != '-' && c != '.') c = '_';
  }
  const auto name = path.find_last_of('/') + 1;  // 0 where there is none
  const auto dot = std::min(path.size(), std::max(name, std::min(path.size(), path.rfind('.'))));
  return dot == name ? path + "_" + word : path.substr(0, dot) + "_" + word + path.substr(dot);
}

std::vector<std::string> files_of(const std::string& path, const magnetotelluric::Rows& rows) {
  if (rows.sites.size() <= 1) return {path};
  std::map<std::string, std::string> sites;
  std::vector<std::string> files;
  for (const auto& site : rows.sites) {
    files.push_back(file_of_site(path, site));
    if (const auto [other, fresh] = sites.try_emplace(files.back(), site); !fresh)
      throw InputError(path,
                       fmt::format("the sites \"{}\" and \"{}\" would both be the file {}",
                                   shown(other->second), shown(site), files.back()),
                       "Give sites other names, or write a ModEM list (.modem).");
  }
  return files;
}

void write_site(AtomicFile& file, const magnetotelluric::Rows& rows, std::size_t site) {
  constexpr double empty = 1e32;
  std::vector<std::size_t> own;
  for (std::size_t row = 0; row < rows.site_of_row.size(); ++row)
    if (rows.site_of_row[row] == site) own.push_back(row);
  const auto value = [&](const Column* column) { return column ? column->values[own.front()] : 0.0; };
  file.write(fmt::format(">HEAD\n  DATAID=\"{}\"\n", rows.sites[site]));
  if (rows.latitude != nullptr && rows.longitude != nullptr)
    file.write(fmt::format("  LAT={:.8f}\n  LONG={:.8f}\n", value(rows.latitude), value(rows.longitude)));
  file.write(
      fmt::format("  ELEV={:.10g}\n  EMPTY=1.0E32\n\n>INFO\n  written by Terrane, time exp(+i omega t)\n\n"
                  ">=DEFINEMEAS\n  UNITS=M\n>HMEAS ID=1.001 CHTYPE=HX X={:.10g} Y={:.10g} AZM=0\n"
                  ">HMEAS ID=2.001 CHTYPE=HY X={:.10g} Y={:.10g} AZM=90\n\n>=MTSECT\n  SECTID=\"{}\"\n"
                  "  NFREQ={}\n\n",
                  value(rows.up), value(rows.northing), value(rows.easting), value(rows.northing),
                  value(rows.easting), rows.sites[site], own.size()));
  const auto block = [&](const std::string& name, const std::string& rotation, const auto& number) {
    file.write(fmt::format(">{}{} //{}\n", name, rotation, own.size()));
    for (std::size_t n = 0; n < own.size(); ++n) {
      const double x = number(own[n]);
      file.write(fmt::format(" {:.12e}{}", std::isfinite(x) ? x : empty,
                             n % 5 == 4 || n + 1 == own.size() ? "\n" : ""));
    }
  };
  block("FREQ", "", [&](std::size_t row) { return rows.frequency->values[row]; });
  block("ZROT", "", [](std::size_t) { return 0.0; });
  for (std::size_t n = 0; n < std::size(elements); ++n) {
    const auto& parts = rows.elements[n];
    if (parts.real == nullptr) continue;
    const auto names = blocks_of(elements[n]);
    const double scale = elements[n].sign / (elements[n].tipper ? 1 : practical);
    const std::string rotation = elements[n].tipper ? "" : " ROT=ZROT";
    block(upper(names[0]), rotation, [&](std::size_t row) { return scale * parts.real->values[row]; });
    block(upper(names[1]), rotation, [&](std::size_t row) { return scale * parts.imag->values[row]; });
    if (parts.uncertainty != nullptr)
      block(upper(names[2]), rotation,
            [&](std::size_t row) { return std::pow(scale * parts.uncertainty->values[row], 2); });
  }
  file.write(">END\n");
  file.commit();
}

}  // namespace

std::vector<std::string> files_of_edi(const std::string& path, const Table& table) {
  return files_of(path, magnetotelluric::rows_of(path, "an EDI file", table));
}

void write_edi(const std::string& path, const Table& table) {
  const auto rows = magnetotelluric::rows_of(path, "an EDI file", table);
  const auto files = files_of(path, rows);
  if (rows.sites.empty()) throw InputError(path, "there is no site to write");
  for (const auto& file : files)
    if (std::error_code failed; std::filesystem::is_directory(file, failed))
      throw FileError(file, "is a folder", "Remove it, or give the files another name.");
  if (files.size() == 1) {
    AtomicFile file(files.front());
    return write_site(file, rows, 0);
  }
  std::deque<PendingPath> pending;  // none takes its name before all are written
  for (std::size_t site = 0; site < files.size(); ++site) {
    AtomicFile file(pending.emplace_back(files[site]).temporary());
    write_site(file, rows, site);
  }
  for (auto& file : pending) file.commit();
}

}  // namespace terrane::io
