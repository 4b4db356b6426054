#include "terrane/model/maps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "terrane/base/error.hpp"
#include "terrane/base/text.hpp"

namespace terrane {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

// Gardner, Gardner & Gregory (1974), Geophysics 39, 770-780: ρ = 0.31 V^(1/4), g/cm³ and m/s.
double gardner(double v) { return 310 * std::pow(v, 0.25); }
double gardner_slope(double v) { return 77.5 * std::pow(v, -0.75); }

/// Coefficients of x⁰, x¹, ...; Horner's scheme.
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

// Brocher (2005), Bulletin of the Seismological Society of America 95, 2081-2092: g/cm³ and km/s.
constexpr std::array nafe_drake{0.0, 1.6612, -0.4721, 0.0671, -0.0043, 0.000106};  // eq. 1
constexpr std::array shear_of_pressure{0.7858, -1.2344, 0.7949, -0.1238, 0.0064};  // eq. 6
double brocher(double v) { return 1e3 * polynomial(nafe_drake, v / 1e3); }
double brocher_slope(double v) { return slope(nafe_drake, v / 1e3); }
double brocher_shear(double v) { return 1e3 * polynomial(shear_of_pressure, v / 1e3); }
double brocher_shear_slope(double v) { return slope(shear_of_pressure, v / 1e3); }

// Castagna, Batzle & Eastwood (1985), Geophysics 50, 571-581: the mudrock line Vp = 1.16 Vs + 1.36, km/s.
double mudrock(double v) { return (v - 1360) / 1.16; }
double mudrock_slope(double) { return 1 / 1.16; }

double reciprocal(double x) { return 1 / x; }
double reciprocal_slope(double x) { return -1 / (x * x); }

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
    Law{"reciprocal", "conductivity", "resistivity", reciprocal, reciprocal_slope,
        std::numeric_limits<double>::min(), unbounded, "σ = 1/ρ", "definition"},
    Law{"reciprocal", "resistivity", "conductivity", reciprocal, reciprocal_slope,
        std::numeric_limits<double>::min(), unbounded, "ρ = 1/σ", "definition"},
};

std::string text_of(const Law& law) { return fmt::format("{} from {} by {}", law.to, law.from, law.name); }

}  // namespace

std::span<const Law> laws() { return all_laws; }

const Law& law_from_text(std::string_view text, const std::string& where) {
  std::vector<std::string> texts;
  for (const auto& law : all_laws) {
    texts.push_back(text_of(law));
    if (texts.back() == text) return law;
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  throw InputError(where, fmt::format("\"{}\" is not a map known here.{}", text, did_you_mean(text, views)),
                   "Allowed: " + joined(views) + ".");
}

std::size_t apply(const Law& law, EarthModel& model) {
  const auto from = model.property(law.from);
  const auto& kind = property_kind(law.to);
  if (!model.has(law.to))
    model.properties.push_back({std::string(law.to), std::vector<double>(model.size(), kind.absent)});
  auto& to = std::find_if(model.properties.begin(), model.properties.end(), [&](const Property& p) {
               return p.name == law.to;
             })->values;
  std::size_t outside = 0;
  for (std::size_t n = 0; n < from.size(); ++n) {
    const bool free = to[n] == kind.absent || std::isnan(to[n]);
    if (!free || std::isnan(from[n])) continue;
    outside += from[n] < law.least || from[n] > law.most;
    const double value = law.value(from[n]);
    check_value(kind, value, fmt::format("model.maps: {}: {} {}", text_of(law), law.from, from[n]));
    to[n] = value;
  }
  return outside;
}

}  // namespace terrane
