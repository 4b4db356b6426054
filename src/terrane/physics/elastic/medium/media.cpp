#include "terrane/physics/elastic/medium/media.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "terrane/base/error.hpp"
#include "terrane/physics/elastic/medium/attenuation.hpp"

namespace terrane::elastic {

namespace {

double or_zero(double x) { return std::isfinite(x) ? x : 0; }
double or_infinite(double q) { return std::isfinite(q) && q > 0 ? q : INFINITY; }

/// Throws InputError at `where` if the Q of shear waves or of compressional waves contradicts those of the
/// moduli. Files round both, so a hundredth is allowed.
void expect_one_quality(const MediumValues& v, const std::string& where) {
  const auto expect = [&](double one, double other, const char* name, const char* names) {
    if (std::isfinite(one) && std::isfinite(other) && std::fabs(one - other) > 0.01 * one)
      throw InputError(
          where, fmt::format("{} is {:.6g}, and by {} it is {:.6g}", name, one, names, other),
          "They are one property: keep quality_p and quality_s, or quality_kappa and quality_mu.");
  };
  expect(v.quality_mu, v.quality_s, "quality_mu", "quality_s");
  const double mu = std::isfinite(v.quality_mu) ? v.quality_mu : v.quality_s;
  if (std::isfinite(v.quality_p) && std::isfinite(v.quality_kappa))
    expect(v.quality_kappa, quality_kappa(v.quality_p, or_infinite(mu), v.velocity_p, v.velocity_s),
           "quality_kappa", "quality_p");
}

constexpr std::array<const char*, 12> property_names{
    "velocity_p", "velocity_s", "density", "quality_p", "quality_s", "quality_kappa",
    "quality_mu", "epsilon",    "delta",   "gamma",     "tilt",      "tilt_azimuth"};

}  // namespace

Medium medium_of(const MediumValues& v, const std::string& where) {
  if (!std::isfinite(v.velocity_p) || !std::isfinite(v.velocity_s) || !(v.density > 0))
    throw InputError(
        where, "there is no velocity_p, velocity_s or density",
        "Begin with a body that fills the mesh, such as kind = \"layer\", and paint others over it.");
  const Thomsen thomsen{v.velocity_p, v.velocity_s, or_zero(v.epsilon), or_zero(v.delta), or_zero(v.gamma)};
  const bool isotropic = thomsen.epsilon == 0 && thomsen.delta == 0 && thomsen.gamma == 0;
  Medium medium;
  if (isotropic) {
    medium = Medium::from_speeds(v.velocity_p, v.velocity_s, v.density);
  } else {
    if (v.velocity_s == 0) throw InputError(where, "a fluid (velocity_s = 0) cannot differ by direction");
    const auto upright = vertical_axis(thomsen, v.density);
    const double tilt = or_zero(v.tilt), from_east = 90 - or_zero(v.tilt_azimuth);
    medium = Medium::from_stiffness(tilt == 0 ? upright : tilted(upright, tilt, from_east), v.density);
    for (std::size_t p = 0; p < 6; ++p)  // restores the symmetry that rounding of the rotation destroys
      for (std::size_t q = 0; q < p; ++q) medium.stiffness[p][q] = medium.stiffness[q][p];
  }
  expect_one_quality(v, where);
  medium.quality_mu = or_infinite(std::isfinite(v.quality_mu) ? v.quality_mu : v.quality_s);
  medium.quality_kappa = std::isfinite(v.quality_kappa) || !std::isfinite(v.quality_p)
                             ? or_infinite(v.quality_kappa)
                             : quality_kappa(v.quality_p, medium.quality_mu, v.velocity_p, v.velocity_s);
  medium.name = where;
  return medium;
}

CellMedia media_of(const EarthModel& model, const std::string& where) {
  std::array<std::vector<double>, property_names.size()> columns;
  constexpr std::size_t needed = 3;
  for (std::size_t n = 0; n < property_names.size(); ++n)
    if (model.has(property_names[n])) columns[n] = model.dense(property_names[n]);
    else if (n < needed)
      throw InputError(
          where, fmt::format("the model has no {}", property_names[n]),
          "A medium has a density, velocity_p and velocity_s (0 of fluids): give them to [model.background] "
          "or the bodies, or a map from what there is (model.maps).");
  CellMedia media;
  std::map<std::array<double, property_names.size()>, std::uint32_t> known;
  for (std::size_t cell = 0; cell < columns[0].size(); ++cell) {
    std::array<double, property_names.size()> v, key;
    for (std::size_t n = 0; n < property_names.size(); ++n) {
      v[n] = columns[n].empty() ? NAN : columns[n][cell];
      key[n] = std::isnan(v[n]) ? -1e300 : v[n];  // NaN cannot be sorted
    }
    const auto [at, is_new] = known.insert({key, static_cast<std::uint32_t>(known.size())});
    if (is_new)
      media.media.push_back(
          medium_of({v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]},
                    fmt::format("{}: cell {}", where, cell)));
    media.medium.push_back(at->second);
  }
  return media;
}

}  // namespace terrane::elastic
