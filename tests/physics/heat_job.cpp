// What a job file says of the rock in which heat is conducted.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.hpp"
#include "terrane/io/registry.hpp"
#include "terrane/physics/heat/simulation.hpp"

namespace terrane::heat {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::message;

constexpr const char* bar = R"(
  mesh = {box = [0, 4, 0, 1, -1, 0], shape = [4, 1, 1]}
  survey = {kind = "list", stations = [[0.5, 0.5, -0.5]]}
)";

Problem problem_of(const std::string& rock, const std::string& settings = "") {
  const auto job = Config::parse(bar + std::string("simulation = {physics = \"heat\", end = \"10 day\"") +
                                 settings + "}\n" + rock);
  const auto made = Simulation::from_job(job, {});
  return dynamic_cast<const Simulation&>(*made).problem();
}

TEST(HeatFromJob, WithoutAModelAllRockIsAlike) {
  const auto p =
      problem_of("", ", thermal_conductivity = 3, heat_capacity = \"2 MJ/(m3.K)\", temperature = 5");
  EXPECT_EQ(p.conductivity, std::vector<double>(4, 3.0));
  EXPECT_EQ(p.capacity, std::vector<double>(4, 2e6));
  EXPECT_EQ(p.initial, std::vector<double>(4, 5.0));
}

TEST(HeatFromJob, BodiesOfTheEarthModelConductAsTheySay) {
  const auto p = problem_of(R"(
    [model.background]
    thermal_conductivity = 2
    [[model.body]]
    kind = "box"
    box = [1, 3, 0, 1, -1, 0]
    thermal_conductivity = "6 W/m/K"
    temperature = 40
    density = 300)",
                            ", heat_capacity = 2.5e6");
  EXPECT_THAT(p.conductivity, ElementsAre(2, 6, 6, 2));
  EXPECT_THAT(p.initial, ElementsAre(0, 40, 40, 0));
  EXPECT_THAT(p.capacity, ElementsAre(2.5e6, 2.5e6, 2.5e6, 2.5e6)) << "what the model leaves open";
}

TEST(HeatFromJob, WarnsOfFewImplicitSteps) {
  const auto warnings = [](const std::string& step, const std::string& more = "", int west = 1,
                           int east = 3) {
    const auto job =
        Config::parse(bar +
                      std::string("simulation = {physics = \"heat\", end = \"10 day\", method = "
                                  "\"implicit\", step = \"") +
                      step +
                      fmt::format("\"{}}}\n[[model.body]]\nkind = \"box\"\nbox = [{}, {}, 0, 1, -1, "
                                  "0]\ntemperature = 40\n",
                                  more, west, east));
    return Simulation::from_job(job, {})->check().warnings;
  };
  EXPECT_THAT(warnings("1e9 day"),
              testing::Contains(testing::HasSubstr("1 step of 8.64e+05 s until the end")));
  EXPECT_THAT(warnings("0.1 day"), testing::IsEmpty());
  // Rock that is warm everywhere cools only where its sides are held at zero.
  EXPECT_THAT(warnings("1 day", "", 0, 4), testing::IsEmpty());
  EXPECT_THAT(warnings("1 day", ", boundary = \"fixed\"", 0, 4),
              testing::Contains(testing::HasSubstr("10 steps of 8.64e+04 s until the end")));
}

TEST(HeatFromJob, HeatFlowsThroughAWarmBodyAsThroughTheSameCells) {
  const std::string body =
      "[[model.body]]\nkind = \"box\"\nbox = [1, 3, 0, 1, -1, 0]\ntemperature = 40\nthermal_conductivity = 6";
  auto by_hand = problem_of("");
  by_hand.initial = {0, 40, 40, 0};
  by_hand.conductivity[1] = by_hand.conductivity[2] = 6;
  by_hand.step = 0;
  by_hand.settle();
  EXPECT_EQ(march(problem_of(body), {}).temperature, march(by_hand, {}).temperature);
}

