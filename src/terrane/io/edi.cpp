#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <deque>
#include <filesystem>
#include <map>
#include <numbers>
#include <optional>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"
#include "terrane/io/edi_spectra.hpp"
#include "terrane/io/magnetotellurics.hpp"

namespace terrane::io {

namespace {

using magnetotelluric::Axes;
using magnetotelluric::elements;
using magnetotelluric::practical;
using magnetotelluric::Transfer;

constexpr const char* written_here = "written by Terrane";

/// Characters before the sign of the time dependence in texts of EDI files, in small letters without blanks
/// and underscores.
constexpr std::string_view before_sign[] = {
    "exp(", "exp[", "e^", "e^{", "e^(", "signconvention=", "signconvention:"};

std::string without(std::string text, std::string_view letters) {
  std::erase_if(text, [&](char c) { return letters.find(c) != letters.npos; });
  return text;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

/// Names of the blocks with the real part, imaginary part and variance of an element: the names in the
/// standard, and those that other programs use.
std::array<std::vector<std::string>, 3> blocks_of(const magnetotelluric::Element& element) {
  const auto name = lower(element.in_edi);
  if (!element.tipper) return {{{name + "r"}, {name + "i"}, {name + ".var"}}};
  return {{{name + "r.exp", name + "r"},
           {name + "i.exp", name + "i"},
           {name + "var.exp", name + "var", name + ".var", name + ".var.exp"}}};
}

/// Whether a block has frequencies, rotation angles, or quantities derived from impedance and tipper; notes
/// do not name such blocks.
bool is_derived(std::string_view block) {
  constexpr std::array<std::string_view, 24> kinds{
      "rho",   "phs",     "zstrike", "zskew",    "zmax",   "zmin",   "zellip", "zcoh",
      "zdet",  "tstrike", "tmag",    "tskew",    "tipmag", "tipphs", "tell",   "coh",
      "epred", "hpred",   "sigamp",  "signoise", "strike", "skew",   "freq",   "zrot"};
  return block.starts_with("trot") || std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
           return block.starts_with(kind);
         });
}

/// Converts an EDI file to the table of its site.
class Site {
 public:
  explicit Site(TextReader& in) : in_(in), file_(edi::read(in)) {
    table_.source = in.name();
    table_.attributes = {{"frame", "enu"}, {"time_dependence", "exp(+i omega t)"}};
  }

  Table table() {
    if (file_.spectra.empty()) take_blocks();
    else take_spectra();
    turn();
    add_place();
    note_north();
    note_datum();
    table_.columns.push_back({"frequency", "Hz", "frequency", frequency_});
    table_.texts = {{"site", std::vector<std::string>(frequency_.size(), name())}};
    add_numbers();
    if (!notes_.empty()) table_.attributes["note"] = notes_;
    return std::move(table_);
  }

 private:
  void note(const std::string& text) { notes_ += (notes_.empty() ? "" : "\n") + text; }

  std::string name() const {
    for (const auto* options : {&file_.head, &file_.section})
      for (const auto* key : {"dataid", "sectid"})
        if (auto said = edi::text_in(*options, key); !said.empty()) return said;
    return std::filesystem::path(in_.name()).stem().string();
  }

  // --- numbers

  double value_in(const edi::Block& block, std::size_t n) const {
    const double value = block.values[n], empty = empty_;
    const bool gap = !std::isfinite(value) || std::abs(value - empty) <= 1e-6 * std::abs(empty);
    return gap ? NAN : value;
  }
  const edi::Block* find(const std::vector<std::string>& names) const {
    for (const auto& one : names)
      if (const auto found = file_.blocks.find(one);
          found != file_.blocks.end() && !found->second.values.empty())
        return &found->second;
    return nullptr;
  }
  void set_frequencies(std::vector<double> all) {
    if (all.empty()) in_.fail("there are no frequencies", "An EDI file has a block >FREQ //N.");
    for (const double hertz : all)
      if (!(hertz > 0) || !std::isfinite(hertz) || is_empty(hertz))
        in_.fail(fmt::format("a frequency of {:g} Hz", hertz), "Frequencies are numbers above zero.");
    in_.expect_memory(40 * all.size());
    frequency_ = std::move(all);
    Transfer gap;
    gap.value.fill({NAN, NAN});
    gap.error.fill(NAN);
    transfers_.assign(frequency_.size(), gap);
  }

