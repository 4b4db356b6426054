#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/files.hpp"
#include "terrane/base/error.hpp"
#include "terrane/io/csv.hpp"
#include "terrane/io/netcdf.hpp"
#include "terrane/physics/gravity/normal_gravity.hpp"
#include "terrane/survey/projection.hpp"

namespace terrane::gravity {
namespace {

using testing::HasSubstr;

TEST(NormalGravity, IsThePublishedOneAtEquatorAndPole) {
  EXPECT_NEAR(normal_gravity(0, 0), 9.7803253359, 5e-11);  // WGS84, NIMA TR8350.2
  EXPECT_NEAR(normal_gravity(90, 0), 9.8321849378, 1e-10);
  EXPECT_NEAR(normal_gravity(-90, 0), normal_gravity(90, 0), 1e-15);
  EXPECT_NEAR(normal_gravity(0, 0, grs80), 9.7803267715, 5e-11);  // Moritz (2000)
  EXPECT_NEAR(normal_gravity(90, 0, grs80), 9.8321863685, 5e-11);
  EXPECT_NEAR(normal_gravity(45, 0, grs80), 9.806199203, 5e-10);
}

TEST(NormalGravity, IsSomiglianasOnTheEllipsoid) {
  const double ge = normal_gravity(0, 0), gp = normal_gravity(90, 0);
  const double a = wgs84.semimajor_axis, b = a * (1 - wgs84.flattening);
  for (double latitude = -90; latitude <= 90; latitude += 7.5) {
    const double s = std::pow(std::sin(latitude * pi / 180), 2), c = 1 - s;
    const double somigliana = (a * ge * c + b * gp * s) / std::sqrt(a * a * c + b * b * s);
    EXPECT_NEAR(normal_gravity(latitude, 0) / somigliana, 1, 2e-15) << latitude;
  }
}

/// The normal potential of Heiskanen & Moritz (section 2-7) in the closed form that normal_gravity avoids, in
/// long double, at distance r from the axis and z above the equator.
long double potential(long double r, long double z) {
  const long double a = 6378137, f = 1 / 298.257223563L, b = a * (1 - f), e2 = a * a - b * b, e = sqrtl(e2);
  const long double gm = 3.986004418e14L, omega = 7.292115e-5L;
  const auto q = [&](long double u) { return 0.5L * ((1 + 3 * u * u / e2) * atanl(e / u) - 3 * u / e); };
  const long double s = r * r + z * z - e2, u2 = 0.5L * (s + sqrtl(s * s + 4 * e2 * z * z)), u = sqrtl(u2);
  const long double sin2 = z * z / u2;
  return gm / e * atanl(e / u) + 0.5L * omega * omega * a * a * q(u) / q(b) * (sin2 - 1 / 3.0L) +
         0.5L * omega * omega * (u2 + e2) * (1 - sin2);
}

TEST(NormalGravity, IsTheMagnitudeOfThePotentialsGradientAtAnyHeight) {
  const long double a = wgs84.semimajor_axis, f = 1 / 298.257223563L, b = a * (1 - f);
  for (long double height : {-3000.0L, 0.0L, 2000.0L, 10000.0L, 250000.0L})
    for (long double latitude : {0.0L, 12.0L, -45.0L, 63.0L, 89.0L}) {
      const long double phi = latitude * 3.14159265358979323846264338327950288L / 180;
      const long double n = a * a / hypotl(a * cosl(phi), b * sinl(phi));
      const long double r = (n + height) * cosl(phi), z = (n * b * b / (a * a) + height) * sinl(phi), d = 30;
      const auto slope = [&](long double dr, long double dz) {
        const auto at = [&](int k) { return potential(r + k * dr, z + k * dz); };
        return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * d);
      };
      const long double gamma = hypotl(slope(d, 0), slope(0, d));
      EXPECT_NEAR(normal_gravity(static_cast<double>(latitude), static_cast<double>(height)),
                  static_cast<double>(gamma), 1e-10)
          << static_cast<double>(latitude) << " degrees, " << static_cast<double>(height) << " m";
    }
}

TEST(NormalGravity, TheEllipsoidIsALevelSurfaceOfThatPotential) {
  const long double a = wgs84.semimajor_axis, b = a * (1 - 1 / 298.257223563L);
  EXPECT_NEAR(static_cast<double>(potential(a, 0)), 62636851.7146, 1e-3);  // NIMA TR8350.2
  EXPECT_NEAR(static_cast<double>(potential(0, b)), 62636851.7146, 1e-3);
}

TEST(NormalGravity, FallsByTheFreeAirGradientOf0Point3086MilligalPerMetre) {
  const double gradient = (normal_gravity(45, 100) - normal_gravity(45, -100)) / 200;
  EXPECT_NEAR(gradient * 1e5, -0.3086, 5e-5);
  // Second-order expansion of Heiskanen & Moritz (eq. 2-123).
  const double f = wgs84.flattening, a = wgs84.semimajor_axis, b = a * (1 - f);
  const double m = std::pow(wgs84.angular_velocity, 2) * a * a * b / wgs84.geocentric_gravitational_constant;
  for (double latitude : {0.0, 30.0, 60.0, 90.0}) {
    const double s = std::pow(std::sin(latitude * pi / 180), 2), h = 3000;
    const double expansion =
        normal_gravity(latitude, 0) * (1 - 2 / a * (1 + f + m - 2 * f * s) * h + 3 * h * h / (a * a));
    EXPECT_NEAR(normal_gravity(latitude, h), expansion, 3e-7);
  }
}

TEST(NormalGravity, OfArraysIsThatOfEachPoint) {
  const std::vector<double> latitude{-90, -25.5, 0, 47}, height{0, 1500, -20, 4000};
  const auto gamma = normal_gravity(latitude, height);
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(gamma[n], normal_gravity(latitude[n], height[n]));
}

TEST(NormalGravity, BadRowsAreNamed) {
  const auto refusal = [](std::vector<double> latitude, std::vector<double> height) -> std::string {
    try {
      normal_gravity(latitude, height);
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal({0, 91}, {0, 0}), HasSubstr("row 2: latitude 91"));
  EXPECT_THAT(refusal({0, std::nan("")}, {0, 0}), HasSubstr("row 2"));
  EXPECT_THAT(refusal({0, 0}, {0, INFINITY}), HasSubstr("row 2: latitude 0, height inf"));
  EXPECT_THAT(refusal({0, 0}, {0}), HasSubstr("2 latitudes but 1 heights"));
  EXPECT_EQ(ellipsoid_from_name("grs80").name, "GRS80");
  EXPECT_THROW(ellipsoid_from_name("clarke"), InputError);
}

TEST(GravityDisturbance, OfTheNormalFieldItselfVanishes) {
  const std::vector<double> latitude{-30, 10}, height{100, 2000};
  auto observed = normal_gravity(latitude, height);
  observed[1] += 25e-5;
  const auto disturbance = gravity_disturbance(observed, latitude, height);
  EXPECT_EQ(disturbance[0], 0);
  EXPECT_NEAR(disturbance[1], 25e-5, 1e-14);
  const std::vector<double> one{9.8};
  EXPECT_THROW(gravity_disturbance(one, latitude, height), ShapeError);
}

TEST(InfiniteSlab, OfCrustalRockAttractsByATenthOfAMilligalPerMetre) {
  EXPECT_NEAR(infinite_slab(1, 2670) * 1e5, 0.11197, 1e-5);
  EXPECT_EQ(infinite_slab(0, 2670), 0);
  EXPECT_NEAR(infinite_slab(-100, 1040 - 2670), infinite_slab(100, 2670 - 1040), 1e-18);
}

struct Statistics {
  double low, high, mean, deviation;
};

Statistics statistics(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, variance = 0;
  for (double v : values) mean += v / n;
  for (double v : values) variance += (v - mean) * (v - mean) / n;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high, mean, std::sqrt(variance)};
}

// The Bushveld window of the southern African stations, against numbers found with other programs.
TEST(GravityDisturbance, OfTheBushveldIsThatOfOtherPrograms) {
  const auto folder = testing_support::data_folder();
  if (folder.empty()) GTEST_SKIP() << "set TERRANE_DATA to the folder of the open data";
  const auto table = io::read_csv(folder + "/gravity/southern-africa-gravity.csv.xz");
  const auto geoid =
      std::get<io::GridData>(io::read_netcdf(folder + "/gravity/earth-geoid-10arcmin.nc")).grid();
  ASSERT_EQ(table.rows(), 14359U);
  std::vector<double> longitude, latitude, height, observed;
  for (std::size_t n = 0; n < table.rows(); ++n) {
    const auto at = [&](std::size_t c) { return table.columns[c].values[n]; };
    if (at(0) <= 25 || at(0) >= 32 || at(1) <= -27 || at(1) >= -23) continue;
    longitude.push_back(at(0));
    latitude.push_back(at(1));
    height.push_back(at(2));
    observed.push_back(at(3) * 1e-5);
  }
  ASSERT_EQ(observed.size(), 3874U);
  auto disturbance =
      gravity_disturbance(observed, latitude, ellipsoidal_height(longitude, latitude, height, geoid));
  for (double& d : disturbance) d *= 1e5;
  const auto plain = statistics(disturbance);
  EXPECT_NEAR(plain.low, -81.52, 0.005);
  EXPECT_NEAR(plain.high, 137.81, 0.005);
  EXPECT_NEAR(plain.mean, 20.985, 0.0005);
  EXPECT_NEAR(plain.deviation, 33.97, 0.005);
  for (std::size_t n = 0; n < disturbance.size(); ++n) disturbance[n] -= infinite_slab(height[n], 2670) * 1e5;
  const auto bouguer = statistics(disturbance);
  EXPECT_NEAR(bouguer.low, -176.75, 0.005);
  EXPECT_NEAR(bouguer.high, 75.89, 0.005);
  EXPECT_NEAR(bouguer.mean, -108.115, 0.006);  // moves by 0.006 with the fifth digit of the constant
  EXPECT_NEAR(bouguer.deviation, 29.04, 0.005);
}

}  // namespace
}  // namespace terrane::gravity
