#include "terrane/model/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/base/number.hpp"
#include "terrane/base/text.hpp"
#include "terrane/model/in_other_words.hpp"
#include "terrane/parallel/threads/filled.hpp"
#include "terrane/parallel/threads/search.hpp"

namespace terrane {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

using P = LawParameters;

// Gardner, Gardner & Gregory (1974), Geophysics 39, 770-780: ρ = 0.31 V^(1/4), with ρ in g/cm³ and V in m/s.
double gardner(double v, const P&) { return 310 * std::pow(v, 0.25); }
double gardner_slope(double v, const P&) { return 77.5 * std::pow(v, -0.75); }

/// The polynomial with coefficients c of x⁰, x¹, ...; Horner's scheme.
template <std::size_t N>
constexpr double polynomial(const std::array<double, N>& c, double x) {
  double sum = 0;
  for (std::size_t n = N; n-- > 0;) sum = sum * x + c[n];
  return sum;
}
template <std::size_t N>
constexpr double slope(const std::array<double, N>& c, double x) {
  double sum = 0;
  for (std::size_t n = N; n-- > 1;) sum = sum * x + static_cast<double>(n) * c[n];
  return sum;
}

// Brocher (2005), Bulletin of the Seismological Society of America 95, 2081-2092: ρ in g/cm³, V in km/s.
constexpr std::array nafe_drake{0.0, 1.6612, -0.4721, 0.0671, -0.0043, 0.000106};  // eq. 1
constexpr std::array shear_of_pressure{0.7858, -1.2344, 0.7949, -0.1238, 0.0064};  // eq. 6
double brocher(double v, const P&) { return 1e3 * polynomial(nafe_drake, v / 1e3); }
double brocher_slope(double v, const P&) { return slope(nafe_drake, v / 1e3); }
double brocher_shear(double v, const P&) { return 1e3 * polynomial(shear_of_pressure, v / 1e3); }
double brocher_shear_slope(double v, const P&) { return slope(shear_of_pressure, v / 1e3); }

// Castagna, Batzle & Eastwood (1985), Geophysics 50, 571-581: the mudrock line Vp = 1.16 Vs + 1.36, km/s.
double mudrock(double v, const P&) { return (v - 1360) / 1.16; }
double mudrock_slope(double, const P&) { return 1 / 1.16; }

// Archie (1942), Transactions of the AIME 146, 54-62: clean rock saturated with water, ρ = ρ_w φ^-m.
constexpr P of_archie{{{"water", 0.3, "ohm m", "resistivity of the water"},
                       {"cementation", 2, "1", "exponent m: 1.3 of loose sand to 2.5 of carbonates"},
                       {}}};
double archie(double porosity, const P& p) { return p[0].value * std::pow(porosity, -p[1].value); }
double archie_slope(double porosity, const P& p) {
  return -p[1].value * p[0].value * std::pow(porosity, -p[1].value - 1);
}

// Density from conservation of mass: grains and pore fluid.
constexpr P of_mixture{
    {{"grains", 2650, "kg/m3", "density of the grains"}, {"water", 1030, "kg/m3", "of the water"}, {}}};
double mixture(double porosity, const P& p) { return porosity * p[1].value + (1 - porosity) * p[0].value; }
double mixture_slope(double, const P& p) { return p[1].value - p[0].value; }

// Wyllie, Gregory & Gardner (1956), Geophysics 21, 41-70: travel times add, 1/V = φ/V_w + (1 - φ)/V_g.
constexpr P of_wyllie{
    {{"grains", 5500, "m/s", "velocity of the grains"}, {"water", 1500, "m/s", "of the water"}, {}}};
double wyllie(double porosity, const P& p) {
  return 1 / (porosity / p[1].value + (1 - porosity) / p[0].value);
}
double wyllie_slope(double porosity, const P& p) {
  const double v = wyllie(porosity, p);
  return -v * v * (1 / p[1].value - 1 / p[0].value);
}

double reciprocal(double x, const P&) { return 1 / x; }
double reciprocal_slope(double x, const P&) { return -1 / (x * x); }

constexpr std::array all_laws{
    Law{"gardner", "density", "velocity_p", gardner, gardner_slope, 1500, 6500,
        "ρ = 0.31 V^(1/4), g/cm³, m/s", "Gardner, Gardner & Gregory (1974), Geophysics 39, 770-780"},
    Law{"brocher", "density", "velocity_p", brocher, brocher_slope, 1500, 8500,
        "ρ = 1.6612 V - 0.4721 V² + 0.0671 V³ - 0.0043 V⁴ + 0.000106 V⁵, g/cm³, km/s",
        "Brocher (2005), BSSA 95, 2081-2092, eq. 1"},
    Law{"brocher", "velocity_s", "velocity_p", brocher_shear, brocher_shear_slope, 1500, 8000,
        "Vs = 0.7858 - 1.2344 V + 0.7949 V² - 0.1238 V³ + 0.0064 V⁴, km/s",
        "Brocher (2005), BSSA 95, 2081-2092, eq. 6"},
    Law{"castagna", "velocity_s", "velocity_p", mudrock, mudrock_slope, 1500, 4500,
        "Vp = 1.16 Vs + 1.36, km/s", "Castagna, Batzle & Eastwood (1985), Geophysics 50, 571-581"},
    Law{"archie", "resistivity", "porosity", archie, archie_slope, 0.02, 1, "ρ = ρ_w φ^-m",
        "Archie (1942), Transactions of the AIME 146, 54-62", of_archie},
    Law{"mixture", "density", "porosity", mixture, mixture_slope, 0, 1, "ρ = φ ρ_w + (1 - φ) ρ_g",
        "definition", of_mixture},
    Law{"wyllie", "velocity_p", "porosity", wyllie, wyllie_slope, 0, 0.35, "1/V = φ/V_w + (1 - φ)/V_g",
        "Wyllie, Gregory & Gardner (1956), Geophysics 21, 41-70", of_wyllie},
    Law{"reciprocal", "conductivity", "resistivity", reciprocal, reciprocal_slope,
        std::numeric_limits<double>::min(), unbounded, "σ = 1/ρ", "definition"},
    Law{"reciprocal", "resistivity", "conductivity", reciprocal, reciprocal_slope,
        std::numeric_limits<double>::min(), unbounded, "ρ = 1/σ", "definition"},
};

std::string name_of(const Law& law) { return fmt::format("{} from {} by {}", law.to, law.from, law.name); }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Sets a parameter of a law from a text such as "water = 0.5". Throws InputError.
void set_parameter(Law& law, std::string_view text, const std::string& where) {
  const auto equals = text.find('=');
  const auto name = trimmed(text.substr(0, equals));
  std::vector<std::string_view> names;
  LawParameter* given = nullptr;
  for (auto& parameter : law.parameters) {
    if (!parameter.name.empty()) names.push_back(parameter.name);
    if (!name.empty() && parameter.name == name) given = &parameter;
  }
  const auto allowed =
      names.empty() ? std::string("This law has none.") : "Parameters: " + joined(names) + ".";
  if (given == nullptr)
    throw InputError(
        where,
        fmt::format("\"{}\" is no parameter of \"{}\".{}", name, name_of(law), did_you_mean(name, names)),
        allowed);
  const auto number = equals == text.npos ? std::string_view() : trimmed(text.substr(equals + 1));
  const auto [end, error] = read_number(number, given->value);
  if (number.empty() || error != std::errc{} || end != number.data() + number.size() || !(given->value > 0) ||
      !std::isfinite(given->value))
    throw InputError(where, fmt::format("{} is \"{}\"", name, number),
                     fmt::format("Give a number above zero, in {}: {} = 1.", given->unit, name));
}

}  // namespace

