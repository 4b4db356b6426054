#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/physics/gravity/forward.hpp"
#include "terrane/physics/gravity/simulation.hpp"
#include "terrane/survey/builders.hpp"

namespace terrane::gravity {
namespace {

using testing::HasSubstr;

TEST(GravitySettings, EmptyTableGivesTheDefaultsOfTheStruct) {
  EXPECT_EQ(Settings::read(Config::parse("[simulation]\n")), Settings{});
}

TEST(GravitySettings, ReadsWhatItPrints) {
  const auto settings = Settings::read(Config::parse(
      "simulation = {channels = [\"vector\", \"g_uu\"], accuracy = \"best\", method = \"direct\", singular = "
      "\"mean\","
      " frame = \"ubc\", units = \"si\", verify = 3, threads = 2, gravitational_constant = 6.674e-11}"));
  EXPECT_EQ(settings.parameters.channels, (vector_channels | ChannelSet{Channel::g_uu}));
  EXPECT_EQ(settings.parameters.accuracy, best_accuracy);
  const auto text = to_string(settings);
  for (const auto* line :
       {"channels: g_e, g_n, g_u, g_uu\n", "accuracy: best\n", "method: direct\n", "singular: mean\n",
        "frame: ubc\n", "units: si\n", "verify: 3\n", "threads: 2\n", "gravitational_constant: 6.674e-11\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(GravitySettings, ChannelsMayBeNamedAsTheFrameNamesThem) {
  EXPECT_EQ(
      Settings::read(Config::parse("simulation = {frame = \"harmonica\", channels = [\"g_z\", \"g_ez\"]}"))
          .parameters.channels,
      (ChannelSet{Channel::g_u, Channel::g_eu}));
}

EarthModel one_prism() {
  PrismSet prisms;
  prisms.push_back({-100, 100, -100, 100, -300, -100});
  return {std::move(prisms), {{"density", {500}}}};
}

TEST(GravitySimulation, GivesWhatForwardGivesInTheUnitsAsked) {
  Settings settings;
  Simulation simulation(one_prism(), list_survey({0, 50}, {0, 20}, std::vector<double>{0, 10}), settings);
  const auto result = simulation.run();
  ASSERT_EQ(result.data.variables.size(), 1U);
  EXPECT_EQ(result.data.find("g_u")->unit, "mGal");
  settings.units = UnitSystem::si;
  Simulation si(one_prism(), list_survey({0, 50}, {0, 20}, std::vector<double>{0, 10}), settings);
  const auto same = si.run();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(same.data.real("g_u")[i], 0);
    EXPECT_DOUBLE_EQ(result.data.real("g_u")[i], same.data.real("g_u")[i] * 1e5);
  }
  EXPECT_EQ(result.attributes.at("frame"), "enu");
  EXPECT_EQ(result.attributes.at("gravitational_constant"), "6.6743e-11");
}

/// What is not compared, such as a magnetic channel, may have dummies.
TEST(GravitySimulation, RefusesNumbersForNoValueInWhatIsComparedWithIt) {
  const testing_support::TemporaryFolder folder;
  const auto made = [&](const std::string& g, const std::string& tmi) {
    const auto file = folder.put("stations.csv",
                                 "easting [m],northing [m],up [m],gz_observed [mGal],tmi [nT]\n"
                                 "0,0,1,2.5,20\n1,0,1,2.25,30\n2,0,1,2.3,25\n3,0,1," +
                                     g + "," + tmi);
    return testing_support::message([&] {
      Simulation::from_job(
          Config::parse(
              "[mesh]\nbox = [0, 1, 0, 1, -1, 0]\nshape = [1, 1, 1]\n[[model.body]]\nkind = \"box\"\n"
              "box = [0, 1, 0, 1, -1, 0]\ndensity = 1\n[survey]\nkind = \"list\"\nfile = \"" +
                  file + "\"\n[simulation]\nframe = \"ubc\"\nunits = \"si\"\n",
              "job.toml"),
          {});
    });
  };
  EXPECT_EQ(made("2", "-9999"), "no error");
  EXPECT_THAT(made("-9999", "20"), HasSubstr("survey.file: gz_observed: -9999 (value 4)"));
}

TEST(GravitySimulation, DisturbanceLosesTheTerrainsPull) {
  Settings settings;
  settings.normal_gravity = "WGS84";
  settings.subtract_terrain = true;
  settings.units = UnitSystem::si;
  auto survey = list_survey({0}, {0}, std::vector<double>{0},
                            {{"latitude", "degree", "", {45}}, {"observed", "m/s2", "", {9.8063}}});
  Simulation simulation(one_prism(), survey, settings);
  const auto result = simulation.run();
  std::map<std::string, double> at;
  for (const auto& v : result.data.variables) at[v.name] = result.data.real(v.name)[0];
  EXPECT_NEAR(at["normal_gravity"], 9.806198, 1e-6);  // WGS84 at 45°
  EXPECT_DOUBLE_EQ(at["disturbance"], 9.8063 - at["normal_gravity"]);
  EXPECT_DOUBLE_EQ(at["terrain_effect"], -at["g_u"]);
  EXPECT_DOUBLE_EQ(at["topography_free_disturbance"], at["disturbance"] - at["terrain_effect"]);
  survey.columns.erase(survey.columns.begin());
  EXPECT_THROW(Simulation(one_prism(), survey, settings), InputError);
  auto magnetic = one_prism();
  magnetic.properties[0].name = "susceptibility";
  EXPECT_THROW(Simulation(magnetic, survey, {}), InputError);
}

TEST(GravitySimulation, PlanRefusesWhatDoesNotFitIntoTheMemory) {
  Simulation simulation(one_prism(), list_survey({0}, {0}, std::vector<double>{0}), {}, MemoryBudget{10});
  EXPECT_THROW(simulation.check(), MemoryError);
  EXPECT_THROW(simulation.run(), MemoryError);
  Simulation fits(one_prism(), list_survey({0}, {0}, std::vector<double>{0}), {});
  const auto plan = fits.check();
  EXPECT_EQ(plan.number("sources"), 1);
  EXPECT_EQ(plan.number("pairs"), 1);
  EXPECT_FALSE(plan.method.empty());
}

}  // namespace
}  // namespace terrane::gravity