  void take_blocks() {
    const auto* frequency = find({"freq"});
    empty_ = edi::number_in(in_, file_.head, "empty").value_or(1e32);
    set_frequencies(frequency == nullptr ? std::vector<double>{} : frequency->values);
    const bool conjugate = is_conjugate();
    for (std::size_t n = 0; n < std::size(elements); ++n) take_element(n, conjugate);
    note_gaps();
    if (std::none_of(has_.begin(), has_.end(), [](bool has) { return has; }))
      in_.fail("there is neither an impedance nor a tipper",
               file_.blocks.contains("rhoxy")
                   ? "It holds apparent resistivities and phases, which are not read; "
                     "blocks such as >ZXYR and >ZXYI are."
                   : "Blocks such as >ZXYR and >ZXYI hold it.");
    note_others();
  }
  /// Whether the file says that its time dependence is exp(−iωt), which makes its numbers the complex
  /// conjugates of Terrane's; adds a note if so. Throws InputError if the file says both signs.
  bool is_conjugate() {
    auto said = file_.info;
    for (const auto* options : {&file_.head, &file_.section})
      for (const auto& [key, option] : *options)
        if (key.find("sign") != key.npos) said += fmt::format("{}={}\n", key, lower(option.value));
    for (auto at = said.find("\xE2\x88\x92"); at != said.npos; at = said.find("\xE2\x88\x92"))
      said.replace(at, 3, "-");
    const auto text = without(said, " \t\r_");
    const auto says = [&](char sign) {
      return std::any_of(std::begin(before_sign), std::end(before_sign), [&](std::string_view words) {
        return text.find(std::string(words) + sign) != text.npos;
      });
    };
    if (says('-') && says('+'))
      in_.fail("its texts say both exp(+i omega t) and exp(-i omega t)",
               "Keep the time dependence of the impedances.");
    if (says('-')) note("the time dependence is exp(-i omega t): imaginary parts change their sign");
    return says('-');
  }
  /// The first of the named blocks that exists, which must have one number per frequency; null if there is
  /// none.
  const edi::Block* block_of(const std::vector<std::string>& names) {
    const auto* block = find(names);
    if (block != nullptr && block->values.size() != frequency_.size())
      in_.fail(fmt::format("{} values of {} at {} frequencies", block->values.size(), upper(names[0]),
                           frequency_.size()));
    return block;
  }
  void take_element(std::size_t n, bool conjugate) {
    const auto names = blocks_of(elements[n]);
    const auto *real = block_of(names[0]), *imag = block_of(names[1]), *variance = block_of(names[2]);
    if (real == nullptr && imag == nullptr) return;
    if (real == nullptr || imag == nullptr)
      in_.fail(fmt::format("there is {} without {}", upper(names[real == nullptr ? 1 : 0][0]),
                           upper(names[real == nullptr ? 0 : 1][0])),
               "A number has both parts.");
    if (const auto unit = without(lower(edi::text_in(real->options, "units")), " []()");
        !elements[n].tipper && !unit.empty() && unit != "mv/km/nt")
      throw InputError(fmt::format("{}:{}", in_.name(), real->line),
                       fmt::format("impedances in \"{}\"", shown(unit)),
                       "EDI files have mV/km/nT: leave UNITS out.");
    std::size_t unmeasured = 0;
    for (std::size_t f = 0; f < frequency_.size(); ++f) {
      transfers_[f].value[n] = {value_in(*real, f), (conjugate ? -1 : 1) * value_in(*imag, f)};
      if (variance == nullptr) continue;
      const double square = value_in(*variance, f);
      transfers_[f].error[n] = square >= 0 ? std::sqrt(square) : NAN;
      // Programs write 0 with a variance of 0 for what was not measured.
      if (square != 0 || transfers_[f].value[n] != std::complex<double>()) continue;
      transfers_[f].value[n] = {NAN, NAN};
      transfers_[f].error[n] = NAN;
      ++unmeasured;
    }
    if (unmeasured > 0) zeros_ += (zeros_.empty() ? "" : ", ") + upper(lower(elements[n].in_edi));
    if (unmeasured == frequency_.size()) return;
    has_[n] = true;
    has_error_[n] = variance != nullptr;
    (elements[n].tipper ? tipper_ : impedance_) = real;
  }
  void note_gaps() {
    if (!zeros_.empty())
      note(fmt::format("{}: 0 with a variance of 0 is taken for a number that was not measured", zeros_));
  }
  void take_spectra() {
    if (!file_.blocks.empty()) note("blocks beside the spectra are not read");
    const auto channels = edi::channels_of_spectra(in_, file_);
    std::vector<double> frequencies;
    for (const auto& block : file_.spectra) {
      const auto hertz = edi::number_in(in_, block.options, "freq");
      if (!hertz) throw InputError(fmt::format("{}:{}", in_.name(), block.line), "spectra without FREQ=");
      frequencies.push_back(*hertz);
    }
    set_frequencies(std::move(frequencies));
    const bool conjugate = is_conjugate();
    for (std::size_t f = 0; f < frequency_.size(); ++f) {
      transfers_[f] = edi::transfer_of(in_, file_.spectra[f], channels);
      if (conjugate)
        for (auto& value : transfers_[f].value) value = std::conj(value);
    }
    for (std::size_t n = 0; n < std::size(elements); ++n)
      has_[n] = has_error_[n] =
          elements[n].tipper ? channels.hz >= 0 : (n >= 2 ? channels.ex : channels.ey) >= 0;
  }
  /// Adds notes on blocks that are not read, and on blocks whose stated count of numbers is wrong.
  void note_others() {
    std::string others, counted;
    for (const auto& [name, block] : file_.blocks) {
      bool read = is_derived(name);
      for (const auto& element : elements)
        for (const auto& names : blocks_of(element))
          read = read || std::find(names.begin(), names.end(), name) != names.end();
      if (!read) others += (others.empty() ? "" : ", ") + upper(name);
      else if (block.counted != 0 && block.counted != block.values.size())
        counted += (counted.empty() ? "" : ", ") + upper(name);
    }
    if (!others.empty()) note("blocks that are not read: " + others);
    std::string twice;
    for (const auto* options : {&file_.head, &file_.measured, &file_.section})
      for (const auto& [key, option] : *options)
        if (option.twice)
          twice += fmt::format("{}{} = {} (line {})", twice.empty() ? "" : ", ", shown(upper(key)),
                               shown(option.value), option.line);
    if (!twice.empty()) note("keys that are given twice; the first one counts: " + twice);
    if (!counted.empty()) note("blocks with another count than their lines say: " + counted);
  }

