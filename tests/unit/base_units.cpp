#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "terrane/base/error.hpp"
#include "terrane/base/units.hpp"

namespace terrane {
namespace {

TEST(Units, AcceptTheSpellingsOfTheField) {
  EXPECT_DOUBLE_EQ(si_factor(Quantity::acceleration, "mGal"), 1e-5);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::acceleration, " MGAL "), 1e-5);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::acceleration, "µm/s²"), 1e-6);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::acceleration_gradient, "Eotvos"), 1e-9);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::density, "g/cm^3"), 1000.0);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::density, "kg m**-3"), 1.0);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::length, "km"), 1000.0);
  EXPECT_EQ(si_unit(Quantity::gravity_potential), "m2/s2");
}

TEST(Units, OfMoreBytesThanAnyUnitHasAreRefusedAtOnce) {
  EXPECT_THROW(si_factor(Quantity::length, std::string(1 << 24, '*') + "m"), InputError);
}

TEST(Units, KnowWhatEveryPhysicsMeasures) {
  EXPECT_DOUBLE_EQ(si_factor(Quantity::conductivity, "mS/m"), 1e-3);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistivity, "Ω·m"), 1);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistivity, "ohm m"), 1);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::velocity, "km / s"), 1000);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::flux_density, "nT"), 1e-9);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::thermal_conductivity, "W m-1 K-1"), 1);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::thermal_conductivity, "W/(m K)"), 1);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::dimensionless, "mV/V"), 1e-3);
  EXPECT_EQ(si_unit(Quantity::current_moment), "A.m");
  EXPECT_DOUBLE_EQ(si_factor(Quantity::fraction, "mV/V"), 1e-3);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistance, "mV/A"), 1e-3);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::susceptibility, "cgs"), 4 * 3.14159265358979323846);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::flux_density_rate, "nT/s"), 1e-9);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::heat_capacity, "MJ m^-3 K^-1"), 1e6);
}

TEST(Units, CaseDecidesOnlyWhereItMust) {
  EXPECT_DOUBLE_EQ(si_factor(Quantity::pressure, "MPa"), 1e6);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::pressure, "mPa"), 1e-3);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::frequency, "khz"), 1e3);
  EXPECT_THROW(si_factor(Quantity::frequency, "mhz"), InputError);
  EXPECT_THROW(si_factor(Quantity::pressure, "MPA"), InputError);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistance, "MOhm"), 1e6);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistance, "mΩ"), 1e-3);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistivity, "MΩ·m"), 1e6);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistivity, "mOhm.m"), 1e-3);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::resistivity, "OHM.M"), 1);
  EXPECT_THROW(si_factor(Quantity::resistance, "MOHM"), InputError);
}

TEST(Units, ABlankIsAProductAndNoPrefix) {
  EXPECT_THROW(si_factor(Quantity::length, "m m"), InputError);
  EXPECT_THROW(si_factor(Quantity::length, "k m"), InputError);
  EXPECT_DOUBLE_EQ(si_factor(Quantity::density, " kg m-3 "), 1);
}

TEST(Units, AnUnknownUnitIsAnsweredWithTheAllowedOnes) {
  try {
    si_factor(Quantity::length, "mGal");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("\"mGal\" is not a unit known here"));
    EXPECT_THAT(e.what(), testing::HasSubstr("km"));
  }
}

}  // namespace
}  // namespace terrane