TEST(HeatFromJob, RockProducesHeatAndHoldsWhatItsMassHolds) {
  const auto p = problem_of(R"(
    [model.background]
    density = 2700
    specific_heat = 800
    [[model.body]]
    kind = "box"
    box = [1, 3, 0, 1, -1, 0]
    heat_capacity = 2.5e6
    heat_production = "3 uW/m3")");
  EXPECT_THAT(p.capacity, ElementsAre(2.16e6, 2.5e6, 2.5e6, 2.16e6));
  EXPECT_THAT(p.production, ElementsAre(0, 3e-6, 3e-6, 0)) << "cells of a cubic metre";
  EXPECT_THAT(
      message([] { problem_of("[model.background]\nspecific_heat = 800"); }),
      AllOf(HasSubstr("model: specific_heat is per mass"), HasSubstr("heat_capacity, which is per volume")));
}

TEST(HeatFromJob, ABodyCountsThatStatesItsHeatCapacityInOtherWords) {
  for (const auto* transfer : {"centre", "average"}) {
    const auto p = problem_of(fmt::format(R"(
    [model]
    transfer = "{}"
    [model.background]
    density = 2700
    heat_capacity = 2.5e6
    [[model.body]]
    kind = "box"
    box = [1, 3, 0, 1, -1, 0]
    specific_heat = 800)",
                                          transfer));
    EXPECT_THAT(p.capacity, ElementsAre(2.5e6, 2.16e6, 2.16e6, 2.5e6)) << transfer;
  }
  EXPECT_THAT(message([] { problem_of("[model.background]\nspecific_heat = 800\nheat_capacity = 2e6"); }),
              AllOf(HasSubstr("model.background.heat_capacity: specific_heat is given, too"),
                    HasSubstr("Keep one of the two")));
}

TEST(HeatFromJob, CellsOfAFileWhoseHeatCapacitiesContradictEachOtherAreRefused) {
  const TensorMesh mesh({0, 2, 4}, {0, 1}, {-1, 0});
  const auto refused = [&](double specific_heat, const char* transfer) {
    const testing_support::TemporaryFolder folder;
    io::write(folder / "rock.h5", io::MeshData{mesh,
                                               {{"density", "kg/m3", "", {2500, 2500}},
                                                {"heat_capacity", "J/(m3.K)", "", {2e6, 2e6}},
                                                {"specific_heat", "J/(kg.K)", "", {800, specific_heat}}},
                                               {}});
    return message([&] {
      Simulation::from_job(Config::parse(fmt::format(R"(
        mesh = {{kind = "file", file = "rock.h5"}}
        model = {{file = "rock.h5", transfer = "{}"}}
        survey = {{kind = "list", stations = [[0.5, 0.5, -0.5]]}}
        simulation = {{physics = "heat", end = "10 day"}})",
                                                     transfer),
                                         "job.toml", folder / ""),
                           {});
    });
  };
  for (const char* transfer : {"centre", "average"}) {
    EXPECT_THAT(refused(900, transfer), AllOf(HasSubstr("cell 1 has a heat_capacity of 2e+06"),
                                              HasSubstr("is 2.25e+06"), HasSubstr("keep heat_capacity or")))
        << transfer;
    EXPECT_EQ(refused(801, transfer), "no error") << "files round";
  }
}

TEST(HeatFromJob, RefusesWhatIsNoMeshAndRockThatCannotBe) {
  EXPECT_THAT(message([] { problem_of("[model.background]\nthermal_conductivity = -1"); }),
              AllOf(HasSubstr("model.background.thermal_conductivity"), HasSubstr("a value above zero")));
  EXPECT_THAT(
      message([] { problem_of("[model.background]\nthermal_conductivity = 0"); }),
      AllOf(HasSubstr("model.background.thermal_conductivity: 0 W/(m.K)"), HasSubstr("a value above zero")));
}

}  // namespace
}  // namespace terrane::heat