  // --- axes

  /// The azimuths of the axes at each frequency for the values of a block. `own`: the names of the block of
  /// angles to use if the block of values names no angles.
  std::vector<Axes> axes_of(const edi::Block* block, const std::vector<std::string>& own) {
    std::vector<Axes> axes(frequency_.size());
    if (block == nullptr) return axes;
    const auto rotation = lower(edi::text_in(block->options, "rot"));
    double angle = 0;
    if (rotation == "north") return axes;
    if (parse_number(rotation, angle) && std::isfinite(angle))
      return turned(std::vector<double>(frequency_.size(), angle));
    const auto* angles = find(own);
    if (!rotation.empty()) {
      const bool named = rotation != "none";
      const auto* other = named ? find({rotation, rotation + ".exp"}) : nullptr;
      if (named && other == nullptr && rotation != "zrot" && rotation != "trot")
        throw InputError(fmt::format("{}:{}", in_.name(), block->line),
                         fmt::format("ROT={} names no block of angles", shown(upper(rotation))),
                         "Allowed: ZROT, TROT, NORTH, NONE, or degrees.");
      if (other != nullptr || !named) angles = other;
    }
    if (angles == nullptr) return turned(std::vector<double>(frequency_.size(), azimuth_of_sensors()));
    if (angles->values.size() != frequency_.size() && angles->values.size() != 1)
      in_.fail(fmt::format("{} angles of axes at {} frequencies", angles->values.size(), frequency_.size()));
    std::vector<double> all;
    for (std::size_t f = 0; f < frequency_.size(); ++f)
      all.push_back(value_in(*angles, angles->values.size() == 1 ? 0 : f));
    if (std::any_of(all.begin(), all.end(), [](double one) { return std::isnan(one); })) {
      note("angles of axes are missing: those axes are taken as north and east");
      for (double& one : all) one = std::isnan(one) ? 0 : one;
    }
    return turned(all);
  }
  static std::vector<Axes> turned(const std::vector<double>& angles) {
    std::vector<Axes> axes;
    for (const double angle : angles) axes.push_back({angle, angle + 90, angle, angle + 90});
    return axes;
  }
  /// The azimuth of x for values without a stated angle: that of the coil HX; 0 if unknown. Throws InputError
  /// if coils or electric lines have other directions than x and y.
  double azimuth_of_sensors() {
    std::optional<double> x, y;
    for (const auto& channel : file_.channels) {
      if (channel.type == "hx" && !x) x = edi::number_in(in_, channel.options, "azm");
      if (channel.type == "hy" && !y) y = edi::number_in(in_, channel.options, "azm");
    }
    const bool unknown = !x || is_empty(*x);
    const double azimuth = unknown ? 0 : *x;
    if (!unknown && azimuth != 0 && y && std::abs(std::remainder(*y - *x - 90, 360)) > 0.5)
      in_.fail(fmt::format("HX lies at {} degrees and HY at {}, and no angle of impedances is said", *x, *y),
               "Write a block >ZROT with the azimuth of x, at right angles to y.");
    for (const auto& channel : file_.channels) {
      const auto lies =
          channel.type == "ex" || channel.type == "ey" ? azimuth_of_line(channel) : std::nullopt;
      if (!lies || std::abs(std::remainder(*lies - azimuth - (channel.type == "ey" ? 90 : 0), 180)) < 1)
        continue;
      in_.fail(fmt::format("{} lies at {:.1f} degrees and HX at {:g}, and no angle of impedances is said",
                           upper(channel.type), *lies, azimuth),
               "Write a block >ZROT with the azimuth of x.");
    }
    return azimuth;
  }
  /// The azimuth of an electric line from its ends; empty if the file does not state the ends, or both are at
  /// one position.
  std::optional<double> azimuth_of_line(const edi::Channel& channel) const {
    std::array<double, 4> at{};
    constexpr const char* keys[4] = {"x", "y", "x2", "y2"};
    for (std::size_t n = 0; n < 4; ++n) {
      const auto said = edi::number_in(in_, channel.options, keys[n]);
      if (!said || is_empty(*said)) return std::nullopt;
      at[n] = *said;
    }
    const double north = at[2] - at[0], east = at[3] - at[1];
    if (std::hypot(north, east) < 1) return std::nullopt;
    return std::atan2(east, north) * 180 / std::numbers::pi;
  }
  void turn() {
    const auto of_z = file_.spectra.empty() ? axes_of(impedance_, {"zrot"}) : axes_of_spectra(),
               of_t = file_.spectra.empty() ? axes_of(tipper_, {"trot", "trot.exp", "zrot"}) : of_z;
    double least = 0, most = 0;
    for (std::size_t f = 0; f < frequency_.size(); ++f) {
      for (const auto* axes : {&of_z[f], &of_t[f]}) {
        least = std::min(least, axes->hx);
        most = std::max(most, axes->hx);
      }
      const auto one = to_north(transfers_[f], of_z[f], in_.name()),
                 other = to_north(transfers_[f], of_t[f], in_.name());
      for (std::size_t n = 0; n < std::size(elements); ++n) {
        const auto& made = elements[n].tipper ? other : one;
        transfers_[f].value[n] = made.value[n];
        transfers_[f].error[n] = made.error[n];
      }
      expect_all(of_z[f].hx, 0, 4);
      expect_all(of_t[f].hx, 4, 6);
    }
    if (least == 0 && most == 0) return;
    note(least == 0 || most == 0 || least == most
             ? fmt::format("turned to north, from an x at {:g} degrees", most == 0 ? least : most)
             : fmt::format("turned to north, from an x at {:g} to {:g} degrees", least, most));
    for (const auto& [from, to] : {std::pair{0, 4}, std::pair{4, 6}}) {
      const auto begin = has_error_.begin();
      const bool some = std::any_of(begin + from, begin + to, [](bool has) { return has; });
      const bool present = std::any_of(has_.begin() + from, has_.begin() + to, [](bool has) { return has; });
      for (int n = from; n < to; ++n) {
        has_[static_cast<std::size_t>(n)] = present;
        has_error_[static_cast<std::size_t>(n)] = some;
      }
    }
  }
  std::vector<Axes> axes_of_spectra() {
    std::vector<double> angles;
    for (const auto& block : file_.spectra) {
      const auto said = edi::number_in(in_, block.options, "rotspec");
      angles.push_back(said ? *said : azimuth_of_sensors());
    }
    return turned(angles);
  }
  /// Throws if axes are rotated by anything but multiples of 90° and some of the elements are missing.
  void expect_all(double angle, std::size_t from, std::size_t to) const {
    if (std::remainder(angle, 90) == 0) return;
    std::string there, missing;
    for (std::size_t n = from; n < to; ++n) {
      auto& names = has_[n] ? there : missing;
      names += (names.empty() ? "" : ", ") + std::string(elements[n].in_edi);
    }
    if (!there.empty() && !missing.empty())
      in_.fail(fmt::format("axes turned by {:g} degrees, and there is {} without {}", angle, there, missing),
               "To turn them to north takes all.");
  }