std::span<const Law> laws() { return all_laws; }

std::string text_of(const Law& law) {
  auto text = name_of(law);
  const char* before = " with ";
  for (const auto& parameter : law.parameters) {
    if (parameter.name.empty()) continue;
    text += fmt::format("{}{} = {}", before, parameter.name, parameter.value);
    before = ", ";
  }
  return text;
}

Law law_from_text(std::string_view text, const std::string& where) {
  constexpr std::string_view with = " with ";
  const auto cut = text.find(with);
  const auto name = text.substr(0, cut);
  std::vector<std::string> texts;
  for (auto law : all_laws) {
    texts.push_back(name_of(law));
    if (texts.back() != name) continue;
    for (auto rest = cut == text.npos ? std::string_view() : text.substr(cut + with.size()); !rest.empty();) {
      const auto comma = rest.find(',');
      set_parameter(law, rest.substr(0, comma), where);
      rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    }
    return law;
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  throw InputError(where, fmt::format("\"{}\" is not a map known here.{}", name, did_you_mean(name, views)),
                   "Allowed: " + joined(views) + ".");
}

std::size_t apply(const Law& law, EarthModel& model, const std::vector<bool>& except) {
  model.property(law.from);  // throws if the model has no property law.from
  const auto& kind = property_kind(law.to);
  if (!model.has(law.to))
    model.properties.push_back({std::string(law.to), filled(model.size(), kind.absent)});
  const auto& from = model.property(law.from);
  auto& to = std::ranges::find(model.properties, law.to, &Property::name)->values;
  const auto same = in_other_words(law.to);
  const auto other =
      same != law.from ? std::ranges::find(model.properties, same, &Property::name) : model.properties.end();
  std::atomic<std::size_t> outside{0}, refused{from.size()};  // refused: the lowest index of a refused value
  for_each_stretch(from.size(), 0, [&](std::size_t first, std::size_t last) {
    std::size_t own = 0;
    for (std::size_t n = first; n < last; ++n) {
      if (!except.empty() && except[n]) continue;
      const bool free = (to[n] == kind.absent || std::isnan(to[n])) &&
                        (other == model.properties.end() || std::isnan(other->values[n]));
      if (!free || std::isnan(from[n])) continue;
      own += from[n] < law.least || from[n] > law.most;
      const double value = law.value(from[n]);
      if (!allows(kind, value)) {
        for (auto known = refused.load(); n < known && !refused.compare_exchange_weak(known, n);) {
        }
        return;
      }
      to[n] = value;
    }
    outside += own;
  });
  if (const auto n = refused.load(); n < from.size())
    check_value(kind, law.value(from[n]),
                fmt::format("model.maps: {}: {} {}", name_of(law), law.from, from[n]));
  return outside;
}

}  // namespace terrane
