// What is written into every file about where it comes from.
#include <gtest/gtest.h>

#include <cstdlib>

#include "terrane/base/version.hpp"
#include "terrane/simulation/provenance.hpp"

namespace terrane {
namespace {

TEST(Provenance, SaysWhichProgramComputedWhatAndFromWhichJob) {
  const auto of = provenance("gravity", {"title = \"slab\"\n", "EPSG:32633"});
  EXPECT_EQ(of.at("program"), "terrane");
  EXPECT_EQ(of.at("version"), version());
  EXPECT_EQ(of.at("build"), version_line());
  EXPECT_EQ(of.at("physics"), "gravity");
  EXPECT_EQ(of.at("job"), "title = \"slab\"\n");
  EXPECT_EQ(of.at("projection"), "EPSG:32633");
  EXPECT_EQ(provenance("gravity", {}).count("job"), 0U);
  EXPECT_EQ(provenance("gravity", {}).count("projection"), 0U);
}

TEST(Provenance, TakesTheDateThatMakesResultsTheSameBitForBit) {
  setenv("SOURCE_DATE_EPOCH", "86400", 1);
  EXPECT_EQ(provenance("gravity", {}).at("date"), "1970-01-02T00:00:00Z");
  unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_GT(provenance("gravity", {}).at("date"), "2024");
}

}  // namespace
}  // namespace terrane