  // --- position

  /// Length in metres of the unit of a section.
  double length_of(const edi::Options& options) const {
    const auto unit = lower(edi::text_in(options, "units"));
    if (unit.empty() || unit.starts_with("m")) return 1;
    if (unit.starts_with("f")) return 0.3048;
    in_.fail(fmt::format("UNITS={} is not known", shown(unit)), "Allowed: M, FT.");
  }
  void constant(const char* name, const char* unit, double value) {
    table_.columns.push_back({name, unit, name, std::vector<double>(frequency_.size(), value)});
  }
  /// Adds a note if the header says that the axes refer to magnetic north.
  void note_north() {
    for (const char* key : {"coordsys", "coord_sys", "coordinate_system", "coord"})
      if (const auto system = edi::text_in(file_.head, key); lower(system).find("magnetic") != system.npos)
        return note(
            fmt::format("{}={}: axes and angles are from magnetic north, and are taken as from geographic "
                        "north: turn them by the declination",
                        upper(key), shown(system)));
  }
  /// Adds a note if the header names a geodetic datum that differs from WGS84 by more than a few metres.
  void note_datum() {
    const auto datum = without(lower(edi::text_in(file_.head, "datum")), " -_()");
    constexpr std::string_view same[] = {"",       "wgs84",   "gda94",   "gda2020",  "nad83",
                                         "etrs89", "jgd2000", "jgd2011", "nzgd2000", "itrf"};
    if (std::none_of(std::begin(same), std::end(same), [&](std::string_view one) {
          return datum == one || (one == "itrf" && datum.starts_with(one));
        }))
      note(fmt::format("DATUM={}: longitudes and latitudes are taken for those of WGS84",
                       shown(edi::text_in(file_.head, "datum"))));
  }
  void add_place() {
    constexpr double pole = 90, turn = 360;
    const auto latitude = edi::angle_in(in_, file_.head, "lat", pole);
    auto longitude = edi::angle_in(in_, file_.head, "long", turn);
    if (!longitude) longitude = edi::angle_in(in_, file_.head, "lon", turn);
    const bool zero = latitude && longitude && *latitude == 0 && *longitude == 0;
    if (latitude && longitude && !(zero && has_reference())) {
      constant("longitude", "degree", *longitude);
      constant("latitude", "degree", *latitude);
      if (zero) note("LAT and LONG are 0: is that the place?");
    } else {
      add_place_of_sensors();
    }
    for (const auto& [options, key] :
         {std::pair(&file_.head, "elev"), std::pair(&file_.measured, "refelev")}) {
      const auto number = edi::number_in(in_, *options, key);
      if (!number || is_empty(*number)) continue;
      constant("up", "m", *edi::length_in(in_, *options, key, length_of(*options)));
      break;
    }
  }
  /// Whether there is a reference point other than 0, 0, which programs write for unknown positions.
  bool has_reference() const {
    const auto latitude = edi::angle_in(in_, file_.measured, "reflat", 90),
               longitude = edi::angle_in(in_, file_.measured, "reflong", 360);
    return latitude && longitude && (*latitude != 0 || *longitude != 0);
  }
  bool is_empty(double value) const { return std::abs(value - empty_) <= 1e-6 * std::abs(empty_); }

