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