  /// Adds the position of the coil HX, relative to the reference point, or to the origin of local
  /// coordinates.
  void add_place_of_sensors() {
    double north = 0, east = 0;
    bool said = false;
    for (const auto& channel : file_.channels) {
      if (channel.type != "hx" || said) continue;
      const double unit = length_of(file_.measured);
      const auto x = edi::length_in(in_, channel.options, "x", unit),
                 y = edi::length_in(in_, channel.options, "y", unit);
      said = x && y;
      north = x.value_or(0);
      east = y.value_or(0);
    }
    if (said && (north != 0 || east != 0) && lower(edi::text_in(file_.measured, "reftype")) == "polar")
      in_.fail("sensors in polar coordinates (REFTYPE=POLAR)", "Give LAT and LONG in >HEAD.");
    const auto latitude = edi::angle_in(in_, file_.measured, "reflat", 90);
    auto longitude = edi::angle_in(in_, file_.measured, "reflong", 360);
    if (!longitude) longitude = edi::angle_in(in_, file_.measured, "reflon", 360);
    if (latitude && longitude) {
      add_from_reference(*latitude, *longitude, north, east);
    } else if (said && (north != 0 || east != 0 || file_.info.find(lower(written_here)) != file_.info.npos)) {
      constant("easting", "m", east);
      constant("northing", "m", north);
    } else {
      note("there is no place: neither LAT and LONG, nor REFLAT and REFLONG, nor X and Y of HX");
    }
  }
  void add_from_reference(double latitude, double longitude, double north, double east) {
    constexpr double farthest = 100e3, radius = 6378137, flattening = 1 / 298.257223563,
                     eccentricity = flattening * (2 - flattening);
    if (std::hypot(north, east) > farthest)
      in_.fail(fmt::format("HX is {:.4g} km from the reference", std::hypot(north, east) / 1000),
               "X and Y are metres from REFLAT and REFLONG. Give LAT and LONG in >HEAD.");
    const double sine = std::sin(latitude * std::numbers::pi / 180), w = 1 - eccentricity * sine * sine,
                 across = radius / std::sqrt(w), along = across * (1 - eccentricity) / w,
                 degree = std::numbers::pi / 180, parallel = across * std::sqrt(1 - sine * sine);
    constant("longitude", "degree", longitude + (parallel > 0 ? east / parallel / degree : 0));
    constant("latitude", "degree", latitude + north / along / degree);
  }

  void add_numbers() {
    static constexpr const char* ends[3] = {"_real", "_imag", "_uncertainty"};
    for (std::size_t n = 0; n < std::size(elements); ++n) {
      if (!has_[n]) continue;
      const double factor = elements[n].tipper ? 1 : practical, sign = elements[n].sign;
      for (std::size_t part = 0; part < 3; ++part) {
        if (part == 2 && !has_error_[n]) continue;
        Column column{std::string(elements[n].name) + ends[part], elements[n].tipper ? "1" : "ohm", "", {}};
        for (const auto& one : transfers_)
          column.values.push_back(part == 2   ? factor * one.error[n]
                                  : part == 1 ? sign * factor * one.value[n].imag()
                                              : sign * factor * one.value[n].real());
        table_.columns.push_back(std::move(column));
      }
    }
  }

  TextReader& in_;
  edi::File file_;
  Table table_;
  std::string notes_;
  std::string zeros_;  ///< names of elements that are 0 with a variance of 0 somewhere
  double empty_ = 1e32;
  std::vector<double> frequency_;
  std::vector<Transfer> transfers_;
  std::array<bool, 6> has_{}, has_error_{};
  const edi::Block *impedance_ = nullptr, *tipper_ = nullptr;
};

}  // namespace

Table read_edi(TextReader& in) { return Site(in).table(); }

std::vector<std::string> left_out_of_edi(const std::string& path, const Table& table) {
  return magnetotelluric::not_in(magnetotelluric::rows_of(path, "an EDI file", table), table);
}

namespace {

/// The file of a site, "out/line_S001.edi" from "out/line.edi"; characters that file names should not have
/// become "_".
std::string file_of_site(const std::string& path, const std::string& site) {
  auto word = site;
  for (char& c : word) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain && c != '-' && c != '.') c = '_';
  }
  const auto name = path.find_last_of('/') + 1;  // 0 if there is no folder
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
  auto word = rows.sites[site];
  std::replace(word.begin(), word.end(), '"', '\'');
  file.write(fmt::format(">HEAD\n  DATAID=\"{}\"\n", word));
  if (rows.latitude != nullptr && rows.longitude != nullptr)
    file.write(fmt::format("  LAT={:.8f}\n  LONG={:.8f}\n", value(rows.latitude), value(rows.longitude)));
  if (rows.up != nullptr && std::isfinite(value(rows.up)))
    file.write(fmt::format("  ELEV={:.10g}\n", value(rows.up)));
  file.write(
      fmt::format("  EMPTY=1.0E32\n\n>INFO\n  {}, time exp(+i omega t)\n\n"
                  ">=DEFINEMEAS\n  UNITS=M\n>HMEAS ID=1.001 CHTYPE=HX X={:.10g} Y={:.10g} AZM=0\n"
                  ">HMEAS ID=2.001 CHTYPE=HY X={:.10g} Y={:.10g} AZM=90\n\n>=MTSECT\n  SECTID=\"{}\"\n"
                  "  NFREQ={}\n\n",
                  written_here, value(rows.northing), value(rows.easting), value(rows.northing),
                  value(rows.easting), word, own.size()));
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
    block(upper(names[0][0]), rotation, [&](std::size_t row) { return scale * parts.real->values[row]; });
    block(upper(names[1][0]), rotation, [&](std::size_t row) { return scale * parts.imag->values[row]; });
    if (parts.uncertainty != nullptr)
      block(upper(names[2][0]), rotation,
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
  std::deque<PendingPath> pending;  // all files are complete before the first one is renamed
  for (std::size_t site = 0; site < files.size(); ++site) {
    AtomicFile file(pending.emplace_back(files[site]).temporary());
    write_site(file, rows, site);
  }
  for (auto& file : pending) file.commit();
}

}  // namespace terrane::io
